"""Where YAML, TOML and code in most languages may be cut: at lines that begin something at the left margin."""

import re
from collections.abc import Iterator

from sourcebook.parsing.text.fenced import Cut

_YAML_KEY = re.compile(r"^(?:---.*|- |([^\s#\-\[\]{}:][^:\n]{0,200}):(?=\s|$)|[\"'\[{])", re.MULTILINE)
_TOML_TABLE = re.compile(r"^\[{1,2}([^\[\]\n]+)\]{1,2}[ \t]*(?:#.*)?$", re.MULTILINE)
_AFTER_BLANK_LINE = re.compile(r"(?<=\n)[ \t]*\n(?=[^\s)\]}])")


def yaml_cuts(text: str) -> Iterator[Cut]:
    """Yield where each top-level key or list entry begins, with its comment lines above."""
    for match in _YAML_KEY.finditer(text):
        yield above_comments(text, match.start()), (match[1] or "").strip("\"' ")


def toml_cuts(text: str) -> Iterator[Cut]:
    """Yield where each table begins, with its comment lines above."""
    for match in _TOML_TABLE.finditer(text):
        yield above_comments(text, match.start()), match[1].strip()


def margin_cuts(text: str) -> Iterator[Cut]:
    """Yield where, after a blank line, code begins at the left margin."""
    for match in _AFTER_BLANK_LINE.finditer(text):
        yield match.end(), ""


def above_comments(text: str, line_start: int) -> int:
    """Return where the unbroken run of comment lines above a line begins, or the line's own beginning."""
    while line_start > 0:
        previous = text.rfind("\n", 0, line_start - 1) + 1
        if not text.startswith("#", previous):
            break
        line_start = previous
    return line_start
