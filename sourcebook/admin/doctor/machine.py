"""Checks of Python, the state folder, its disk, the browser and the git command."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.admin.doctor.check import Check, fail, ok, warn
from sourcebook.errors import ListingError
from sourcebook.git.command import INSTALL, find_git
from sourcebook.web.browser.chromium import REMEDY, VARIABLE, find_chromium

if TYPE_CHECKING:
    from sourcebook.config.loading import Configuration

OLDEST_PYTHON = (3, 11)
OLDEST_GIT = (2, 29)
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


def check_git(configuration: Configuration | None) -> list[Check]:
    """Check the git command where a collection has a repository; no check otherwise."""
    if configuration is None or not any(each.repositories for each in configuration.collections.values()):
        return []
    try:
        git = find_git()
        said = subprocess.run([git, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout.strip()
    except ListingError as error:
        return [fail("git", str(error), INSTALL)]
    except (OSError, subprocess.SubprocessError) as error:
        return [fail("git", f"it does not start: {error}", INSTALL)]
    version = re.search(r"(\d+)\.(\d+)", said)
    if version is None or (int(version[1]), int(version[2])) < OLDEST_GIT:
        return [fail("git", said, f"install git {'.'.join(map(str, OLDEST_GIT))} or newer")]
    return [ok("git", f"{said.removeprefix('git version ')} at {git}")]
