"""Outlook's winmail.dat: the attachments in it are those of the message."""

import struct
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest

from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import EMAIL
from sourcebook.parsing.mail.attachments import attachment_content
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover

Values = dict[int, str | bytes | int]


def attribute(name: int, data: bytes, *, level: int = 2) -> bytes:
    return struct.pack("<BHHI", level, name, 6, len(data)) + data + struct.pack("<H", sum(data) & 0xFFFF)


def properties(values: Values) -> bytes:
    """Return properties as Outlook packs them: each value padded to four bytes, one with a name of its own."""
    written = struct.pack("<I", len(values) + 1)
    named = "label".encode("utf-16-le") + b"\0\0"
    written += struct.pack("<HH16xII", 0x000B, 0x8001, 1, len(named)) + named.ljust(12, b"\0") + bytes(4)
    for number, value in values.items():
        if isinstance(value, int):
            written += struct.pack("<HHI", 3, number, value)
            continue
        text = value.encode("utf-16-le") + b"\0\0" if isinstance(value, str) else value
        kind = 0x1F if isinstance(value, str) else 0x0D if number == 0x3701 else 0x102
        data = bytes(16) + text if kind == 0x0D else text
        written += struct.pack("<HHII", kind, number, 1, len(data)) + data + bytes(-len(data) % 4)
    return written


def packed(message: Values, *files: bytes) -> bytes:
    code_page = attribute(0x9007, struct.pack("<II", 1251, 0), level=1)
    body = attribute(0x9003, properties(message), level=1) if message else b""
    return struct.pack("<IH", 0x223E9F78, 1) + code_page + body + b"".join(files)


def file(name: bytes, content: bytes, values: Values | None = None) -> bytes:
    more = attribute(0x9005, properties(values)) if values is not None else b""
    begin = attribute(0x9002, bytes(14)) + attribute(0x8010, name + b"\0")
    return begin + (attribute(0x800F, content) if content else b"") + more


def mail(text: str, part: bytes) -> bytes:
    message = MIMEMultipart()
    message["Subject"] = "Plans"
    if text:
        message.attach(MIMEText(text))
    held = MIMEApplication(part, "ms-tnef")
    held.add_header("Content-Disposition", "attachment", filename="winmail.dat")
    message.attach(held)
    return message.as_bytes()


def read(content: bytes) -> tuple[ParsedDocument, list[bytes]]:
    document = parse(content, name="a.eml", media_type=EMAIL)
    assert_blocks_cover(document)
    numbers = range(len(document.attachments))
    return document, [attachment_content(content, media_type=EMAIL, number=number) for number in numbers]


def test_the_files_in_the_part_are_attachments() -> None:
    """Each under its long name, else under its short one in the code page of the part; the text is not repeated."""
    long_name: Values = {0x3707: "Two plans of the lock.txt", 0x370E: "text/plain"}
    first, second = file(b"TWOPLA~1.TXT", b"two", long_name), file("план.txt".encode("cp1251"), b"one")
    document, contents = read(mail("Dear all", packed({0x1000: "Dear all"}, first, second)))
    assert [each.name for each in document.attachments] == ["Two plans of the lock.txt", "план.txt"]
    assert contents == [b"two", b"one"]
    assert document.markdown.count("Dear all") == 1


def test_the_text_in_the_part_is_that_of_a_message_without_another() -> None:
    """Outlook may send the text in the part alone, as text or HTML."""
    assert "Only here" in read(mail("", packed({0x1000: "Only here"})))[0].markdown
    assert "Only **here**" in read(mail("", packed({0x1013: b"<p>Only <b>here</b></p>"})))[0].markdown


def test_a_message_in_the_part_is_an_attachment_with_its_own_files() -> None:
    """A forwarded message is packed within the part."""
    inner = packed({0x1000: "Forwarded words"}, file(b"deep.txt", b"deep"))
    document, contents = read(mail("See below", packed({}, file(b"Old plan", b"", {0x3705: 5, 0x3701: inner}))))
    assert [each.name for each in document.attachments] == ["Old plan.eml", "deep.txt"]
    assert b"Forwarded words" in contents[0]
    assert contents[1] == b"deep"


@pytest.mark.parametrize("part", [b"no such part", packed({})[:9]])
def test_a_damaged_part_stays_an_attachment(part: bytes) -> None:
    """It is listed like any file that is not read."""
    document, contents = read(mail("Text", part))
    assert ([each.name for each in document.attachments], contents) == (["winmail.dat"], [part])


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.8, 0.95])
def test_a_part_that_is_cut_off_is_read_as_far_as_it_goes(kept: float) -> None:
    """Whatever is left, the message is read."""
    whole = packed({0x1000: "Words"}, file(b"a.txt", b"content" * 20, {0x3707: "long.txt"}))
    assert "Text" in read(mail("Text", whole[: int(len(whole) * kept)]))[0].markdown
