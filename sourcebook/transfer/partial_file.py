"""The hidden file beside a backup's place while the backup is written, and those that killed writers have left.

The writer holds a lock on its file, which the system releases when the last process with it has ended: on whichever
machine that was, where the disk is shared.
"""

import fcntl
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_HEAD: Final = b"PGDMP"
"""First bytes of a backup: what begins otherwise is somebody else's file."""
_LONGEST_NAME: Final = 100
"""Characters of the name of a backup or an export in the name of its hidden file or folder."""


@dataclass(frozen=True, slots=True)
class PartialFile:
    """A file that is being written."""

    path: Path
    descriptor: int
    """Open file that holds the lock; a program that inherits it holds the lock, too."""


@contextmanager
def partial_file(target: Path) -> Iterator[PartialFile]:
    """Create the hidden file of a backup, and delete it at the end where it has not been renamed.

    Raises:
        OSError: the folder cannot be written.
    """
    made = _create(target)
    try:
        yield made
    finally:
        with suppress(OSError):
            made.path.unlink()
        os.close(made.descriptor)


def remove_abandoned(target: Path) -> None:
    """Delete the hidden files of backups of this name whose writers were killed."""
    names = re.compile(re.escape(hidden_prefix(target)) + r"\d+(-[0-9a-f]+)?")
    with suppress(PermissionError):  # a folder that may be written but not listed
        _remove(path for path in list(target.parent.iterdir()) if names.fullmatch(path.name))


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(path, descriptor) and os.pread(descriptor, len(_HEAD), 0) in (b"", _HEAD):
                    path.unlink()
            finally:
                os.close(descriptor)


def _create(target: Path) -> PartialFile:
    while True:
        path = target.with_name(f"{hidden_prefix(target)}{os.getpid()}-{secrets.token_hex(4)}")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with suppress(OSError):  # a disk without locks: nobody can lock, and so delete, it
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is_at(path, descriptor):
            return PartialFile(path, descriptor)
        os.close(descriptor)  # taken for abandoned before it was locked


def hidden_prefix(target: Path) -> str:
    """Return the beginning of the names of hidden files and folders beside a backup or an export."""
    return f".{target.name[:_LONGEST_NAME]}.new-"


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file still has its name."""
    try:
        found = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(found, os.fstat(descriptor))
