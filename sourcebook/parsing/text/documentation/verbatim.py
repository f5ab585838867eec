"""Lines that are no prose: code, imports and exports of MDX, and blocks of Liquid, Hugo and kramdown."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_FENCE: Final = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})")
_HTML: Final = re.compile(r"[ ]{0,3}<(pre|script|style|textarea)(?=[\s>])", re.IGNORECASE)
_IMPORT: Final = re.compile(r"import\s+(?:(?P<names>[\w*{}\s,$]+?)\s+from\s+)?[\"'](?P<file>[^\"'\n]+)[\"']\s*;?\s*$")
_EXPORT: Final = re.compile(r"export\s+(?:const|let|var|function|async|default|class)\b|export\s*[{*]")
_MARKDOWN: Final = re.compile(r"\.mdx?$", re.IGNORECASE)
_OPENED, _CLOSED = frozenset("([{"), frozenset(")]}")
_MOST_LINES: Final = 300
"""Lines of an export."""
_MOST_IMPORTED: Final = 30
"""Lines of an import."""
_RAW: Final = (
    (
        re.compile(r"\{%-?[ \t]*highlight[ \t]+(?P<language>[\w+#-]+)[^\n]*?-?%\}[ \t]*$"),
        re.compile(r"[ \t]*\{%-?[ \t]*endhighlight[ \t]*-?%\}[ \t]*$"),
    ),
    (
        re.compile(r"\{\{[<%][ \t]*highlight[ \t]+\"?(?P<language>[\w+#-]+)[^\n]*?[%>]\}\}[ \t]*$"),
        re.compile(r"[ \t]*\{\{[<%][ \t]*/[ \t]*highlight[ \t]*[%>]\}\}[ \t]*$"),
    ),
    (
        re.compile(r"\{%-?[ \t]*comment[ \t]*-?%\}[ \t]*$"),
        re.compile(r"[ \t]*\{%-?[ \t]*endcomment[ \t]*-?%\}[ \t]*$"),
    ),
    (re.compile(r"\{::comment\}[ \t]*$"), re.compile(r"[ \t]*\{:/(?:comment)?\}[ \t]*$")),
)
"""First and last lines of blocks whose content is code, or a comment, which has no language."""


class RawBlock(NamedTuple):
    """A block that is not read."""

    lines: list[str]
    """Its lines as Markdown; none for a comment."""
    end: int
    """Number of the line behind it."""


def code_end(lines: Sequence[str], place: int) -> int | None:
    """Return the line behind the fenced code, or code in HTML, that begins at a line; None where none does."""
    line = lines[place]
    if "```" not in line and "~~~" not in line:
        html = _HTML.match(line) if "<" in line else None
        return None if html is None else _html_end(lines, place, f"</{html[1].lower()}>")
    found = _FENCE.match(line)
    if found is None:
        return None
    fence = found[1]
    for end in range(place + 1, len(lines)):
        closing = lines[end].strip()
        if closing.startswith(fence) and not closing.strip(fence[0]):
            return end + 1
    return len(lines)


def _html_end(lines: Sequence[str], place: int, closing: str) -> int:
    for end in range(place, len(lines)):
        if closing in lines[end].lower():
            return end + 1
    return len(lines)


def imported_lines(lines: Sequence[str], place: int, imported: dict[str, str]) -> int | None:
    """Return the line behind an import, and keep the Markdown files that it names; None for another line."""
    for end in range(place + 1, min(place + _MOST_IMPORTED, len(lines)) + 1):
        found = _IMPORT.match("\n".join(lines[place:end]))
        if found is not None:
            if _MARKDOWN.search(found["file"]) and found["names"]:
                imported[found["names"].strip()] = found["file"]
            return end
        if "{" not in lines[place] or not lines[end - 1].strip():
            return None
    return None


def exported_lines(lines: Sequence[str], place: int) -> int | None:
    """Return the line behind an export, whose brackets close before a blank line; None for another line."""
    if _EXPORT.match(lines[place]) is None:
        return None
    open_brackets = 0
    for end in range(place, min(place + _MOST_LINES, len(lines))):
        line = lines[end]
        open_brackets += sum(letter in _OPENED for letter in line) - sum(letter in _CLOSED for letter in line)
        if open_brackets <= 0 and (end + 1 == len(lines) or not lines[end + 1].strip()):
            return end + 1
    return None


def raw_block(lines: Sequence[str], place: int) -> RawBlock | None:
    """Return the block of code or comment in a tool's own marks that begins at a line; None where none does."""
    stripped = lines[place].strip()
    for first, last in _RAW:
        found = first.match(stripped)
        if found is None:
            continue
        for end in range(place + 1, len(lines)):
            if last.match(lines[end]) is not None:
                language = found.groupdict().get("language")
                if language is None:
                    return RawBlock([], end + 1)
                return RawBlock([f"```{language}", *lines[place + 1 : end], "```"], end + 1)
    return None
