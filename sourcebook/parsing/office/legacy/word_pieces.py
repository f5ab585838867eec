"""Text in the binary streams of Word: its pieces, and what of its characters is shown."""

import re
import struct
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from olefile import MAGIC, OleFileIO  # type: ignore[import-untyped] # its stubs are a package of their own

WORD_97: Final = 0xC1
"""Version of the format from which on anydoc reads it."""
_MAGIC: Final = 0xA5EC
_OTHER_TABLE: Final = 0x0200
_BYTES: Final = 0x40000000
"""Flag of a piece with a byte a character."""
_FIELD_CODE: Final = re.compile(r"\x13[^\x13-\x15]*[\x14\x15]")
"""Instruction of a field, before its result or alone."""
_ROW_END: Final = re.compile(r"\x07\x07+|\x07(?=\r)")
_SIGNS: Final = str.maketrans(
    "\x07\r\x0b\x0c\x1e", "\t\n\n\n-", "".join(map(chr, {*range(9), *range(14, 32)} - {7, 30}))
)


def word_streams(content: bytes, *names: str) -> tuple[bytes, ...]:
    """Return streams of a compound file, each empty where it is not there; of any other file, its content first.

    All are empty where the file is damaged.
    """
    if not content.startswith(MAGIC):
        return (content, *(b"" for _ in names[1:]))
    with suppress(OSError, ValueError, IndexError), OleFileIO(content) as ole:  # of olefile, for a damaged file
        return tuple(ole.openstream(name).read() if ole.exists(name) else b"" for name in names)
    return tuple(b"" for _ in names)


def piece_table(stored: bytes) -> list[tuple[int, int]] | None:
    """Return stored place and length of each piece of a text, in its order; None where the table is damaged.

    Args:
        stored: the properties of pieces, which are passed over, and the table.
    """
    at = 0
    while at + 3 <= len(stored) and stored[at] == 1:
        at += 3 + int(struct.unpack_from("<H", stored, at + 1)[0])
    if at + 5 > len(stored) or stored[at] != 2:
        return None
    number = (struct.unpack_from("<I", stored, at + 1)[0] - 4) // 12
    at += 5
    if number < 0 or at + 4 + 12 * number > len(stored):
        return None
    places = struct.unpack_from(f"<{number + 1}I", stored, at)
    starts = [struct.unpack_from("<I", stored, at + 4 * (number + 1) + 8 * each + 2)[0] for each in range(number)]
    return [(start, places[each + 1] - places[each]) for each, start in enumerate(starts)]


@dataclass(frozen=True, slots=True)
class Document97:
    """A document of Word 97 to 2003: its two streams, and its text."""

    stream: bytes
    table: bytes
    pieces: list[tuple[int, int, int]]
    """Place in the stream, number of characters and bytes of a character of each piece of the text, in its order."""


def document_97(content: bytes) -> Document97 | None:
    """Return the streams of a document of Word 97 to 2003; None for any other, and for a damaged one."""
    stream, first, second = word_streams(content, "WordDocument", "0Table", "1Table")
    if len(stream) < 0x1AA or struct.unpack_from("<H", stream)[0] != _MAGIC:
        return None
    version, flags = struct.unpack_from("<H6xH", stream, 2)
    at, length = struct.unpack_from("<II", stream, 0x1A2)
    table = second if flags & _OTHER_TABLE else first
    pieces = piece_table(table[at : at + length]) if version >= WORD_97 else None
    if pieces is None:
        return None
    counts = ((start, count if 0 <= count <= len(stream) else 0) for start, count in pieces)
    return Document97(stream, table, [((at & ~_BYTES) // 2, n, 1) if at & _BYTES else (at, n, 2) for at, n in counts])


def shown_text(text: str) -> str:
    """Return a text without the instructions of fields and other signs of Word, a line a paragraph or row."""
    before = None
    while text != before:
        before, text = text, _FIELD_CODE.sub("", text)
    return _ROW_END.sub("\n", text).translate(_SIGNS)


def lines(text: str) -> tuple[str, ...]:
    """Return the lines of a shown text that are not blank, with single spaces."""
    return tuple(line for line in (" ".join(line.split()) for line in text.split("\n")) if line)


def letters_of(text: str) -> str:
    """Return the letters and digits of a text alone, without their case, for comparison."""
    return "".join(filter(str.isalnum, text)).casefold()
