"""Outlook's `winmail.dat` (MS-OXTNEF): the text and the attachments of a message in one part."""

import codecs
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sourcebook.parsing.html.charset import decode_page
from sourcebook.parsing.mail.message import Body
from sourcebook.parsing.mail.outlook_properties import with_rich_text

MEDIA_TYPES: Final = frozenset({"application/ms-tnef", "application/vnd.ms-tnef"})
FILE_NAME: Final = "winmail.dat"
_SIGNATURE: Final = 0x223E9F78
_FIXED: Final = {2: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 0xA: 4, 0xB: 4, 0x14: 8, 0x40: 8, 0x48: 16}
"""Bytes of a value by its type, with its padding."""
_TEXT, _UNICODE, _OBJECT, _BINARY = 0x1E, 0x1F, 0x0D, 0x102
_SEVERAL: Final = 0x1000
_BODY, _HTML, _RTF = 0x1000, 0x1013, 0x1009
_LONG_NAME, _NAME, _SHOWN_NAME, _MIME, _CONTENT, _METHOD = 0x3707, 0x3704, 0x3001, 0x370E, 0x3701, 0x3705
_EMBEDDED: Final = 5
"""Method of an attachment that is a message."""
_INTERFACE: Final = 16
"""Bytes before an embedded object that name its interface."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """An attachment in the part."""

    name: str
    media_type: str
    content: bytes
    is_message: bool = False
    """Whether the content is another such part."""


@dataclass(frozen=True, slots=True)
class PackedMessage:
    """Text and attachments of a message."""

    body: Body
    files: tuple[PackedFile, ...]


def read_packed_message(content: bytes) -> PackedMessage | None:
    """Read a part as far as it goes; None where it is no such part."""
    if len(content) < 6 or struct.unpack_from("<I", content)[0] != _SIGNATURE:
        return None
    page = "cp1252"
    plain = b""
    message: Mapping[int, bytes | str] = {}
    files: list[dict[int, bytes | str]] = []
    for name, data in _attributes(content):  # names are those of the specification, 2.1.3.3
        match name:
            case 0x9007 if len(data) >= 4:  # attOemCodepage
                page = _codec(struct.unpack_from("<I", data)[0])
            case 0x800C:  # attBody
                plain = data
            case 0x9003:  # attMsgProps
                message = dict(_properties(data, page))
            case 0x9002:  # attAttachRendData
                files.append({})
            case 0x8010 if files:  # attAttachTitle
                files[-1].setdefault(_NAME, data.rstrip(b"\0").decode(page, "replace"))
            case 0x800F if files:  # attAttachData
                files[-1].setdefault(_CONTENT, data)
            case 0x9005 if files:  # attAttachment
                files[-1] |= dict(_properties(data, page))
    return PackedMessage(_body(message, plain.decode(page, "replace")), tuple(map(_file, files)))


def _attributes(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 6
    while at + 9 <= len(content):
        name, length = struct.unpack_from("<H2xI", content, at + 1)
        data = content[at + 9 : at + 9 + length]
        if len(data) < length:
            return
        yield name, data
        at += 9 + length + 2


def _properties(data: bytes, page: str) -> Iterator[tuple[int, bytes | str]]:
    """Yield the properties with a text or bytes, and integers as bytes; what is damaged ends them."""
    at = 4
    try:
        for _ in range(struct.unpack_from("<I", data)[0]):
            kind, number = struct.unpack_from("<HH", data, at)
            at += 4
            if number >= 0x8000:
                (named,) = struct.unpack_from("<16xI", data, at)
                at += 20
                at += 4 + (_padded(struct.unpack_from("<I", data, at)[0]) if named else 0)
            base = kind & ~_SEVERAL
            is_long = base in {_TEXT, _UNICODE, _OBJECT, _BINARY}
            count = 1
            if is_long or kind & _SEVERAL:
                (count,) = struct.unpack_from("<I", data, at)
                at += 4
            for _ in range(count):
                length = struct.unpack_from("<I", data, at)[0] if is_long else _FIXED[base]
                at += 4 if is_long else 0
                value = data[at : at + length]
                if len(value) < length:
                    return
                at += _padded(length)
                if base == _TEXT:
                    yield number, value.rstrip(b"\0").decode(page, "replace")
                elif base == _UNICODE:
                    yield number, value.decode("utf-16-le", "replace").rstrip("\0")
                else:
                    yield number, value[_INTERFACE:] if base == _OBJECT else value
    except (struct.error, KeyError):
        return


def _padded(length: int) -> int:
    return length + -length % 4


def _body(message: Mapping[int, bytes | str], plain: str) -> Body:
    text, html, rtf = (message.get(number, b"") for number in (_BODY, _HTML, _RTF))
    plain = text if isinstance(text, str) else plain.rstrip("\0")
    page = html if isinstance(html, str) else decode_page(html).text if html else ""
    return with_rich_text(Body(plain, page), rtf if isinstance(rtf, bytes) else b"")


def _file(properties: Mapping[int, bytes | str]) -> PackedFile:
    names = (properties.get(number) for number in (_LONG_NAME, _NAME, _SHOWN_NAME))
    name = next((each for each in names if isinstance(each, str) and each), "")
    media_type, content, method = (properties.get(number) for number in (_MIME, _CONTENT, _METHOD))
    return PackedFile(
        name,
        media_type if isinstance(media_type, str) and media_type else "application/octet-stream",
        content if isinstance(content, bytes) else b"",
        is_message=isinstance(method, bytes) and method[:1] == bytes((_EMBEDDED,)),
    )


def _codec(page: int) -> str:
    try:
        return codecs.lookup("utf-8" if page == 65001 else f"cp{page}").name
    except LookupError:
        return "cp1252"
