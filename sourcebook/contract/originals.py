"""The bytes that a document was made from."""

from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Self


@dataclass(frozen=True, slots=True)
class Original:
    """The bytes that a document was made from. Its receiver closes it."""

    name: str
    """File name."""
    media_type: str
    size: int
    """Bytes."""
    sha256: str
    """SHA-256 of the bytes, in hexadecimal."""
    stream: BinaryIO
    """The bytes, from the first one; seekable."""

    def __enter__(self) -> Self:
        """Return it; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.stream.close()
