"""The place of an export: a folder, which appears at once, or a URL, where the manifest comes last."""

import errno
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sourcebook.errors import TransferError
from sourcebook.transfer.export_files import ExportFiles, FolderFiles
from sourcebook.transfer.manifest import CHECKSUMS
from sourcebook.transfer.partial_file import hidden_prefix
from sourcebook.transfer.urls import url_of

_NO_SPACE: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class Place:
    """Where an export is written."""

    shown: str
    """The absolute folder, or the URL."""
    files: ExportFiles


@contextmanager
def export_place(folder: Path | str) -> Iterator[Place]:
    """Lend the place of an export; what is there at the end of the block without an error is whole.

    Args:
        folder: a folder that is empty or does not exist, or an fsspec URL of one.

    Raises:
        TransferError: it has contents, cannot be written, or its disk is full.
    """
    url = url_of(folder)
    if url is not None:
        from sourcebook.transfer.remote_files import remote_export

        with remote_export(url) as files:
            yield Place(url, files)
        return
    target = Path(os.path.abspath(str(folder).removeprefix("file://")))  # noqa: PTH100 - `resolve` would follow a link in the name itself
    _check_target(target)
    try:
        remove_abandoned(target)
        with partial_folder(target) as work:
            with closing(FolderFiles(work)) as files:
                yield Place(str(target), files)
            work.chmod(0o777 & ~_umask())
            if target.is_dir():
                target.rmdir()
            work.rename(target)
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise TransferError(
                f"{target} was not written, its disk is full ({error.strerror}): free some space, or name a folder on "
                "another disk; nothing is left of it"
            ) from error
        raise TransferError(f"{target} was not written: {error.strerror or error}; nothing is left of it") from error


def _check_target(target: Path) -> None:
    if not target.parent.is_dir():
        raise TransferError(f"there is no folder {target.parent} to write {target.name} in: create it")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise TransferError(f"{target} is no folder: name one that does not exist yet")
    if target.is_dir() and any(target.iterdir()):
        raise TransferError(f"the folder {target} is not empty: name another one, or delete it first")


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextmanager
def partial_folder(target: Path) -> Iterator[Path]:
    """Create the hidden folder of an export, and delete it at the end where it has not been renamed.

    Raises:
        OSError: the folder above cannot be written.
    """
    path, lock = _create(target)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def remove_abandoned(target: Path) -> None:
    """Delete the hidden folders of exports of this name whose writers were killed."""
    names = re.compile(re.escape(hidden_prefix(target)) + r"[a-z0-9_]{8}")
    with suppress(PermissionError):  # a folder that may be written but not listed
        for path in list(target.parent.iterdir()):
            if names.fullmatch(path.name):
                with suppress(OSError):
                    _remove(path)


def _remove(path: Path) -> None:
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if (path / CHECKSUMS).exists() or not any(path.iterdir()):  # else it is somebody else's
            shutil.rmtree(path)
    finally:
        os.close(lock)


def _create(target: Path) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=hidden_prefix(target), dir=target.parent))
        with suppress(FileNotFoundError):  # it was taken for abandoned before it was locked
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            with suppress(OSError):  # a disk without locks: nobody can lock, and so delete, it
                fcntl.flock(lock, fcntl.LOCK_EX)
            if path.is_dir():
                return path, lock
            os.close(lock)
