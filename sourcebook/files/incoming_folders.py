"""Folders of bytes that are being written: one of each process, which holds its lock for as long as it lives.

The files of a killed process are in a folder that nobody holds, also on a disk that containers share, whose process
ids say nothing about each other.
"""

import fcntl
import os
import shutil
import threading
import uuid
from contextlib import suppress
from pathlib import Path

_held: dict[tuple[int, Path], tuple[Path, int]] = {}
"""Folders that this process and its forks hold, with the descriptors of their locks."""
_lock = threading.Lock()


def own_folder(parent: Path, mode: int) -> Path:
    """Return the folder of this process, which is made where there is none.

    Args:
        parent: folder of the folders of all processes.
        mode: mode of a new one.

    Raises:
        OSError: it cannot be made.
    """
    with _lock:
        held = _held.get((os.getpid(), parent))
        if held is not None and held[0].is_dir():
            return held[0]
        if held is not None:
            os.close(held[1])
        with suppress(OSError):  # the nightly deletion reports it
            remove_unheld(parent)
        while True:
            folder = parent / uuid.uuid4().hex
            folder.mkdir(mode=mode)
            try:
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            with suppress(BlockingIOError):  # somebody has taken it for left
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if folder.is_dir():
                    _held[os.getpid(), parent] = (folder, descriptor)
                    return folder
            os.close(descriptor)


def remove_unheld(parent: Path) -> int:
    """Delete the folders of processes that have ended; return the number of their files.

    Raises:
        OSError: they cannot be read or deleted.
    """
    removed = 0
    for folder in parent.iterdir() if parent.is_dir() else ():
        if not folder.is_dir():
            continue
        with suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                removed += sum(1 for _ in folder.iterdir())
                shutil.rmtree(folder)
            except BlockingIOError:
                continue
            finally:
                os.close(descriptor)
    return removed
