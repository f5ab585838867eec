"""Messages: who wrote, what they wrote, what came with it."""

import hashlib
from email.message import EmailMessage
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.policy import SMTP

import pytest

from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import EMAIL
from sourcebook.parsing.mail.attachments import attachment_content
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts

PROSE = "Dear Bob, the committee has decided to postpone the meeting until everybody has read the report."
GERMAN = "Grüße aus Köln, das Café ist schön, und die Straße ist heute wieder offen für alle."


def read(content: bytes | EmailMessage) -> ParsedDocument:
    content = content.as_bytes() if isinstance(content, EmailMessage) else content
    document = parse(content, name="a.eml", media_type=EMAIL)
    assert_blocks_cover(document)
    for number, attachment in enumerate(document.attachments):
        came = attachment_content(content, media_type=EMAIL, number=number)
        assert (len(came), hashlib.sha256(came).digest()) == (attachment.size, attachment.sha256)
    with pytest.raises(ParseError, match="none of the number"):
        attachment_content(content, media_type=EMAIL, number=len(document.attachments))
    return document


def message(text: str = PROSE, **headers: str) -> EmailMessage:
    written = EmailMessage(policy=SMTP)
    for name, value in headers.items():
        written[name.replace("_", "-")] = value
    written.set_content(text)
    return written


def names(document: ParsedDocument) -> list[str]:
    return [attachment.name for attachment in document.attachments]


def test_headers_are_read_by_people_and_programs() -> None:
    """The subject is title and heading; the others are lines and metadata."""
    written = message(
        Subject="Plan *B* für Köln",
        From="Ada Lovelace <ada@example.org>",
        To="bob@example.org, Eve <eve@example.org>",
        Cc='"Roe, Jo" <jo@example.org>',
        Date="Mon, 06 May 2024 10:30:00 +0200",
        Message_ID="<1@example.org>",
        In_Reply_To="<0@example.org>",
    )
    document = read(written)
    assert document.title == "Plan *B* für Köln"
    assert document.language == "en"
    assert document.metadata == {
        "from": "Ada Lovelace <ada@example.org>",
        "to": ["bob@example.org", "Eve <eve@example.org>"],
        "cc": ["Roe, Jo <jo@example.org>"],
        "sent": "2024-05-06T10:30:00+02:00",
        "message_id": "<1@example.org>",
        "in_reply_to": "<0@example.org>",
    }
    assert texts(document) == [
        "# Plan \\*B\\* für Köln",
        (
            "From: Ada Lovelace <ada@example.org>  \nTo: bob@example.org, Eve <eve@example.org>  \n"
            "Cc: Roe, Jo <jo@example.org>  \nDate: 2024-05-06 10:30+02:00"
        ),
        PROSE,
    ]
    assert document.blocks[0].title == document.title


@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "iso-8859-1"])
@pytest.mark.parametrize("encoding", ["quoted-printable", "base64", "8bit"])
def test_encodings_are_undone(charset: str, encoding: str) -> None:
    """Whatever way a text travelled, it arrives."""
    written = EmailMessage()
    written.set_content(GERMAN, charset=charset, cte=encoding)
    assert texts(read(written)) == [GERMAN]


@pytest.mark.parametrize("charset", ["x-unknown", "utf-8", "us-ascii", '"'])
def test_a_wrong_charset_is_not_believed(charset: str) -> None:
    """Windows-1252 called something else is read all the same."""
    head = f"Subject: x\nContent-Type: text/plain; charset={charset}\n\n"
    assert texts(read(head.encode() + GERMAN.encode("cp1252")))[1] == GERMAN


