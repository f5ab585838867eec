"""Response bodies: read and decompressed up to a limit of bytes in memory."""

from collections.abc import AsyncIterable

from sourcebook.errors import FailureClass
from sourcebook.web.fetching.unpacking import ACCEPT_ENCODING, PLAIN, Unpacker, UnpackError, unpacker
from sourcebook.web.http_types import FetchError


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
        self._unpacker: Unpacker | None = None if encoding in PLAIN else unpacker(encoding)
        if self._unpacker is None and encoding not in PLAIN:
            raise FetchError(
                f"the body is packed as {encoding[:40]!a}; only {ACCEPT_ENCODING} are unpacked",
                transient=False,
                failure_class=FailureClass.UNSUPPORTED,
            )
        if content_length is not None and content_length > max_bytes:
            raise _too_large(f"the response has {content_length:,} bytes, more", max_bytes)
        self.received = 0
        """Bytes received so far, before decompression."""
        self._encoding = encoding
        self._max_bytes = max_bytes
        self._unpacked = 0

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
            parts.append(chunk if self._unpacker is None else self._unpack(self._unpacker, chunk))
        if self._unpacker is not None and not self._unpacker.complete:
            raise FetchError(
                f"the {self._encoding} body ends before its end", transient=True, failure_class=FailureClass.NETWORK
            )
        return b"".join(parts)

    def _unpack(self, unpacking: Unpacker, data: bytes) -> bytes:
        try:
            part = unpacking.unpack(data, self._max_bytes + 1 - self._unpacked)
        except UnpackError as error:
            raise FetchError(
                f"the Content-Encoding says {self._encoding}, but the body is not valid {self._encoding}",
                transient=False,
                failure_class=FailureClass.CORRUPT,
            ) from error
        self._unpacked += len(part)
        if self._unpacked > self._max_bytes:
            raise _too_large(f"{self.received:,} bytes of {self._encoding} unpack to more", self._max_bytes)
        return part


def _too_large(what: str, max_bytes: int) -> FetchError:
    return FetchError(
        f"{what} than the site's max_bytes allows ({max_bytes:,})",
        transient=False,
        failure_class=FailureClass.TOO_LARGE,
    )
