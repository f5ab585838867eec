"""Lists of AsciiDoc: the marker of an item, not its indent, gives the level."""

import re
from dataclasses import dataclass, field

_ITEM = re.compile(
    r"[ \t]*(?P<marker>\*{1,10}|-|\.{1,10}|\d{1,9}\.|[a-zA-Z]\.|[ivxlIVXL]{1,8}\)|<(?:\d{1,4}|\.)>)[ \t]+(?P<text>\S.*)"
)
_TERM = re.compile(r"[ \t]*(?P<text>\S(?:.{0,1000}?\S)?)(?P<marker>:{2,4}|;;)(?:[ \t]+(?P<rest>.*))?")
_DEEPEST = 12
"""Levels of nested lists."""


@dataclass(slots=True)
class ListItem:
    """An item of a list: its marker in AsciiDoc, its text and the attached blocks in Markdown."""

    marker: str
    text: str
    term: str = ""
    attached: list[str] = field(default_factory=list)


def list_item(line: str) -> ListItem | None:
    """Return the item that begins on a line, or None where none does."""
    if found := _ITEM.fullmatch(line):
        return ListItem(_kind(found["marker"]), found["text"])
    found = _TERM.fullmatch(line)
    if found and not line.lstrip().startswith(("//", "image::", "include::")):
        return ListItem(found["marker"], found["rest"] or "", term=found["text"])
    return None


def markdown_list(items: list[ListItem]) -> str:
    """Return items, whose text is Markdown already, as one Markdown list."""
    levels: list[str] = []
    indents: list[int] = []
    counts: list[int] = []
    lines: list[str] = []
    for item in items:
        if item.marker in levels:
            del levels[levels.index(item.marker) + 1 :]
        elif len(levels) < _DEEPEST:
            levels.append(item.marker)
        depth = len(levels)
        del counts[depth:], indents[depth:]
        counts += [0] * (depth - len(counts))
        counts[-1] += 1
        mark = f"{counts[-1]}. " if item.marker[0] in ".1ai<" else "- "
        indents += [sum(indents[-1:]) + len(mark)] * (depth - len(indents))
        margin = " " * (indents[-2] if depth > 1 else 0)
        inner = " " * indents[-1]
        text = ": ".join(part for part in (f"**{item.term}**" if item.term else "", item.text) if part)
        lines.append(f"{margin}{mark}" + text.replace("\n", f"\n{inner}"))
        for block in item.attached:
            lines += ["", *(f"{inner}{line}" if line else "" for line in block.split("\n"))]
    return "\n".join(line.rstrip() if not line.endswith("  ") else line for line in lines)


def _kind(marker: str) -> str:
    """Return the kind of a marker: numbers or letters of one list are one kind."""
    if marker[0] == "<":
        return "<"
    if marker[-1] in ".)" and marker[0] != ".":
        return "1" if marker[0].isdigit() else "i" if marker[-1] == ")" else "a"
    return marker
