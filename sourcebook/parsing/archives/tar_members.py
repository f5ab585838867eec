"""Files in a TAR archive, also a compressed one."""

import bz2
import gzip
import lzma
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from io import BytesIO
from tarfile import EmptyHeaderError, EOFHeaderError, HeaderError  # type: ignore[attr-defined] # its stubs lack them
from tempfile import SpooledTemporaryFile
from typing import IO, Protocol, Self, cast
from zlib import error as ZlibError  # noqa: N812 # zlib names its exception in lower case

from sourcebook.errors import FailureClass, TemporaryParseError
from sourcebook.parsing.archives.members import MOST_BYTES, Budget, Member, Unread, damaged
from sourcebook.parsing.archives.paths import member_path


class _Reader(Protocol):
    def read1(self, size: int = -1, /) -> bytes: ...


_OPENERS: tuple[tuple[bytes, Callable[[BytesIO], _Reader]], ...] = (
    (b"\x1f\x8b", lambda packed: gzip.GzipFile(fileobj=packed)),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)
_ENDS = (EOFHeaderError, EmptyHeaderError)
_DAMAGES = (tarfile.TarError, ZlibError, lzma.LZMAError, EOFError, OSError, ValueError, IndexError, OverflowError)
_MOST_UNPACKED = MOST_BYTES + (64 << 20)
"""Bytes of a compressed archive that are unpacked, with the headers of its files."""
_IN_MEMORY = 32 << 20
"""Bytes of a compressed archive that are unpacked in memory; a larger one goes into a temporary file without a name."""
_PIECE = 1 << 16
"""Bytes that are unpacked at once; with `read1`, those before a damaged place are not lost."""
_BEHIND = Unread(f"or more behind the first {MOST_BYTES >> 30} GiB")
_CUT = Unread("or more behind the place where the archive is damaged or cut off")


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


def tar_members(content: bytes, budget: Budget, kept: ExitStack) -> Iterator[Member | Unread]:
    """Yield the files of a TAR archive in its order, which can be read until `kept` is closed.

    Raises:
        ParseError: the archive is damaged before its first file.
        TemporaryParseError: there is no room to unpack it.
    """
    file, left_out = _unpacked(content, kept)
    found = False
    try:
        archive = tarfile.open(fileobj=file, mode="r:", tarinfo=_Header)  # noqa: SIM115 # `kept` closes its file
        while (entry := archive.next()) is not None:
            archive.members = []  # type: ignore[attr-defined] # tarfile keeps every header otherwise
            found = True
            if not entry.isdir():
                yield _member(archive, entry, budget, packed=len(content))
    except (_DamagedError, *_DAMAGES) as error:
        if not found:
            raise damaged("the archive is damaged or cut off; copy it again, or pack it anew") from error
        left_out = left_out or _CUT
    if left_out is not None:
        yield left_out


def is_packed_whole(content: bytes) -> bool:
    """Return whether an archive is compressed as a whole, so that its files are read from an unpacked copy."""
    return any(content.startswith(mark) for mark, _ in _OPENERS)


def _unpacked(content: bytes, kept: ExitStack) -> tuple[IO[bytes], Unread | None]:
    """Return an archive without its compression, and what of it is left out."""
    packed = BytesIO(content)
    opener = next((opener for mark, opener in _OPENERS if content.startswith(mark)), None)
    if opener is None:
        return packed, None
    stream = opener(packed)
    file = cast(IO[bytes], kept.enter_context(SpooledTemporaryFile(_IN_MEMORY)))  # noqa: SIM115 # `kept` closes it
    left_out, size = None, 0
    while left_out is None:
        try:
            piece = stream.read1(min(_PIECE, _MOST_UNPACKED - size + 1))
        except _DAMAGES:
            left_out = _CUT
            break
        size += len(piece)
        if not piece:
            break
        if size > _MOST_UNPACKED:
            left_out = _BEHIND
        try:
            file.write(piece)
        except OSError as error:
            raise TemporaryParseError(
                f"it cannot be unpacked into the temporary folder ({error.strerror or error}); make room there, or set "
                "TMPDIR to another folder",
                FailureClass.UNREADABLE,
            ) from error
    file.seek(0)
    return file, left_out


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
    except _DAMAGES as error:
        raise damaged() from error
    if len(content) != entry.size:
        raise damaged()
    return content
