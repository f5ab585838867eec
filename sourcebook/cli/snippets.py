"""The snippet of a result as styled text for a terminal: highlights in bold, tables and code line by line."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sourcebook.cli.output import safe

if TYPE_CHECKING:
    from rich.text import Text

    from sourcebook.contract.search_results import SearchResult

_SPACES = re.compile(r"\s+")
_KEPT_LINES = re.compile(r"^(\s*\||\s*(```|~~~)| {4}|\t)", re.MULTILINE)
"""Lines that lose their meaning in one line: rows of tables, code."""
_HEADING = re.compile(r"#{1,6}[ \t]+(.*?)[ \t#]*\n\s*")


def snippet_text(result: "SearchResult") -> "Text":
    """Return the snippet with its highlights in bold, and with signs where the passage goes on before and behind it.

    Headings at its beginning are left out, as they are shown above it. Prose is one line, which the terminal breaks.
    """
    text, end = result.text, result.snippet_start + len(result.snippet)
    first = _behind_headings(result, 0, len(text))
    begin = _behind_headings(result, result.snippet_start, end)
    keeps_lines = _KEPT_LINES.search(text[begin:end]) is not None
    shown = safe("… " if begin > first else "")
    for piece, is_highlight in _pieces(result, begin, end):
        shown.append_text(safe(piece if keeps_lines else _SPACES.sub(" ", piece), "bold" if is_highlight else ""))
    if text[end:].strip():
        shown.append_text(safe("\n…" if keeps_lines else " …"))
    return shown


def _pieces(result: "SearchResult", begin: int, end: int) -> Iterator[tuple[str, bool]]:
    """Yield (part of the text, whether it is a highlight), which make up `text[begin:end]`."""
    reached = begin
    for start, stop in result.highlights:
        if begin <= start and stop <= end:
            yield result.text[reached:start], False
            yield result.text[start:stop], True
            reached = stop
    yield result.text[reached:end], False


def _behind_headings(result: "SearchResult", begin: int, end: int) -> int:
    """Return the start of `text[begin:end]` behind headings that are shown above the passage."""
    shown = {result.title, *result.heading_path}
    while (heading := _HEADING.match(result.text, begin, end)) and heading[1] in shown and heading.end() < end:
        begin = heading.end()
    return begin