@pytest.mark.parametrize(
    ("raw", "subject"),
    [
        (b"=?utf-8?q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        (b"=?iso-8859-1?B?R3L832U=?=\r\n =?utf-8?B?IGF1cw==?=", "Grüße aus"),
        ("Grüße".encode(), "Grüße"),
        (b"=?x-none?q?caf=E9?=", "café"),
        (b"=?utf-8?b?broken", "=?utf-8?b?broken"),
    ],
)
def test_subjects_are_decoded(raw: bytes, subject: str) -> None:
    """Encoded words, raw 8-bit text and nonsense each give a readable subject."""
    assert read(b"Subject: " + raw + b"\r\n\r\ntext").title == subject


def test_replies_are_quotes_and_signatures_stay() -> None:
    """Quoted lines are blocks of their own; plain text is never taken for Markdown."""
    text = "No.\n# not a heading\n\nOn Monday Ada wrote:\n> Shall we?\n>\n> Really?\n\n-- \nBob\n-----"
    document = read(message(text, Subject="Re: x"))
    assert [(block.kind, text) for block, text in zip(document.blocks[1:], texts(document)[1:], strict=True)] == [
        ("paragraph", "No.\n# not a heading"),
        ("paragraph", "On Monday Ada wrote:"),
        ("quote", "> Shall we?\n>\n> Really?"),
        ("paragraph", "-- \nBob\n-----"),
    ]


def test_flowed_text_gets_its_paragraphs_back() -> None:
    """Lines broken for old terminals are joined (RFC 3676)."""
    head = b"Content-Type: text/plain; format=flowed\n\n"
    document = read(head + b"One line \nthat goes on.\n> quoted \n> text\n-- \nBob\n")
    assert document.markdown == "One line that goes on.\n> quoted text\n-- \nBob\n"


def test_plain_text_is_preferred_unless_it_only_stands_in() -> None:
    """HTML is read where the plain text is empty, a stub, or missing."""
    html = f"<p>{PROSE}</p><blockquote>Quoted.</blockquote><ul><li>one</li></ul>" + "<p>More of it.</p>" * 40
    for plain, expected in (
        (f"{PROSE}\n\n> Quoted.\n\n- one\n\n" + "More of it. " * 40, f"{PROSE}\n\n> Quoted."),
        ("", PROSE),
        ("Your mail program does not support HTML.", PROSE),
    ):
        written = message(plain)
        written.add_alternative(html, subtype="html")
        assert read(written).markdown.startswith(expected)
    alone = EmailMessage()
    alone.set_content(html, subtype="html")
    assert read(alone).markdown.startswith(f"{PROSE}\n> Quoted.\n\n- one\n\nMore of it.")


TABLE = "<p>Your invoice is ready.</p><table><tr><td>HV-2201</td><td>412.50 crowns</td><td>due 11 May</td></tr></table>"


@pytest.mark.parametrize(
    ("plain", "html", "read_words", "lost"),
    [
        ("Your invoice is ready in the portal. Please sign in to see it.", TABLE, "| 412.50 crowns |", 9),
        ("Ihr Programm kann diese Nachricht nicht anzeigen, sie liegt anders vor.", TABLE, "| 412.50 crowns |", 11),
        ("此邮件无法显示。", "<p>您的发票已准备好，金额为四百克朗。</p>", "四百克朗", 7),
        ("Your invoice HV-2201 of 412.50 crowns is ready, and due 11 May.", TABLE, "ready, and due", 0),
        (f"{PROSE} The crane lifts 84 tonnes.", f"<p>{PROSE}</p>", "84 tonnes", 0),
        (PROSE, '<img src="https://x.example/p.gif" width="1" height="1" alt="">', PROSE, 0),
        (PROSE, "<p>Sent from my ship</p>", PROSE, 4),
        (PROSE, '<p>Sent from my ship</p><img src="cid:logo">', PROSE, 4),
        (f"{PROSE} https://x.example/a", f'<p>{PROSE}</p><a href="https://x.example/a">here</a>', "[here]", 0),
    ],
)
def test_the_form_that_holds_more_is_read_and_the_rest_is_counted(
    plain: str, html: str, read_words: str, lost: int
) -> None:
    """What only the other form holds is counted in words, in Chinese in characters, whatever the language of a stub."""
    written = message(plain)
    written.add_alternative(html, subtype="html")
    document = read(written)
    assert read_words in document.markdown
    assert document.metadata.get("left_out", {}) == ({"other_part_words": lost} if lost else {})


def test_every_page_of_an_alternative_is_read() -> None:
    """Apple Mail writes a page before and a page behind an attachment as one alternative to the plain text."""
    written = MIMEMultipart("alternative")
    written.attach(MIMEText("Before. Behind."))
    mixed = MIMEMultipart("mixed")
    for part in (MIMEText(f"<p>{PROSE}</p>", "html"), MIMEText("a,b", "csv"), MIMEText("The foot & more", "plain")):
        mixed.attach(part)
    written.attach(mixed)
    assert PROSE in read(written.as_bytes()).markdown
    assert "The foot & more" in read(written.as_bytes()).markdown


def test_attachments_keep_order_name_type_and_bytes() -> None:
    """Names are cleaned, unique and never empty; the content decides the media type."""
    written = message(Subject="Files")
    for name in ("report.pdf", "../../etc/Report.PDF", "C:\\x\\report.pdf", "a\nb\u202e.txt", "x" * 300 + ".pdf", None):
        written.add_attachment(b"%PDF-1.7 " + str(name).encode(), "application", "pdf", filename=name)
    written.add_attachment("one,two", "csv", filename="noending")
    document = read(written)
    assert names(document) == [
        *("report.pdf", "Report (2).PDF", "report (3).pdf", "a b.txt", "x" * 196 + ".pdf", "attachment-6.pdf"),
        "noending.csv",
    ]
    assert [attachment.media_type for attachment in document.attachments[:3]] == ["application/pdf"] * 3
    assert texts(document)[-1].startswith("Attachments: report.pdf, Report (2).PDF")


def test_the_text_of_a_choice_within_a_choice_is_counted() -> None:
    """Where one of a message's forms has two forms itself, the words of the one that is not read are counted."""
    inner, outer = MIMEMultipart("alternative"), MIMEMultipart("alternative")
    inner.attach(MIMEText("Tide tables of May", "plain"))
    inner.attach(MIMEText(f"<p>{PROSE}</p>", "html"))
    outer.attach(MIMEText("A stub", "plain"))
    outer.attach(inner)
    document = read(outer.as_bytes())
    assert PROSE in document.markdown
    assert document.metadata["left_out"] == {"other_part_words": 6}


def test_images_within_the_text_are_no_attachments() -> None:
    """An image shown in the HTML by its Content-ID is left out; another image is not."""
    related = MIMEMultipart("related")
    related.attach(MIMEText(f'<p>{PROSE}</p><img src="cid:logo@x">', "html"))
    for identity, name in (("logo@x", "logo.png"), ("other@x", "photo.png")):
        image = MIMEApplication(b"\x89PNG\r\n\x1a\n" + name.encode(), "png", name=name)
        image.replace_header("Content-Type", f'image/png; name="{name}"')
        image["Content-ID"] = f"<{identity}>"
        related.attach(image)
    assert names(read(related.as_bytes())) == ["photo.png"]


def test_messages_within_are_attachments_followed_by_theirs() -> None:
    """A forwarded message is a file of its own, and what came with it is in the same list."""
    inner = message("The inner text.", Subject="Inner / one")
    inner.add_attachment(b"inner", "application", "octet-stream", filename="data.txt")
    outer = message(Subject="Outer")
    outer.add_attachment(inner)
    outer.add_attachment(b"outer", "application", "octet-stream", filename="data.txt")
    document = read(outer)
    assert names(document) == ["one.eml", "data.txt", "data (2).txt"]
    assert document.attachments[0].media_type == EMAIL
    nested = read(attachment_content(outer.as_bytes(), media_type=EMAIL, number=0))
    assert nested.title == "Inner / one"
    assert "inner text" not in document.markdown


def test_attachments_that_are_nested_too_deeply_are_counted() -> None:
    """The files of a message that is not read are not read either; its text and signatures are no files."""
    written = message(Subject="0")
    written.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="a.pdf")
    written.add_attachment(b"x", maintype="application", subtype="pgp-signature", filename="a.sig")
    for number in range(1, 13):
        outer = message(Subject=str(number))
        outer.add_attachment(written)
        written = outer
    document = read(written)
    assert len(document.attachments) == 10
    assert document.metadata["left_out"] == {"attachments": 3}


