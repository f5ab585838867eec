"""Vectors as data of a binary COPY: all rows have one length, so that numpy makes them at once."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_HEAD: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TAIL: Final = b"\xff\xff"
_HASH_BYTES: Final = 32


def vector_rows(hashes: Sequence[bytes | None], vectors: NDArray[np.float32]) -> bytes:
    """Return rows of a SHA-256 (bytea) and a vector (halfvec), as data of a binary COPY.

    Args:
        hashes: SHA-256 of the text of each vector.
        vectors: of shape (n, dimensions).

    Raises:
        ValueError: a hash is missing, or has another length.
    """
    digests = [value for value in hashes if value is not None]
    if len(digests) < len(hashes):
        raise ValueError("the SHA-256 of a text is missing")
    if any(len(digest) != _HASH_BYTES for digest in digests):
        raise ValueError(f"the SHA-256 of a text has not {_HASH_BYTES} bytes")
    count, dimensions = vectors.shape
    if not count:
        return _HEAD + _TAIL
    rows = np.zeros(
        count,
        np.dtype(
            [
                ("fields", ">i2"),
                ("hash_bytes", ">i4"),
                ("hash", f"V{_HASH_BYTES}"),
                ("vector_bytes", ">i4"),
                ("dimensions", ">i2"),
                ("unused", ">i2"),
                ("vector", ">f2", (dimensions,)),
            ]
        ),
    )
    rows["fields"] = 2
    rows["hash_bytes"] = _HASH_BYTES
    rows["hash"] = np.frombuffer(b"".join(digests), f"V{_HASH_BYTES}")
    rows["vector_bytes"] = 4 + 2 * dimensions
    rows["dimensions"] = dimensions
    rows["vector"] = vectors
    return _HEAD + rows.tobytes() + _TAIL
