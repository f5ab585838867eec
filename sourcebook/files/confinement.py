"""Files and folders inside the root of a source, whatever symbolic links point elsewhere."""

import errno
import os
import stat
from io import BufferedReader

from sourcebook.files.source import Source

LEADS_OUT = "symbolic link that leads out of the root of its source; follow_links: true follows it"
_PATH_ONLY: int | None = getattr(os, "O_PATH", None)
"""Flag that opens a file without permission to read it; None where the system has none."""


def is_inside(path: str, root: str) -> bool:
    """Return whether a real path is the root or below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def real_path(descriptor: int, path: str) -> str:
    """Return the real path of an open file or folder.

    Args:
        descriptor: the open file or folder.
        path: the path that it was opened by.

    Raises:
        OSError: the path leads to another file by now.
    """
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - the path may contain bytes that are not UTF-8
    except OSError:  # there is no /proc on this system
        real = os.path.realpath(path)
        if not os.path.samestat(os.stat(real), os.fstat(descriptor)):  # noqa: PTH116 - likewise
            raise OSError(errno.ESTALE, "it was replaced while it was opened", path) from None
        return real


def target_of(path: str) -> str:
    """Return the real path of a file or folder that a symbolic link leads to."""
    if _PATH_ONLY is None:
        return os.path.realpath(path)
    try:
        descriptor = os.open(path, _PATH_ONLY | os.O_CLOEXEC)  # takes a quarter of the time of `realpath`
    except OSError:
        return os.path.realpath(path)
    try:
        return real_path(descriptor, path)
    finally:
        os.close(descriptor)


def open_confined(source: Source, path: str) -> BufferedReader:
    """Open a local file of a source for reading.

    The check follows the opening: a file that was replaced by a link after the listing is refused like a link that
    was there before.

    Raises:
        OSError: the file cannot be opened, is no regular file, or is outside the root of its source.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe would block without a writer
    try:
        _refuse(source, descriptor, path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _refuse(source: Source, descriptor: int, path: str) -> None:
    """Raise `OSError` where an open file may not be read."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
    if source.follow_links:
        return
    real = real_path(descriptor, path)
    if not is_inside(real, source.location) and (
        source.is_fixed or not is_inside(real, os.path.realpath(source.location))
    ):
        raise OSError(errno.EXDEV, LEADS_OUT, path)
