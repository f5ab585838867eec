"""Outlook's own format says the same as an Internet message."""

import struct
from datetime import UTC, datetime

import pytest
from compressed_rtf import compress  # type: ignore[import-untyped] # has no types
from oxmsg.storage import Storage, Stream

from sourcebook.errors import ParseError
from sourcebook.model.media_types import OUTLOOK
from sourcebook.parsing.mail.internet import read_internet_message
from sourcebook.parsing.mail.outlook import message_of
from sourcebook.parsing.mail.outlook_properties import rich_text
from sourcebook.parsing.parse import parse
from tests.checkout import SHARED_DATA
from tests.unit.parsing.covering import assert_blocks_cover

MESSAGES = SHARED_DATA / "documents" / "email"
SENT = datetime(2024, 5, 6, 8, 30, tzinfo=UTC)


def storage(
    path: str, values: dict[int, str | bytes | int | datetime], *inner: Storage, header_bytes: int = 8
) -> Storage:
    """Return properties as Outlook lays them out: small ones in one stream, texts and bytes each in its own."""
    rows = bytearray(header_bytes)
    streams = []
    for number, value in values.items():
        if isinstance(value, datetime):
            ticks = int((value - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10_000_000
            rows += struct.pack("<HHIQ", 0x0040, number, 0, ticks)
        elif isinstance(value, int):
            rows += struct.pack("<HHIII", 0x0003, number, 0, value, 0)
        else:
            kind, content = (0x001F, value.encode("utf-16-le")) if isinstance(value, str) else (0x0102, value)
            rows += struct.pack("<HHIII", kind, number, 0, len(content), 0)
            streams.append(Stream(f"{path}/__substg1.0_{number:04X}{kind:04X}", content))
    streams.append(Stream(f"{path}/__properties_version1.0", bytes(rows)))
    return Storage(path, tuple(streams), inner)


def recipient(number: int, name: str, address: str, kind: int) -> Storage:
    return storage(f"__recip_version1.0_#{number:08X}", {0x3001: name, 0x39FE: address, 0x0C15: kind})


def attachment(number: int, values: dict[int, str | bytes | int | datetime], *inner: Storage) -> Storage:
    return storage(f"__attach_version1.0_#{number:08X}", values, *inner)


def test_properties_are_headers() -> None:
    """Sender, recipients, dates and identities are read; a path of Exchange's directory is no address."""
    found = message_of(
        storage(
            "",
            {
                0x0037: "Plan",
                0x0C1A: "Ada",
                0x0C1F: "/O=CORP/CN=ADA",
                0x0039: SENT,
                0x1035: "<1@x>",
                0x1042: "<0@x>",
                0x1000: "Text.",
            },
            recipient(0, "Bob", "bob@example.org", 1),
            recipient(1, "Eve", "eve@example.org", 2),
            header_bytes=32,
        )
    )
    assert (found.subject, found.sender, found.sent) == ("Plan", "Ada", SENT)
    assert (found.to, found.cc) == (("Bob <bob@example.org>",), ("Eve <eve@example.org>",))
    assert (found.message_id, found.in_reply_to) == ("<1@x>", "<0@x>")
    assert found.bodies[0].plain == "Text."


def test_files_and_messages_within_are_found() -> None:
    """Files keep their bytes; a message within becomes an Internet message, the same each time."""
    inner = storage(
        "__attach_version1.0_#00000001/__substg1.0_3701000D",
        {0x0037: "Inner", 0x1000: "Inner text.", 0x1013: b"<p>Inner text.</p>", 0x0039: SENT},
        attachment(0, {0x3707: "deep.txt", 0x3701: b"deep"}),
        header_bytes=24,
    )
    found = message_of(
        storage(
            "",
            {0x0037: "Outer", 0x1013: b'<img src="cid:logo">'},
            attachment(0, {0x3707: "a.pdf", 0x3701: b"%PDF-"}),
            attachment(1, {}, inner),
            attachment(2, {0x3704: "LOGO.PNG", 0x3712: "logo", 0x370E: "image/png", 0x3701: b"\x89PNG"}),
            header_bytes=32,
        )
    )
    assert [file.name for file in found.files] == ["a.pdf", "Inner.eml", "deep.txt"]
    assert [file.read() for file in found.files[::2]] == [b"%PDF-", b"deep"]
    nested = found.files[1].read()
    assert nested == found.files[1].read()
    assert read_internet_message(nested).subject == "Inner"
    assert read_internet_message(nested).sent == SENT


def test_messages_that_are_nested_too_deeply_are_counted() -> None:
    """Ten levels are read; the message below them and its file are not, and the outer message says how many."""
    inner = storage("inner", {0x0037: "0"}, attachment(0, {0x3707: "a.txt", 0x3701: b"a"}), header_bytes=24)
    for number in range(1, 12):
        embedded = Storage(f"{number}/__substg1.0_3701000D", inner.streams, inner.storages)
        inner = storage(
            str(number), {0x0037: str(number)}, attachment(0, {}, embedded), header_bytes=24 if number < 11 else 32
        )
    found = message_of(inner)
    assert [file.name for file in found.files] == [f"{number}.eml" for number in range(10, 0, -1)]
    assert found.more_files == 2


def test_compressed_rich_text_is_the_last_resort() -> None:
    """Where there is no other body, the RTF gives its text."""
    # The example of [MS-OXRTFCP] 3.1.
    compressed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    )
    assert rich_text(compressed) == ("hello world", "")
    found = message_of(storage("", {0x1009: compressed}, header_bytes=32))
    assert found.bodies[0].plain == "hello world"


_HEAD = (
    rb"{\rtf1\ansi\ansicpg1252\fromhtml1\deff0{\fonttbl{\f0\fswiss\fcharset0 Arial;}{\f1\fmodern\fcharset204 Mono;}}"
)


@pytest.mark.parametrize(
    ("body", "html"),
    [
        (rb"{\*\htmltag64 <p>}\htmlrtf\par\htmlrtf0 caf\'e9{\*\htmltag72 </p>}", "<p>café</p>"),
        (rb"{\*\htmltag84 <b>}\htmlrtf {\b \htmlrtf0 bold{\*\htmltag92 </b>}\htmlrtf }\htmlrtf0 !", "<b>bold</b>!"),
        (rb"{\*\htmltag241 <!-- p \{color:red\} -->}{\*\htmltag1 \par }", "<!-- p {color:red} -->\n"),
        (rb"{\*\mhtmltag84 <img src=x>}{\*\htmltag84 <img src='cid:a'>}", "<img src='cid:a'>"),
        (rb"{\*\htmltag84 &nbsp;}\htmlrtf \'a0\htmlrtf0 a\tab b\line c", "&nbsp;a\tb\nc"),
        (rb"{\*\htmltag64 <p>}\f1 \'cf\'f0\'e8\'e2\'e5\'f2", "<p>Привет"),
        (rb"\u26085?\u-10179?\u-8704? x", "日😀 x"),
    ],
)
def test_rich_text_made_from_html_gives_the_html_back(body: bytes, html: str) -> None:
    """Tags come back; substitutes for readers of RTF, and links changed for the archive, do not."""
    assert rich_text(compress(_HEAD + body + b"}")) == ("", html)


def test_rich_text_stands_beside_a_stub() -> None:
    """HTML in RTF counts as HTML, and text in RTF as plain text, where the message's own says less."""
    page = compress(_HEAD + rb"{\*\htmltag64 <p>}HV-2201, 412.50 crowns{\*\htmltag72 </p>}}")
    (body,) = message_of(storage("", {0x1000: "See the portal.", 0x1009: page}, header_bytes=32)).bodies
    assert (body.plain, body.html) == ("See the portal.", "<p>HV-2201, 412.50 crowns</p>")
    text = compress(rb"{\rtf1\ansi The crane lifts 84 tonnes.}")
    (body,) = message_of(storage("", {0x1000: "See below.", 0x1009: text}, header_bytes=32)).bodies
    assert (body.plain, body.html) == ("The crane lifts 84 tonnes.", "")


@pytest.mark.parametrize(
    "content", [b"", b"\x10\0\0\0\xff\xff\xff\xffLZFu\0\0\0\0", b"\0" * 20, compress(b"{\\rtf1 cut off}")[:-3]]
)
def test_broken_rich_text_is_empty(content: bytes) -> None:
    """A wrong length or checksum costs no memory and gives no text."""
    assert rich_text(content) == ("", "")


def test_what_is_no_message_says_so() -> None:
    """A cut-off file gives a reason."""
    with pytest.raises(ParseError, match="no readable Outlook message"):
        parse(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 3000, name="a.msg", media_type=OUTLOOK)


@pytest.mark.skipif(not MESSAGES.is_dir(), reason=f"the shared data is not at {MESSAGES}")
def test_a_real_message_is_read() -> None:
    """Title, text and sender of a message saved by Outlook are read."""
    document = parse((MESSAGES / "msg_simple.msg").read_bytes(), name="a.msg", media_type=OUTLOOK)
    assert_blocks_cover(document)
    assert document.title == "Simple Email"
    assert "This is a simple email body." in document.markdown
    assert document.metadata["from"] == "Alice Example <alice@example.com>"


def test_texts_that_are_not_in_unicode_have_the_code_page_of_the_message() -> None:
    """Outlook before 2003 writes subject, names and addresses so; recipients do not name their code page themselves."""

    def narrow(path: str, number: int, text: str) -> Stream:
        return Stream(f"{path}/__substg1.0_{number:04X}001E", text.encode("cp950"))

    to = storage("__recip_version1.0_#00000000", {0x0C15: 1})
    to = Storage(to.path, (*to.streams, narrow(to.path, 0x3001, "張毓倫")), ())
    root = storage("", {0x3FFD: 950}, to, header_bytes=32)
    found = message_of(Storage("", (*root.streams, narrow("", 0x0037, "格式測試")), root.storages))
    assert (found.subject, found.to) == ("格式測試", ("張毓倫",))


def test_appointments_tell_their_time_and_place() -> None:
    """Outlook numbers these properties file by file; a message without them has none."""
    appointment = bytes.fromhex("0220060000000000c000000000000046")
    entries = b"".join(
        struct.pack("<IHH", number, 3 << 1, index) for index, number in enumerate((0x820D, 0x820E, 0x8208))
    )
    path = "__nameid_version1.0"
    names = Storage(
        path,
        (Stream(f"{path}/__substg1.0_00020102", appointment), Stream(f"{path}/__substg1.0_00030102", entries + b"\0")),
        (),
    )
    values: dict[int, str | bytes | int | datetime] = {0x8000: SENT, 0x8001: SENT.replace(hour=9), 0x8002: "Room 4"}
    found = message_of(storage("", values, names, header_bytes=32))
    assert (found.starts, found.ends, found.place) == (SENT, SENT.replace(hour=9), "Room 4")
    plain = message_of(storage("", {0x0037: "Plan"}, header_bytes=32))
    assert (plain.starts, plain.ends, plain.place) == (None, None, "")
