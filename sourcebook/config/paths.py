"""Paths of the configuration and of the state folder, and this folder, without the settings' own packages."""

import os
import stat
from pathlib import Path
from typing import Final


def expand_user(path: str) -> str:
    """Return a path with a leading `~` replaced by the home folder; unchanged where the user is unknown."""
    return os.path.expanduser(path)  # noqa: PTH111 - pathlib's raises where the user is unknown


def configuration_path(path: Path | None = None) -> Path:
    """Return the absolute path of the configuration; the file need not exist.

    Args:
        path: the path that was named; None for the one in SOURCEBOOK_CONFIG, or else `./sourcebook.yaml`.
    """
    named = path or os.environ.get("SOURCEBOOK_CONFIG") or "sourcebook.yaml"
    return Path.cwd() / expand_user(os.fspath(named))


def sourcebook_home(configuration_path: Path) -> Path:
    """Return the state folder: SOURCEBOOK_HOME, or else `.sourcebook/` beside the configuration."""
    named = os.environ.get("SOURCEBOOK_HOME")
    return Path.cwd() / expand_user(named) if named else Path.cwd() / configuration_path.parent / ".sourcebook"


PRIVATE: Final = 0o700
"""Mode of the state folder and of the folders in it."""
_NAMES: Final = {".gitignore", "crawl4ai", "dagster", "git", "models", "postgres", "uploads"}
_PREFIXES: Final = ("postgres.", "up.")
"""Names of what Sourcebook keeps in a state folder; a folder with anything else keeps its mode."""


def make_private_folder(folder: Path) -> None:
    """Create a folder of the state, or the state folder itself, with the mode 0700; an older one gets this mode.

    Raises:
        OSError: the folder cannot be created.
    """
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=PRIVATE, exist_ok=True)
        return
    found = folder.stat()
    if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) != PRIVATE:
        folder.chmod(PRIVATE)


def make_state_folder(home: Path) -> None:
    """Create the state folder with the mode 0700; one that Sourcebook alone has filled gets this mode.

    A folder with other contents, such as a home directory, keeps its mode.

    Raises:
        OSError: the folder cannot be created.
    """
    if not home.is_dir() or holds_state_only(home):
        make_private_folder(home)


def holds_state_only(home: Path) -> bool:
    """Whether a folder holds nothing but the state of Sourcebook."""
    return home.name == ".sourcebook" or all(
        entry.name in _NAMES or entry.name.startswith(_PREFIXES) for entry in home.iterdir()
    )
