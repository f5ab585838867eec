"""Paths of the configuration and of the state folder, found without the settings' own packages."""

import os
from pathlib import Path


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
