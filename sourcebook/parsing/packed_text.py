"""Texts that gzip compressed, such as `notes.txt.gz` and `plan.svgz`."""

import gzip
import zlib
from io import BytesIO
from typing import Final

from sourcebook.errors import FailureClass, ParseError

_MARK: Final = b"\x1f\x8b"
_MOST_BYTES: Final = 64 << 20
"""Bytes that a compressed text may unpack to."""


def unpacked_text(content: bytes) -> bytes:
    """Return a text as it was before gzip compressed it; one that is not compressed as it is.

    Raises:
        ParseError: it is damaged, or unpacks to more than 64 MiB.
    """
    if not content.startswith(_MARK):
        return content
    try:
        unpacked = gzip.GzipFile(fileobj=BytesIO(content)).read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ParseError("it is damaged or cut off; open and save it again", FailureClass.CORRUPT) from error
    if len(unpacked) > _MOST_BYTES:
        raise ParseError(f"it unpacks to more than {_MOST_BYTES >> 20} MiB; split it", FailureClass.TOO_LARGE)
    return unpacked
