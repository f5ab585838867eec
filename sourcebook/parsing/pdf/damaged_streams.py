"""Damage of a PDF that its readers do not notice: compressed parts whose checksum is wrong.

A PDF has no checksum, but each part that is compressed with Flate has one (RFC 1950). PDFium and docling-parse read on
where it is wrong, and a damaged table of letters then gives wrong letters.
"""

import re
import zlib
from typing import Final

_STREAM: Final = re.compile(rb"/Filter\s*(?:/FlateDecode\b|\[\s*/FlateDecode\s*\])[^<>]{0,400}>>\s{0,4}stream\r?\n")
"""End of the dictionary of a part that is compressed with Flate alone, and the beginning of its bytes."""
_BEFORE: Final = 600
"""Bytes before the filter's name in which the dictionary says that the part is a picture."""
_LARGEST: Final = 100_000_000
"""Bytes of a file that is looked through, which takes a second."""
_PIECE: Final = 1 << 16
_MOST_UNPACKED: Final = 1 << 26
"""Bytes that a part is unpacked to; the rest of a larger one is not looked at."""


def damaged_streams(content: bytes) -> int:
    """Return the number of compressed parts of a PDF, pictures left out, whose bytes are damaged.

    Encrypted files, whose parts cannot be unpacked without their key, and very large ones give 0.
    """
    if len(content) > _LARGEST or b"/Encrypt" in content:
        return 0
    found = 0
    for begin in _STREAM.finditer(content):
        start = begin.end()
        dictionary = content[max(0, begin.start() - _BEFORE) : start]
        dictionary = dictionary[dictionary.rfind(b" obj") + 1 :]
        if b"/Image" not in dictionary and b"DecodeParms" not in dictionary:
            found += _is_damaged(content, start)
    return found


def _is_damaged(content: bytes, start: int) -> bool:
    unpacking = zlib.decompressobj()
    unpacked = 0
    try:
        for place in range(start, len(content), _PIECE):
            piece = content[place : place + _PIECE]
            while piece:
                unpacked += len(unpacking.decompress(piece, _PIECE))
                piece = unpacking.unconsumed_tail
                if unpacking.eof or unpacked > _MOST_UNPACKED:
                    return False
    except zlib.error:
        return True
    return True
