"""Documents of Word 97 to 2003 without the characters that Word does not show: deleted, moved away, or hidden ones."""

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import Final

from olefile import OleFileIO  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.parsing.office.legacy.word_pieces import document_97, lines, shown_text

_DELETED, _HIDDEN = 0x0800, 0x083C
"""Properties of characters: deleted while changes were tracked, and the font's property Hidden."""
_PAGE: Final = 512
_OPERANDS: Final = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}
"""Bytes of a property's value by the upper three bits of its code; those of 6 state their length."""
_NO_SIGN: Final = 0x1F
"""Hyphen that is shown only where a line ends, which readers leave out."""
_KEPT: Final = frozenset({*range(9), 0x13, 0x14, 0x15})
"""Signs that pictures, notes, cells and fields hang on."""


def shown_document(content: bytes) -> tuple[bytes, list[str]]:
    """Return a document with an invisible sign for each character that is not shown, and the hidden texts.

    Moved text is deleted in its old place; a document of another format is returned as it is.
    """
    document = document_97(content)
    if document is None:
        return content, []
    stream = bytearray(document.stream)
    hidden: list[str] = []
    for start, end, properties in _runs(document.stream, document.table):
        for place, length, width in document.pieces if properties else ():
            first, last = place + max(start - place, 0) // width * width, min(end, place + length * width)
            if _DELETED not in properties:
                hidden.append(stream[first:last].decode("cp1252" if width == 1 else "utf-16-le", "replace"))
            for at in range(first, last, width):
                sign = int.from_bytes(stream[at : at + width], "little")
                if sign not in _KEPT and (sign >= 0x20 or _DELETED in properties):
                    stream[at : at + width] = _NO_SIGN.to_bytes(width, "little")
    if stream == document.stream:
        return content, []
    copy = BytesIO(content)
    with OleFileIO(copy, write_mode=True) as ole:
        ole.write_stream("WordDocument", bytes(stream))
        return copy.getvalue(), [*lines(shown_text("".join(hidden)))]


def _runs(stream: bytes, table: bytes) -> Iterator[tuple[int, int, set[int]]]:
    """Yield beginning and end of each run of characters in the stream, with those of the two properties that it has."""
    at, length = struct.unpack_from("<II", stream, 0xFA)
    places = table[at : at + length]
    number = max(len(places) - 4, 0) // 8
    for page in dict.fromkeys(struct.unpack_from(f"<{number}I", places, 4 * (number + 1)) if number else ()):
        block = stream[(page & 0x3FFFFF) * _PAGE :][:_PAGE]
        count = block[-1] if len(block) == _PAGE else 0
        if 4 + 5 * count >= _PAGE:
            continue
        limits = struct.unpack_from(f"<{count + 1}I", block)
        for index in range(count):
            offset = 2 * block[4 * (count + 1) + index]
            yield limits[index], limits[index + 1], _set(block[offset + 1 :][: block[offset]] if offset else b"")


def _set(properties: bytes) -> set[int]:
    """Return those of the two properties that a list of properties sets."""
    found: set[int] = set()
    at = 0
    while at + 2 < len(properties):
        code = properties[at] | properties[at + 1] << 8
        if code in {_DELETED, _HIDDEN}:
            (found.add if properties[at + 2] == 1 else found.discard)(code)
        at += 2 + _OPERANDS.get(code >> 13, 1 + properties[at + 2])
    return found
