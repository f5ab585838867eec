"""Read a response's body within a limit, and unpack it without ever holding more than the limit."""

import zlib
from collections.abc import AsyncIterable

from sourcebook.web.http_types import FetchError

_GZIP = frozenset({"gzip", "x-gzip"})
_PLAIN = frozenset({"", "identity"})


class Body:
    """A body as it comes in.

    Args:
        content_encoding: the header; empty where there is none.
        content_length: the header; None where there is none.
        max_bytes: the limit, on what is sent and on what that unpacks to.

    Raises:
        FetchError: it announces that it is too large, or is packed in a way that was not asked for.
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
        """Bytes that came over the wire until now."""
        self._encoding = encoding
        self._max_bytes = max_bytes
        self._unpacked = 0
        self._inflater: zlib._Decompress | None = None

    async def read(self, chunks: AsyncIterable[bytes]) -> bytes:
        """Return the whole body, unpacked.

        Raises:
            FetchError: it is larger than the limit, or not what its Content-Encoding says.
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
                    return  # padding; a further gzip member would begin with 1F
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