def test_messages_within_messages_end() -> None:
    """Eleven deep is as deep as it goes, and 1,000 files as many."""
    written = message(Subject="0")
    for number in range(1, 15):
        outer = message(Subject=str(number))
        outer.add_attachment(written)
        written = outer
    document = read(written)
    assert len(document.attachments) == 10
    assert document.metadata["left_out"] == {"attachments": 4}
    assert "Of 14 attachments only these 10 are read" in document.markdown
    many = MIMEMultipart()
    for number in range(1100):
        many.attach(MIMEApplication(b"%d" % number, name="same.txt"))
    document = parse(many.as_bytes(), name="a.eml", media_type=EMAIL)
    assert len(set(names(document))) == 1000
    assert document.metadata["left_out"] == {"attachments": 100}
    assert "Of 1,100 attachments only these 1,000 are read" in document.markdown


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'Content-Type: multipart/encrypted; boundary="b"\n\n--b\n\nx\n--b--', r"encrypted \(PGP\)"),
        (b"Subject: x\n\n-----BEGIN PGP MESSAGE-----\n\nabc", r"encrypted \(PGP\)"),
        (b"Content-Type: application/pkcs7-mime; smime-type=signed-data\n\nx", "hides its text"),
        (b"Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nx", r"encrypted \(S/MIME\)"),
    ],
)
def test_encrypted_messages_say_so(content: bytes, reason: str) -> None:
    """Encrypted messages fail with a reason instead of giving meaningless text."""
    with pytest.raises(ParseError, match=reason):
        read(content)


