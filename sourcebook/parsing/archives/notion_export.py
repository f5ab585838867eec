"""A Notion export among the files of an archive: its pages and tables without the ids in their names and links."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from sourcebook.parsing.archives.members import Member, Unread

PART: Final = re.compile(r"(?:.*/)?Export(?:Block)?-[\w-]+-Part-\d+\.zip")
"""Archive within an export, which is called anew each time."""
_ID: Final = re.compile(r"(?: |%20|\+)([0-9a-f]{32})(?=(?:_all)?[./)\"]|$)")
_NAMED: Final = re.compile(r".*[^/] [0-9a-f]{32}(?:_all)?\.(?:md|html|csv)")
_ALL: Final = re.compile(r"_all\.csv$")
"""Ending of a table with all its rows; beside it stands the part that a view shows."""


def is_notion(paths: Sequence[str]) -> bool:
    """Tell whether the pages and tables among paths are called as in an export."""
    pages = [path for path in paths if path.endswith((".md", ".html", ".csv"))]
    return bool(pages) and sum(_NAMED.fullmatch(path) is not None for path in pages) * 2 > len(pages)


def without_ids(members: Sequence[Member | Unread]) -> Iterator[Member | Unread]:
    """Yield the files with readable names; of two with one name each keeps its id. Links go to the new names."""
    held = [member for member in members if isinstance(member, Member)]
    views = {_ALL.sub(".csv", member.path) for member in held if _ALL.search(member.path)}
    taken = Counter(_shown(member.path).casefold() for member in held if member.path not in views)
    ids = {found for member in held for found in _ID.findall(member.path)}
    for one in held:
        if taken[_shown(one.path).casefold()] > 1:
            ids -= set(_ID.findall(one.path)[-1:])
    rename = partial(_ID.sub, lambda found: "" if found[1] in ids else found[0])
    for member in members:
        if isinstance(member, Unread):
            yield member
        elif member.path in views:
            yield Unread("that are views of tables, of which all rows are read")
        else:
            path = _ALL.sub(".csv", rename(member.path))
            is_page = path.endswith((".md", ".html"))
            yield Member(
                path, member.size, partial(_content, member.read, rename) if is_page else member.read, member.seal
            )


def _shown(path: str) -> str:
    return _ALL.sub(".csv", _ID.sub("", path))


def _content(read: Callable[[], bytes], rename: Callable[[str], str]) -> bytes:
    return rename(read().decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
