"""Types shared by the archive formats: the files in an archive, and the limits of opening one."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sourcebook.errors import FailureClass, ParseError

MOST_MEMBERS = 5_000
"""Files read of an archive, those of nested archives included."""
MOST_BYTES = 1 << 30
"""Bytes that the files of an archive may unpack to, together."""
MOST_BYTES_OF_ONE = 128 << 20
"""Bytes that a file may unpack to."""
HIGHEST_RATIO = 200
"""Unpacked bytes per packed one; text has up to 30, tables up to 100."""
SMALL = 1 << 20
"""Bytes up to which a file may have any ratio."""
DEEPEST = 3
"""Levels of nested archives that are opened."""
LONGEST_PATH = 1_000
"""Characters of a file's path."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive."""

    path: str
    """Its path in the archive, with slashes, never above it."""
    size: int
    """Unpacked size in bytes, as the archive declares it."""
    read: Callable[[], bytes]
    """Return the bytes. Raises `ParseError` where they cannot be read."""
    seal: bytes = b""
    """Bytes that change with the content of a member which cannot be read."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file in an archive that is no document."""

    reason: str
    """Why, in words that follow a number, such as "that are links or devices"."""
    count: int = 1


@dataclass(slots=True)
class Budget:
    """Remainder of the limits of an archive, those of nested archives included."""

    members: int = MOST_MEMBERS
    bytes: int = MOST_BYTES
    nested: int = 0
    """Bytes of nested archives, which are in memory while the archive is open."""
    names: set[str] = field(default_factory=set)
    """Paths that are taken, in lower case."""

    def refusal(self, size: int, packed: int) -> Unread | None:
        """Return why a file of a size is not unpacked, and take it from what is left where it is.

        Args:
            size: unpacked size in bytes.
            packed: packed size in bytes.
        """
        if size > MOST_BYTES_OF_ONE:
            return Unread(f"larger than {MOST_BYTES_OF_ONE >> 20} MiB")
        if size > SMALL and size > packed * HIGHEST_RATIO:
            return Unread(f"that unpack to more than {HIGHEST_RATIO} times their size")
        if self.members < 1:
            return Unread(f"behind the first {MOST_MEMBERS:,}")
        if size > self.bytes:
            return Unread(f"behind the first {MOST_BYTES >> 30} GiB")
        self.members -= 1
        self.bytes -= size
        return None


def damaged(what: str = "it is damaged or cut off in its archive; pack it again") -> ParseError:
    """Return the error of a file, or of an archive, that is damaged."""
    return ParseError(what, FailureClass.CORRUPT)
