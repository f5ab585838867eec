"""Decoders of Content-Encoding that return a limited number of bytes at a time: gzip, deflate, br, zstd."""

import sys
import zlib
from collections.abc import Callable
from typing import Protocol

import brotli  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
"""Value of the header of every request."""
PLAIN = frozenset({"", "identity"})
"""Values of Content-Encoding for a body that is not compressed."""

_GZIP_START = 0x1F
_WINDOW_LOG = 23
"""Largest window of zstd as a power of two: 8 MB, the limit of RFC 9659, so that memory stays bounded."""


class UnpackError(Exception):
    """A body is not valid in its encoding."""


class Unpacker(Protocol):
    """A decoder of one body."""

    @property
    def complete(self) -> bool:
        """Whether the data so far ends where a stream ends."""

    def unpack(self, data: bytes, most: int) -> bytes:
        """Return the decompressed data, at most `most` bytes and a little more; the rest of `data` is then dropped.

        Raises:
            UnpackError: the data is not valid in this encoding.
        """


def unpacker(encoding: str) -> Unpacker | None:
    """Return a decoder for a value of Content-Encoding in lower case, None for an unknown encoding."""
    make = _UNPACKERS.get(encoding)
    return None if make is None else make()


class _Inflater:
    """gzip with any number of members, and deflate with and without the header of zlib."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._stream: zlib._Decompress | None = None

    @property
    def complete(self) -> bool:
        return self._stream is None or self._stream.eof

    def unpack(self, data: bytes, most: int) -> bytes:
        parts: list[bytes] = []
        while data and most > 0:
            if self._stream is None:
                self._stream = self._begin(data)
            elif self._stream.eof:
                if not self._gzip or data[0] != _GZIP_START:
                    break  # padding; another member would start with 1F
                self._stream = self._begin(data)
            try:
                part = self._stream.decompress(data, most)
            except zlib.error as error:
                raise UnpackError from error
            parts.append(part)
            most -= len(part)
            data = self._stream.unused_data
        return b"".join(parts)

    def _begin(self, data: bytes) -> "zlib._Decompress":
        if self._gzip:
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        # Some servers send deflate without the zlib header that the standard asks for.
        return zlib.decompressobj(zlib.MAX_WBITS if data[0] & 0x0F == 8 else -zlib.MAX_WBITS)


class _Brotli:
    """Brotli: one stream."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        self._begun = False

    @property
    def complete(self) -> bool:
        return not self._begun or self._stream.is_finished()

    def unpack(self, data: bytes, most: int) -> bytes:
        self._begun = True
        if self._stream.is_finished():
            return b""  # padding
        try:
            return bytes(self._stream.process(data, output_buffer_limit=most))
        except brotli.error as error:
            raise UnpackError from error


class _Zstd:
    """zstd with any number of frames."""

    def __init__(self) -> None:
        self._stream: zstd.ZstdDecompressor | None = None

    @property
    def complete(self) -> bool:
        return self._stream is None or self._stream.eof

    def unpack(self, data: bytes, most: int) -> bytes:
        parts: list[bytes] = []
        while data and most > 0:
            if self._stream is None or self._stream.eof:
                self._stream = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW_LOG})
            try:
                part = self._stream.decompress(data, most)
            except zstd.ZstdError as error:
                raise UnpackError from error
            parts.append(part)
            most -= len(part)
            data = self._stream.unused_data
        return b"".join(parts)


_UNPACKERS: dict[str, Callable[[], Unpacker]] = {
    "gzip": lambda: _Inflater(gzip=True),
    "x-gzip": lambda: _Inflater(gzip=True),
    "deflate": lambda: _Inflater(gzip=False),
    "br": _Brotli,
    "zstd": _Zstd,
}
