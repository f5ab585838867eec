"""Response bodies: read and decompressed up to a limit of bytes in memory."""

import zlib
from collections.abc import AsyncIterable

from sourcebook.web.http_types import FetchError

_GZIP = frozenset({"gzip", "x-gzip"})
_PLAIN = frozenset({"", "identity"})


class Body:
    """A response body in transit.

    Args:
        content_encoding: value of the header, empty where it is absent.
        content_length: value of the header in bytes, None where it is absent.
        max_bytes: limit on the bytes sent, and on the decompressed bytes.

    Raises:
        FetchError: the announced length exceeds the limit, or the encoding was not requested.
    """

    def __init__(self, content_encoding: str, content_length: int | None, max_bytes: int) -> None:
        encoding = content_encoding.strip().lower()
        if encoding not in _PLAIN and encoding not in _GZIP and encoding != "deflate":
            raise FetchError(
                f"the body is packed as {encoding[:40]!a}; only gzip and deflate are unpacked", transient=False
            )
        if content_length is not None and content_length > max_bytes:
            raise _too_large(f"the response has {content_length:,} bytes, more", max_bytes)
        self.received = 0
        """Bytes received so far, before decompression."""
        self._encoding = encoding
        self._max_bytes = max_bytes
        self._unpacked = 0
        self._inflater: zlib._Decompress | None = None

    async def read(self, chunks: AsyncIterable[bytes]) -> bytes:
        """Return the whole body, decompressed.

        Raises:
            FetchError: the body exceeds the limit, or does not match its Content-Encoding.
        """
        parts: list[bytes] = []
        async for chunk in chunks:
            self.received += len(chunk)
            if self.received > self._max_bytes:
                raise _too_large("the response is larger", self._max_bytes)
            if self._encoding in _PLAIN:
                parts.append(chunk)
            else:
                self._unpack(chunk, parts)
        if self._inflater is not None and not self._inflater.eof:
            raise FetchError(f"the {self._encoding} body ends before its end", transient=True)
        return b"".join(parts)

    def _unpack(self, data: bytes, parts: list[bytes]) -> None:
        while data:
            if self._inflater is None:
                self._inflater = zlib.decompressobj(self._window_bits(data))
            elif self._inflater.eof:
                if self._encoding == "deflate" or data[0] != 0x1F:
                    return  # padding; another gzip member would start with 1F
                self._inflater = zlib.decompressobj(self._window_bits(data))
            try:
                part = self._inflater.decompress(data, self._max_bytes + 1 - self._unpacked)
            except zlib.error as error:
                raise FetchError(
                    f"the Content-Encoding says {self._encoding}, but the body is not valid {self._encoding}",
                    transient=False,
                ) from error
            self._unpacked += len(part)
            if self._unpacked > self._max_bytes:
                raise _too_large(f"{self.received:,} bytes of {self._encoding} unpack to more", self._max_bytes)
            parts.append(part)
            data = self._inflater.unused_data

    def _window_bits(self, data: bytes) -> int:
        if self._encoding in _GZIP:
            return 16 + zlib.MAX_WBITS
        # Some servers send deflate without the zlib header that the standard asks for.
        return zlib.MAX_WBITS if data[0] & 0x0F == 8 else -zlib.MAX_WBITS


def _too_large(what: str, max_bytes: int) -> FetchError:
    return FetchError(f"{what} than the site's max_bytes allows ({max_bytes:,})", transient=False)
