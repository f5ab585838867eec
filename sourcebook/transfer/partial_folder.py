"""The hidden folder beside an export's place while the export is written, and those that killed writers have left.

The writer holds a lock on its folder, which the system releases when the last process with it has ended.
"""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sourcebook.transfer.manifest import CHECKSUMS
from sourcebook.transfer.partial_file import hidden_prefix


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