@pytest.mark.parametrize(
    "content",
    [
        b'Content-Type: multipart/mixed; boundary="b"\n\n--b\n\ntext without an end',
        b"Content-Type: multipart/mixed\n\ntext without a boundary",
        b"Content-Type: text/plain; charset*0*=x''%ff; name*=broken''%zz\n\ntext",
        b"Subject: a\nDate: yesterday\nTo: <<,;>,@\nFrom: \xff\xfe <a@b\n\ntext",
        b"Content-Type: a/b/c\n\ntext",
        b"To: " + b"(" * 100_000 + b"\n\ntext",
        b"\xef\xbb\xbfSubject: x\n\ntext",
        b"Content-Type: message/rfc822\n\nSubject: text\n\nbody",
    ],
)
def test_broken_messages_keep_what_they_have(content: bytes) -> None:
    """Broken boundaries, encodings, parameters and headers lose no more than themselves."""
    assert "text" in read(content).markdown


def test_messages_within_messages_without_end_are_refused() -> None:
    """A message that would exhaust memory or stack fails with a reason."""
    with pytest.raises(ParseError, match="nested too deeply"):
        read(b"Content-Type: message/rfc822\n\n" * 3000 + b"text")


def test_the_page_of_related_parts_may_stand_behind_its_pictures() -> None:
    """The parameter `start` names the page; further texts are kept too."""
    written = MIMEMultipart("related", start="<page>")
    picture = MIMEApplication(b"x", "octet-stream", name="plan.bin")
    page, more = MIMEText("<p>The page</p>", "html"), MIMEText("More words")
    page["Content-ID"] = "<page>"
    for part in (picture, more, page):
        written.attach(part)
    markdown = read(written.as_bytes()).markdown
    assert markdown.index("The page") < markdown.index("More words")


def test_forms_of_the_text_for_other_programs_are_no_attachments() -> None:
    """AMP and the form for watches say what the other alternatives say."""
    written = MIMEMultipart("alternative")
    for kind in ("plain", "x-amp-html", "watch-html"):
        written.attach(MIMEText(PROSE, kind))
    document = read(written.as_bytes())
    assert (document.attachments, document.markdown.count("committee")) == ((), 1)
