"""Paths of files in archives, which whoever packed them may have chosen to do harm."""

import re
from unicodedata import category

from sourcebook.parsing.archives.members import LONGEST_PATH, Unread

_DRIVE = re.compile(r"[A-Za-z]:")
_NOT_SHOWN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_OUTSIDE = Unread("with a path out of the archive")
_HIDDEN = Unread("that are hidden")


def member_path(name: str) -> str | Unread:
    """Return the path of a file below its archive, or the reason why it is not read.

    Hidden files are left out as they are in folders, and so are the notes of macOS beside files.
    """
    name = name.replace("\\", "/")
    visible = "".join(letter for letter in name if category(letter) not in _NOT_SHOWN)
    if visible.startswith("/") or _DRIVE.match(visible):
        return _OUTSIDE
    parts = [part for part in visible.split("/") if part not in {"", "."}]
    if ".." in parts:
        return _OUTSIDE
    if not parts or len(visible) > LONGEST_PATH:
        return Unread("without a usable name")
    if parts[0] == "__MACOSX" or any(part.startswith(".") for part in parts):
        return _HIDDEN
    return "/".join(parts)


def unique_path(path: str, taken: set[str]) -> str:
    """Return a path that no file has yet, and take it; the second of a name becomes "name (2).txt"."""
    found, number = path, 2
    while found.casefold() in taken:
        folder, slash, name = path.rpartition("/")
        stem, dot, ending = name.rpartition(".")
        found = f"{folder}{slash}{stem or ending} ({number}){dot if stem else ''}{ending if stem else ''}"
        number += 1
    taken.add(found.casefold())
    return found
