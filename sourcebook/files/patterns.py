"""Include and exclude globs of a source."""

import re
from collections.abc import Callable, Sequence

from wcmatch import glob

_FLAGS = glob.GLOBSTAR | glob.BRACE | glob.FORCEUNIX


def path_filter(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool]:
    """Return a predicate: whether a source includes a path relative to its root, with `/` between the parts.

    `*` stays within one part, `**` crosses parts, `{a,b}` is either. A name that begins with a dot is included only
    where a pattern spells the dot, which leaves out `.git`. A pattern that names a folder excludes its whole content.
    """
    wanted = _compile(include, _FLAGS)
    unwanted = _compile([*exclude, *(f"{pattern.rstrip('/')}/**" for pattern in exclude)], _FLAGS | glob.DOTGLOB)

    def takes(path: str) -> bool:
        return wanted(path) and not unwanted(path)

    return takes


def visits_hidden_folders(include: Sequence[str]) -> bool:
    """Return whether some pattern can match below a folder whose name begins with a dot."""
    return any(re.search(r"(^|[/{,])\.[^./]", pattern) for pattern in include)


def _compile(patterns: Sequence[str], flags: int) -> Callable[[str], bool]:
    if not patterns:
        return lambda path: False
    return glob.compile(list(patterns), flags=flags).match
