"""Cuts of data files: between the members of JSON, at the keys of YAML and the tables of TOML."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

Cut = tuple[int, str]
"""Offset at which a block begins, and its title ("" where it has none)."""

_STRUCTURE = re.compile(r'"(?>(?:[^"\\]++|\\.)*)(?:"|\Z)|[\[\]{},]', re.DOTALL)
_KEY = re.compile(r'\s*[{\[]?\s*"((?>(?:[^"\\]|\\.){1,200}))"\s*:', re.DOTALL)
_YAML_KEY = re.compile(r"^(?:---.*|- |([^\s#\-\[\]{}:][^:\n]{0,200}):(?=\s|$)|[\"'\[{])", re.MULTILINE)
_TOML_TABLE = re.compile(r"^\[{1,2}([^\[\]\n]+)\]{1,2}[ \t]*(?:#.*)?$", re.MULTILINE)
_LONG = 2000
"""Characters of a JSON member above which its own members become blocks."""
_DEEPEST = 5
"""Nesting depth of JSON below which nothing is cut."""


def json_cuts(text: str) -> Iterator[Cut]:
    """Yield the start of each JSON member with its key, or of each line where brackets do not match.

    Members of the outermost object or array are cut apart; long members are cut again, inside them.
    """
    commas = _commas(text)
    if commas is None:
        yield from line_cuts(text)
        return
    for begin, end in _members(commas, 0, len(text), depth=0):
        key = _KEY.match(text, begin, min(end, begin + 300))
        yield begin, key[1] if key else ""


def line_cuts(text: str) -> Iterator[Cut]:
    """Yield the start of each line, for JSON Lines and broken JSON."""
    position = 0
    while 0 <= position < len(text):
        yield position, ""
        position = text.find("\n", position) + 1 or -1


def yaml_cuts(text: str) -> Iterator[Cut]:
    """Yield the start of each top-level YAML key or list entry, including the comment lines above it."""
    for match in _YAML_KEY.finditer(text):
        yield _above_comments(text, match.start()), (match[1] or "").strip("\"' ")


def toml_cuts(text: str) -> Iterator[Cut]:
    """Yield the start of each TOML table, including the comment lines above it."""
    for match in _TOML_TABLE.finditer(text):
        yield _above_comments(text, match.start()), match[1].strip()


def _commas(text: str) -> list[list[int]] | None:
    """Return the offsets behind the commas of each nesting depth, or None where brackets do not match."""
    commas: list[list[int]] = [[] for _ in range(_DEEPEST)]
    depth = 0
    for token in _STRUCTURE.finditer(text):
        match token[0]:
            case ",":
                if 0 < depth <= _DEEPEST:
                    commas[depth - 1].append(token.end())
            case "{" | "[":
                depth += 1
            case "}" | "]":
                depth -= 1
                if depth < 0:
                    return None
    return commas if depth == 0 else None


def _members(commas: list[list[int]], begin: int, end: int, *, depth: int) -> Iterator[tuple[int, int]]:
    if depth == _DEEPEST:
        yield begin, end
        return
    level = commas[depth]
    inside = level[bisect_right(level, begin) : bisect_left(level, end)]
    for start, stop in zip([begin, *inside], [*inside, end], strict=True):
        if stop - start > _LONG:
            yield from _members(commas, start, stop, depth=depth + 1)
        else:
            yield start, stop


def _above_comments(text: str, line_start: int) -> int:
    """Return the start of the unbroken run of comment lines above a line, or the line's own start."""
    while line_start > 0:
        previous = text.rfind("\n", 0, line_start - 1) + 1
        if not text.startswith("#", previous):
            break
        line_start = previous
    return line_start
