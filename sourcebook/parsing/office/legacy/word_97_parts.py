"""Parts of a document of Word 97 to 2003 beside its running text, where anydoc leaves them out."""

import struct
from dataclasses import dataclass
from typing import Final

from sourcebook.parsing.office.legacy.word_pieces import lines, piece_table, shown_text, word_streams

_MAGIC, _WORD_97 = 0xA5EC, 0xC1
_OTHER_TABLE: Final = 0x0200
_PARTS: Final = 8
"""Parts of the text: the main one, footnotes, headers, macros, comments, endnotes, boxes, boxes in headers."""
_KEPT, _HEADERS = (1, 4, 5, 6), (2, 7)
_BYTES: Final = 0x40000000
"""Flag of a piece with a byte a character."""


@dataclass(frozen=True, slots=True)
class OtherParts:
    """Paragraphs of notes, comments and boxes, and those of headers and footers."""

    kept: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()


def parts_beside(content: bytes, markdown: str) -> OtherParts:
    """Return the paragraphs of a document beside its running text that its Markdown does not hold.

    Args:
        content: the whole file.
        markdown: its Markdown; letters and digits alone are compared.
    """
    stream, first, second = word_streams(content, "WordDocument", "0Table", "1Table")
    if len(stream) < 0x1AA or struct.unpack_from("<H", stream)[0] != _MAGIC:
        return OtherParts()
    version, flags = struct.unpack_from("<H6xH", stream, 2)
    if version < _WORD_97:
        return OtherParts()
    lengths = struct.unpack_from(f"<{_PARTS}I", stream, 0x4C)
    at, length = struct.unpack_from("<II", stream, 0x1A2)
    table = second if flags & _OTHER_TABLE else first
    pieces = piece_table(table[at : at + length])
    if pieces is None or not any(lengths[1:]):
        return OtherParts()
    text = "".join(_piece(stream, start, count) for start, count in pieces)
    held = _letters(markdown)

    def missing(numbers: tuple[int, ...]) -> tuple[str, ...]:
        parts = (text[sum(lengths[:number]) : sum(lengths[: number + 1])] for number in numbers)
        found = (line for part in parts for line in lines(shown_text(part)))
        return tuple(line for line in dict.fromkeys(found) if (letters := _letters(line)) and letters not in held)

    return OtherParts(missing(_KEPT), missing(_HEADERS))


def _piece(stream: bytes, start: int, count: int) -> str:
    """Return the text of a piece, as long as the table says: what is cut off is blank."""
    if count < 0 or count > len(stream):
        return ""
    if start & _BYTES:
        at = (start & ~_BYTES) // 2
        return stream[at : at + count].decode("cp1252", "replace").ljust(count)
    return stream[start : start + 2 * count].decode("utf-16-le", "replace").ljust(count)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
