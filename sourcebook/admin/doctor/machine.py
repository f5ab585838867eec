"""Checks of Python, the state folder, its disk and the browser."""

import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from sourcebook.admin.doctor.check import Check, fail, ok, warn
from sourcebook.web.browser.chromium import REMEDY, VARIABLE, find_chromium

OLDEST_PYTHON = (3, 11)
FREE_BYTES = (500_000_000, 5_000_000_000)
"""Free bytes on the disk below which the check fails, and below which it warns."""


def check_python() -> Check:
    """Check the version of Python."""
    detail = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        return fail("Python", detail, f"install Python {'.'.join(map(str, OLDEST_PYTHON))} or newer")
    return ok("Python", detail)


def check_state_folder(home: Path) -> Check:
    """Check that the state folder can be written to or created."""
    nearest = nearest_folder(home)
    try:
        if home.exists():
            with tempfile.NamedTemporaryFile(dir=home):
                pass
        elif not os.access(nearest, os.W_OK | os.X_OK):
            raise PermissionError(13, "it is not writable", str(nearest))
    except OSError as error:
        remedy = f"chown -R $USER '{nearest}', or set SOURCEBOOK_HOME to another folder"
        return fail("state folder", f"{home}: {error.strerror}", remedy)
    return ok("state folder", str(home) if home.exists() else f"{home}, made at the first ingest")


def check_disk(home: Path) -> Check:
    """Check the free space for the database and the model."""
    folder = nearest_folder(home)
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1e9:,.1f} GB free at {folder}"
    remedy = "free some space, or set SOURCEBOOK_HOME to a folder on another disk"
    too_little, little = FREE_BYTES
    if free < too_little:
        return fail("disk", detail, remedy)
    return warn("disk", detail, remedy) if free < little else ok("disk", detail)


def nearest_folder(path: Path) -> Path:
    """Return a folder, or its nearest existing parent."""
    return next((folder for folder in (path, *path.parents) if folder.is_dir()), Path("/"))


def check_browser() -> Check:
    """Look for Chromium; without it only pages that need scripts are missing."""
    found = find_chromium()
    if found is None:
        return warn("browser", "no Chromium was found; pages that need scripts cannot be rendered", REMEDY)
    if not os.access(found, os.X_OK):
        return warn("browser", f"{VARIABLE} is {found}, which is not a program", REMEDY)
    return ok("browser", f"{found}, for pages that need scripts")
