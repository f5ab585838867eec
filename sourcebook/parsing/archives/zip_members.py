"""Files in a ZIP archive."""

import stat
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from io import BytesIO
from zipfile import BadZipFile, ZipFile, ZipInfo
from zlib import error as ZlibError  # noqa: N812 # zlib names its exception in lower case

from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.archives.member_names import member_names
from sourcebook.parsing.archives.members import Budget, Member, Unread, damaged
from sourcebook.parsing.archives.paths import member_path

_ENCRYPTED = 0x1
_LOCKED = "it is encrypted in its archive; unpack that with its password"
_DAMAGES = (BadZipFile, ZlibError, EOFError, OSError, ValueError, IndexError)


def zip_members(content: bytes, budget: Budget, kept: ExitStack) -> Iterator[Member | Unread]:
    """Yield the files of a ZIP archive in its order, which can be read until `kept` is closed.

    Raises:
        ParseError: the archive is damaged.
    """
    try:
        archive = kept.enter_context(ZipFile(BytesIO(content)))
    except (*_DAMAGES, NotImplementedError, UnicodeError) as error:
        raise damaged("the archive is damaged or cut off; copy it again, or pack it anew") from error
    names = member_names(archive.infolist())
    for entry in archive.infolist():
        if not entry.is_dir():
            yield _member(archive, entry, names[id(entry)], budget)


def _member(archive: ZipFile, entry: ZipInfo, name: str, budget: Budget) -> Member | Unread:
    if stat.S_IFMT(entry.external_attr >> 16) not in {0, stat.S_IFREG}:
        return Unread("that are links or devices")
    path = member_path(name)
    if isinstance(path, Unread):
        return path
    refused = budget.refusal(entry.file_size, entry.compress_size)
    if refused is not None:
        return refused
    # The checksum is of the unpacked bytes, also of an encrypted file by most programs.
    seal = f"{entry.CRC} {entry.file_size} {entry.compress_size} {entry.date_time}".encode()
    return Member(path, entry.file_size, partial(_content, archive, entry), seal)


def _content(archive: ZipFile, entry: ZipInfo) -> bytes:
    if entry.flag_bits & _ENCRYPTED:
        raise ParseError(_LOCKED, FailureClass.PASSWORD)
    try:
        with archive.open(entry) as file:
            content = file.read(entry.file_size + 1)
    except NotImplementedError as error:
        raise ParseError(
            "it is packed in a way that is not read; pack the archive again as an ordinary ZIP",
            FailureClass.UNSUPPORTED,
        ) from error
    except RuntimeError as error:  # zipfile's error for a missing password
        raise ParseError(_LOCKED, FailureClass.PASSWORD) from error
    except Exception as error:  # each method of compression has its own
        if isinstance(error, MemoryError):
            raise
        raise damaged() from error
    if len(content) != entry.file_size:
        raise damaged()
    return content
