"""Files in a TAR archive, also a compressed one."""

import bz2
import gzip
import lzma
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from tarfile import EmptyHeaderError, EOFHeaderError, HeaderError  # type: ignore[attr-defined] # its stubs lack them
from typing import Protocol, Self
from zlib import error as ZlibError  # noqa: N812 # zlib names its exception in lower case

from sourcebook.parsing.archives.members import MOST_BYTES, Budget, Member, Unread, damaged
from sourcebook.parsing.archives.paths import member_path


class _Reader(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


_OPENERS: tuple[tuple[bytes, Callable[[BytesIO], _Reader]], ...] = (
    (b"\x1f\x8b", lambda packed: gzip.GzipFile(fileobj=packed)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)
_ENDS = (EOFHeaderError, EmptyHeaderError)
_DAMAGES = (tarfile.TarError, ZlibError, lzma.LZMAError, EOFError, OSError, ValueError, IndexError, OverflowError)
_MOST_UNPACKED = MOST_BYTES + (64 << 20)
"""Bytes of a compressed archive that are unpacked, with the headers of its files."""
_BEHIND = Unread(f"or more behind the first {MOST_BYTES >> 30} GiB")
_CUT = Unread("or more behind the place where the archive is damaged or cut off")


class _TooMuchError(Exception):
    """The archive unpacks to more than is read."""


class _DamagedError(Exception):
    """The archive is damaged, where tarfile would take the damage for its end."""


class _Header(tarfile.TarInfo):
    """The header of a file."""

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Self:
        """Read the next header.

        Raises:
            _DamagedError: it is damaged or cut off.
        """
        try:
            return super().fromtarfile(tarfile)
        except _ENDS:
            raise
        except HeaderError as error:
            raise _DamagedError from error


class _Bounded:
    """A stream that ends with an error after a number of bytes."""

    def __init__(self, stream: _Reader, most: int) -> None:
        self._stream = stream
        self._left = most

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes."""
        content = self._stream.read(size if 0 <= size <= self._left else self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise _TooMuchError
        return content


def tar_members(content: bytes, budget: Budget) -> Iterator[Member | Unread]:
    """Yield the files of a TAR archive in its order; the bytes of each can be read until the next one is taken.

    Raises:
        ParseError: the archive is damaged before its first file.
    """
    stream = _Bounded(_unpacked(content), _MOST_UNPACKED)
    found = False
    try:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as archive:  # type: ignore[call-overload] # it reads only
            while (entry := archive.next()) is not None:
                archive.members = []  # tarfile keeps every header otherwise
                found = True
                if not entry.isdir():
                    yield _member(archive, entry, budget, packed=len(content))
    except _TooMuchError:
        yield _BEHIND
    except (_DamagedError, *_DAMAGES) as error:
        if not found:
            raise damaged("the archive is damaged or cut off; copy it again, or pack it anew") from error
        yield _CUT


def _unpacked(content: bytes) -> _Reader:
    packed = BytesIO(content)
    opener = next((opener for mark, opener in _OPENERS if content.startswith(mark)), None)
    return packed if opener is None else opener(packed)


def _member(archive: tarfile.TarFile, entry: tarfile.TarInfo, budget: Budget, *, packed: int) -> Member | Unread:
    if not entry.isfile():
        return Unread("that are links or devices")
    path = member_path(entry.name)
    if isinstance(path, Unread):
        return path
    refused = budget.refusal(entry.size, packed)
    if refused is not None:
        return refused
    return Member(path, entry.size, partial(_content, archive, entry), f"{entry.size} {entry.mtime}".encode())


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    try:
        file = archive.extractfile(entry)
        content = b"" if file is None else file.read()
    except (_TooMuchError, *_DAMAGES) as error:
        raise damaged() from error
    if len(content) != entry.size:
        raise damaged()
    return content
