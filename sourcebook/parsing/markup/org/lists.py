"""Lists of Org: the indent of an item gives the level."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ITEM = re.compile(r"(?P<indent>[ ]*)(?P<marker>[-+]|(?<=[ ])\*|\d{1,9}[.)])(?:[ ]+(?P<text>.*)|)")
_COUNTER = re.compile(r"\[@(?:start:)?\w{1,9}\][ ]*")
_TERM = re.compile(r"(.{0,500}?\S)[ ]+::(?:[ ]+|$)")


@dataclass(frozen=True, slots=True)
class ListItem:
    """An item of a list: its lines without their common indent, nested items among them."""

    marker: str
    """Number or dash of the item in Markdown, with a space."""
    term: str
    """Term that a description list explains, in Org; "" elsewhere."""
    lines: Sequence[str]


def list_length(lines: Sequence[str], start: int) -> int:
    """Return the number of lines of the list that begins at `start`, which two blank lines or less indent end."""
    first = ITEM.fullmatch(lines[start])
    indent = len(first["indent"]) if first else 0
    end, blank = start + 1, 0
    last = end
    while end < len(lines) and blank < 2:
        line = lines[end]
        if not line.strip():
            blank += 1
        else:
            own = _indent(line)
            if own < indent or (own == indent and not ITEM.fullmatch(line)):
                break
            blank, last = 0, end + 1
        end += 1
    return last - start


def list_items(lines: Sequence[str]) -> Iterator[ListItem]:
    """Yield the items of the outermost level of a list."""
    first = ITEM.fullmatch(lines[0])
    indent = len(first["indent"]) if first else 0
    starts = [
        number
        for number, line in enumerate(lines)
        if line.strip() and _indent(line) <= indent and ITEM.fullmatch(line) is not None
    ]
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True), start=1):
        found = ITEM.fullmatch(lines[start])
        if found is None:
            continue
        text = _COUNTER.sub("", found["text"] or "", count=1)
        term = _TERM.match(text)
        is_numbered = found["marker"][-1] in ".)"
        yield ListItem(
            f"{number}. " if is_numbered else "- ",
            term[1] if term and not is_numbered else "",
            [text[term.end() :] if term and not is_numbered else text, *_dedented(lines[start + 1 : end], indent)],
        )


def _dedented(lines: Sequence[str], indent: int) -> list[str]:
    """Return the continuation of an item without the indent of its first line, deeper indents kept."""
    margin = min((_indent(line) for line in lines if line.strip()), default=indent)
    return [line[margin:] for line in lines]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
