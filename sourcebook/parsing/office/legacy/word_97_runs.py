"""Runs of characters of Word 97 to 2003 with the properties that are set on them."""

import struct
from collections.abc import Iterator
from typing import Final

from sourcebook.parsing.office.legacy.word_pieces import Document97

_PAGE: Final = 512
_OPERANDS: Final = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}
"""Bytes of a property's value by the upper three bits of its code; those of 6 state their length."""


def runs(document: Document97) -> Iterator[tuple[int, int, dict[int, int]]]:
    """Yield beginning and end of each run in the stream, with the first byte of each property by its code.

    Source: [MS-DOC], PlcBteChpx, ChpxFkp and Prl.
    """
    at, length = struct.unpack_from("<II", document.stream, 0xFA)
    places = document.table[at : at + length]
    number = max(len(places) - 4, 0) // 8
    for page in dict.fromkeys(struct.unpack_from(f"<{number}I", places, 4 * (number + 1)) if number else ()):
        block = document.stream[(page & 0x3FFFFF) * _PAGE :][:_PAGE]
        count = block[-1] if len(block) == _PAGE else 0
        if 4 + 5 * count >= _PAGE:
            continue
        limits = struct.unpack_from(f"<{count + 1}I", block)
        for index in range(count):
            offset = 2 * block[4 * (count + 1) + index]
            yield limits[index], limits[index + 1], _properties(block[offset + 1 :][: block[offset]] if offset else b"")


def _properties(stored: bytes) -> dict[int, int]:
    """Return the first byte of each property by its code; of one that is there twice, the last."""
    found: dict[int, int] = {}
    at = 0
    while at + 2 < len(stored):
        code = stored[at] | stored[at + 1] << 8
        found[code] = stored[at + 2]
        at += 2 + _OPERANDS.get(code >> 13, 1 + stored[at + 2])
    return found
