"""The patterns of a source: which paths below its root are listed."""

import re
from collections.abc import Callable, Sequence

from wcmatch import glob

EVERY_FILE = "**/*"
"""The default pattern, which needs no regular expression."""
_FLAGS = glob.GLOBSTAR | glob.BRACE | glob.FORCEUNIX


class PathFilter:
    """The include and exclude patterns of a source, applied to paths relative to its root with `/` between the parts.

    `*` stays within one part, `**` crosses parts, `{a,b}` is either. A name that begins with a dot is included only
    where a pattern spells the dot, which leaves out `.git`. A pattern that names a folder excludes its whole content.
    """

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._wanted = _is_visible if list(include) == [EVERY_FILE] else _compiled(include, _FLAGS)
        self._unwanted = _compiled(
            [*exclude, *(f"{pattern.rstrip('/')}/**" for pattern in exclude)], _FLAGS | glob.DOTGLOB
        )
        self._visits_hidden = any(re.search(r"(^|[/{,])\.[^./]", pattern) for pattern in include)

    def takes(self, path: str) -> bool:
        """Return whether the source includes a file."""
        return self._wanted(path) and not self._unwanted(path)

    def enters(self, path: str, name: str) -> bool:
        """Return whether the source may include files below a folder."""
        return (self._visits_hidden or not name.startswith(".")) and not self._unwanted(path)


def _is_visible(path: str) -> bool:
    return not path.startswith(".") and "/." not in path


def _compiled(patterns: Sequence[str], flags: int) -> Callable[[str], bool]:
    if not patterns:
        return lambda path: False
    return glob.compile(list(patterns), flags=flags).match
