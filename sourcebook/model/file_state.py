"""The state of a file as its file system tells it, by which an edit is noticed without reading."""

import os

FileState = tuple[int, int, int, int]


def file_state(status: os.stat_result) -> FileState:
    """Return size, modification time, change time and inode of a file.

    An edit may keep size and modification time, as `touch -d`, `rsync -t` and builds with SOURCE_DATE_EPOCH do; no
    program sets the change time.
    """
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
