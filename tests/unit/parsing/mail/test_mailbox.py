"""A mailbox is its messages, each a section below its subject."""

from hashlib import sha256

import pytest

from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import CONTAINERS, MBOX
from sourcebook.parsing.mail.attachments import attachment_content
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts
from tests.unit.parsing.drawn_files import MAILBOX


def read(content: bytes, name: str = "a.mbox") -> ParsedDocument:
    document = parse(content, name=name, media_type=detect_media_type(name, content[:4096]))
    assert_blocks_cover(document)
    return document


@pytest.mark.parametrize("content", [MAILBOX.encode(), MAILBOX.replace("\n", "\r\n").encode()], ids=["LF", "CRLF"])
def test_messages_are_sections(content: bytes) -> None:
    """Senders, dates and text are kept; base64 is no text, and attachments are named and counted."""
    document = read(content)
    assert texts(document) == [
        "# The upper gates",
        "From: Ada Byron <ada@example.org>  \nTo: Ben <ben@example.org>  \nDate: 2024-01-01 09:00+00:00",
        "Who opens the upper gates at night?",
        "From tomorrow on it is you.\nFrom habit, nobody asks.",
        "# Re: The upper gates",
        "From: Ben <ben@example.org>  \nDate: 2024-01-02 10:30+00:00",
        "## Rota",
        "I do, on **Mondays**.",
        "Attachments: rota.pdf",
    ]
    assert document.metadata == {"messages": 2, "attachments": 1}
    assert document.language == "en"


def test_a_mailbox_needs_no_ending() -> None:
    """Mail programs name mailboxes after folders; text that only begins with the word stays text."""
    assert detect_media_type("Inbox", MAILBOX.encode()) == "application/mbox"
    assert detect_media_type("letter.txt", b"From London, at 09:00 in 2024\nDear: all\n") == "text/plain"


def test_a_message_that_is_encrypted_leaves_its_reason() -> None:
    """The other messages are read, and the metadata count it."""
    sealed = "From c@example.org Wed Jan  3 10:30:00 2024\nSubject: x\nContent-Type: multipart/encrypted\n\nx\n\n"
    document = read(sealed.encode() + MAILBOX.encode())
    assert texts(document)[0].startswith("*A message that cannot be read:* the message is encrypted (PGP)")
    assert document.metadata["messages"] == 3
    assert document.metadata["unread_messages"] == 1


def test_attachments_that_are_not_read_are_counted_over_all_messages() -> None:
    """Twelve messages within each other, twice: the last two of each are nested too deeply."""
    nested = "".join(f"Subject: {n}\nContent-Type: message/rfc822\n\n" for n in range(12)) + "Subject: 12\n\nx\n\n"
    document = read(f"From c@example.org Wed Jan  3 10:30:00 2024\n{nested}".encode() * 2)
    assert document.metadata == {"messages": 2, "attachments": 20, "left_out": {"attachments": 4}}


def test_a_message_of_nested_parts_does_not_lose_the_others() -> None:
    """Thousands of parts within each other are one bad message."""
    parts = "".join(f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in range(3000))
    document = read(f"From c@example.org Wed Jan  3 10:30:00 2024\n{parts}\n\n{MAILBOX}".encode())
    assert "Who opens the upper gates at night?" in document.markdown
    assert document.metadata["messages"] == 3


@pytest.mark.parametrize("content", [b"no message\n", b"From a@b.c Mon Jan  1 09:00:00 2024\n"])
def test_without_a_message_it_fails_with_the_reason(content: bytes) -> None:
    """A reason in plain words."""
    with pytest.raises(ParseError, match="holds no message"):
        read(content)


def test_many_messages_are_read_once_each() -> None:
    """A thousand messages give a thousand sections, in order."""
    message = "From a@b.c Mon Jan  1 09:00:00 2024\nSubject: Number {}\n\nText.\n\n"
    document = read("".join(message.format(number) for number in range(1000)).encode())
    titles = [block.title for block in document.blocks if block.kind == "heading"]
    assert titles == [f"Number {number}" for number in range(1000)]


def test_attachments_of_all_messages_are_documents() -> None:
    """Each has a name of its own, and its content is that of its message."""
    nested = "From c@example.org Wed Jan  3 10:30:00 2024\nSubject: x\nContent-Type: multipart/encrypted\n\nx\n\n"
    other = MAILBOX.replace("JVBERi0xLjQKJeLjz9MK", "JVBERi0xLjcK")
    content = f"{MAILBOX}\n\n{nested}{other}".encode()
    document = read(content)
    assert [attachment.name for attachment in document.attachments] == ["rota.pdf", "rota (2).pdf"]
    assert "Attachments: rota (2).pdf" in document.markdown
    assert MBOX in CONTAINERS
    contents = [attachment_content(content, media_type=MBOX, number=number) for number in range(2)]
    assert [one[:8] for one in contents] == [b"%PDF-1.4", b"%PDF-1.7"]
    assert [sha256(one).digest() for one in contents] == [attachment.sha256 for attachment in document.attachments]
    with pytest.raises(ParseError, match="no attachment of the number 2"):
        attachment_content(content, media_type=MBOX, number=2)


def test_more_attachments_than_are_read_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are named in their messages."""
    monkeypatch.setattr("sourcebook.parsing.mail.mailbox._MOST_ATTACHMENTS", 1)
    document = read(f"{MAILBOX}\n\n{MAILBOX}".encode())
    assert [attachment.name for attachment in document.attachments] == ["rota.pdf"]
    assert document.metadata == {"messages": 4, "attachments": 2, "left_out": {"attachments": 1}}


@pytest.mark.parametrize("before", ["", "From - \n", "From someone\r\n"])
def test_a_mailbox_may_be_one_message(before: str) -> None:
    """Without the line before it, as some programs export a message, or with one that has no date."""
    found = read(f"{before}From: Ada <ada@example.org>\nSubject: Locks\n\nHigh water.\n".encode())
    assert "# Locks" in found.markdown
    assert "High water." in found.markdown
    assert found.metadata["messages"] == 1
