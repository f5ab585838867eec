"""The web view of the Git checkout that a folder is in, read from its files without running git."""

import re
from collections.abc import Mapping
from configparser import ConfigParser, Error
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sourcebook.config.git_types import web_template
from sourcebook.git.remote import COMMIT

_SECTION: Final = re.compile(r'(?P<kind>remote|branch) "(?P<name>.*)"')
_LARGEST: Final = 10_000_000
"""Bytes of a file of Git's that is read."""


@dataclass(frozen=True, slots=True)
class WebView:
    """Where the files of a checkout are shown on the web."""

    link: str
    """Link to a file at a commit, with the place `{path}`; without user and password."""
    root: Path
    """The folder that paths begin in."""


def web_view(folder: Path) -> WebView | None:
    """Return the web view of the checkout that a folder is in; None without one.

    The commit is the one that the remote was last seen to have for the branch: the remote may not have a later one. A
    checkout of a commit alone has that.
    """
    try:
        return _web_view(folder)
    except (OSError, UnicodeDecodeError, Error):
        return None


def _web_view(folder: Path) -> WebView | None:
    root = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)
    if root is None:
        return None
    own, shared = _git_folders(root)
    settings = _settings(shared)
    head = _text(own / "HEAD").strip()
    branch = head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None
    tracked = settings.get(("branch", branch or ""), {})
    remote = tracked.get("remote", "origin")
    there = tracked.get("merge", f"refs/heads/{branch}").removeprefix("refs/heads/")
    commit = head if branch is None else _commit(shared, f"refs/remotes/{remote}/{there}")
    url = settings.get(("remote", remote), {}).get("url")
    template = web_template(url) if url else None
    if template is None or commit is None or not COMMIT.fullmatch(commit):
        return None
    return WebView(template.replace("{commit}", commit), root)


def _git_folders(root: Path) -> tuple[Path, Path]:
    """Return the folder of Git's files of a checkout, and the one that it shares with other checkouts."""
    own = root / ".git"
    if own.is_file():
        own = root / _text(own).removeprefix("gitdir:").strip()
    shared = own / "commondir"
    return own, own / _text(shared).strip() if shared.is_file() else own


def _settings(folder: Path) -> Mapping[tuple[str, str], Mapping[str, str]]:
    """Return the settings of remotes and branches by kind and name."""
    parser = ConfigParser(strict=False, interpolation=None, allow_no_value=True, comment_prefixes=("#", ";"))
    parser.read_string("\n".join(line.strip() for line in _text(folder / "config").splitlines()))
    return {
        (found["kind"], found["name"]): {key: value.strip('"') for key, value in parser.items(name) if value}
        for name in parser.sections()
        if (found := _SECTION.fullmatch(name))
    }


def _commit(folder: Path, reference: str) -> str | None:
    """Return the commit of a reference; None where there is none."""
    if ".." in reference:
        return None
    file = folder / reference
    if file.is_file():
        return _text(file).strip()
    packed = folder / "packed-refs"
    lines = _text(packed).splitlines() if packed.is_file() else []
    return next((line.partition(" ")[0] for line in lines if line.endswith(f" {reference}")), None)


def _text(file: Path) -> str:
    if file.stat().st_size > _LARGEST:
        raise OSError("the file is too large")
    return file.read_text(encoding="utf-8")
