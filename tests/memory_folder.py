"""The folder for files in memory: what tests write there outlives nothing, and no disk is waited for."""

import os
import shutil

import psutil

_FOLDER = "/dev/shm"
_ROOM = 8_000_000_000
_MEMORY = 12_000_000_000
"""Free bytes of the folder, and of the machine's memory, from which tests write there: up to three gigabytes, beside
processes of five."""


def memory_folder() -> str | None:
    """Return the folder if it has room."""
    has_room = os.access(_FOLDER, os.W_OK) and shutil.disk_usage(_FOLDER).free > _ROOM
    return _FOLDER if has_room and psutil.virtual_memory().available > _MEMORY else None
