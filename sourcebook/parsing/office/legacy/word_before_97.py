"""Text of documents of Word 2, 6 and 95, which anydoc does not read: paragraphs, without structure."""

import re
import struct
from dataclasses import dataclass
from typing import Final

from olefile import MAGIC, OleFileIO  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.text.decode import decode

_VERSIONS: Final = frozenset({0xA5DB, 0xA5DC})
"""First numbers of a document of Word 2, and of Word 6 and 95."""
_WORD_97: Final = 0xC1
"""Version of the format from which on anydoc reads it."""
_WORD_6: Final = 0x65
_COMPLEX, _ENCRYPTED = 0x0004, 0x0100
_PARTS: Final = 7
"""Parts of the text: the main one, footnotes, headers, macros, comments, endnotes, boxes."""
_HEADERS, _MACROS = 2, 3
_FIELD_CODE: Final = re.compile(rb"\x13[^\x13-\x15]*[\x14\x15]")
"""Instruction of a field, before its result or alone."""
_ROW_END: Final = re.compile(rb"\x07\x07+|\x07(?=\r)")
_SIGNS: Final = bytes.maketrans(b"\x07\r\x0b\x0c\x1e", b"\t\n\n\n-")
_NO_TEXT: Final = bytes({*range(9), *range(14, 32)} - {7, 30})


@dataclass(frozen=True, slots=True)
class OldText:
    """Paragraphs of a document, and those of its headers and footers."""

    paragraphs: tuple[str, ...]
    headers: tuple[str, ...]


def text_before_97(content: bytes) -> OldText | None:
    """Return the text of a document of Word 2, 6 or 95; None for any other content.

    Raises:
        ParseError: The document is protected by a password, or cut off.
    """
    stream = _stream(content)
    if len(stream) < 0x50:
        return None
    kind, version = struct.unpack_from("<HH", stream)
    if kind not in _VERSIONS or version >= _WORD_97:
        return None
    flags, begin, end = struct.unpack_from("<10xH12xII", stream)
    if flags & _ENCRYPTED:
        raise ParseError("it is protected by a password; save a copy without one", FailureClass.PASSWORD)
    pieces = _pieces(stream) if flags & _COMPLEX and version >= _WORD_6 else [(begin, end - begin)]
    if any(at + length > len(stream) or length < 0 for at, length in pieces):
        raise ParseError(
            "the file is damaged or cut off; open it in its program or in LibreOffice and save it as .docx",
            FailureClass.CORRUPT,
        )
    text = b"".join(stream[at : at + length] for at, length in pieces)
    lengths = struct.unpack_from(f"<{_PARTS}I", stream, 0x34)
    if version < _WORD_6 or sum(lengths) > len(text):
        lengths = (len(text),)
    kept, headers, reached = [], b"", 0
    for number, length in enumerate(lengths):
        part = _shown(text[reached : reached + length])
        reached += length
        if number == _HEADERS:
            headers = part
        elif number != _MACROS:
            kept.append(part)
    encoding = decode(b"\n".join([*kept, headers])).encoding
    shown, above = (part.decode(encoding, "replace") for part in (b"\n".join(kept), headers))
    return OldText(_lines(shown), _lines(above))


def _stream(content: bytes) -> bytes:
    if not content.startswith(MAGIC):
        return content
    with OleFileIO(content) as ole:
        if not ole.exists("WordDocument"):
            return b""
        with ole.openstream("WordDocument") as stream:
            read: bytes = stream.read()
            return read


def _pieces(stream: bytes) -> list[tuple[int, int]]:
    """Return places and lengths of the pieces of a text that was saved fast, in the order of the text."""
    at, length = struct.unpack_from("<II", stream, 0x160) if len(stream) >= 0x168 else (0, 0)
    end = min(at + length, len(stream))
    while at + 3 <= end and stream[at] == 1:  # properties of pieces
        at += 3 + struct.unpack_from("<H", stream, at + 1)[0]
    if at + 5 > end or stream[at] != 2:
        return [(0, -1)]
    number = (struct.unpack_from("<I", stream, at + 1)[0] - 4) // 12
    at += 5
    if number < 0 or at + 4 + 12 * number > end:
        return [(0, -1)]
    places = struct.unpack_from(f"<{number + 1}I", stream, at)
    starts = [struct.unpack_from("<I", stream, at + 4 * (number + 1) + 8 * each + 2)[0] for each in range(number)]
    return [(start, places[each + 1] - places[each]) for each, start in enumerate(starts)]


def _shown(text: bytes) -> bytes:
    """Return a text without the instructions of fields, a line a paragraph or row."""
    before = None
    while text != before:
        before, text = text, _FIELD_CODE.sub(b"", text)
    return _ROW_END.sub(b"\n", text).translate(_SIGNS, _NO_TEXT)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in (" ".join(line.split()) for line in text.split("\n")) if line)
