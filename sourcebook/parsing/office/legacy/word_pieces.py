"""Text in the binary streams of Word: its pieces, and what of its characters is shown."""

import re
import struct
from contextlib import suppress
from typing import Final

from olefile import MAGIC, OleFileIO  # type: ignore[import-untyped] # its stubs are a package of their own

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


def shown_text(text: str) -> str:
    """Return a text without the instructions of fields and other signs of Word, a line a paragraph or row."""
    before = None
    while text != before:
        before, text = text, _FIELD_CODE.sub("", text)
    return _ROW_END.sub("\n", text).translate(_SIGNS)


def lines(text: str) -> tuple[str, ...]:
    """Return the lines of a shown text that are not blank, with single spaces."""
    return tuple(line for line in (" ".join(line.split()) for line in text.split("\n")) if line)
