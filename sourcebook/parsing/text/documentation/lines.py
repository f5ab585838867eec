"""Lines of blocks: their indent, their options, the lines that close them, tags over several lines."""

import re
from collections.abc import Sequence
from typing import Final

from sourcebook.parsing.text.documentation.tags import CLOSING, OPENING
from sourcebook.parsing.text.documentation.verbatim import code_end

_OPTION: Final = re.compile(r"[ \t]*:?[\w-]+:(?:[ \t].*)?$")
_MOST_JOINED: Final = 60
"""Lines of a component's opening tag."""
_MOST_FAILURES: Final = 100
"""Tags without an end, after which none is looked for: the time would grow with the square of their number."""


def logical_lines(text: str) -> list[str]:
    """Return the lines of a text, with the opening tags of components on one line each."""
    lines = text.removesuffix("\n").split("\n")
    if re.search(r"^[ \t]*<[A-Z][^>\n]*$", text, re.MULTILINE) is None:
        return lines
    joined: list[str] = []
    place = failures = 0
    while place < len(lines):
        end = code_end(lines, place) or place + 1
        indent, line = split_indent(lines[place])
        if end == place + 1 and line[:1] == "<" and line[1:2].isupper() and ">" not in line:
            whole, behind = _whole_tag(lines, place) if failures < _MOST_FAILURES else (None, place)
            if whole is not None:
                joined.append(indent + whole)
                place = behind
                continue
            failures += 1
        joined += lines[place:end]
        place = end
    return joined


def _whole_tag(lines: Sequence[str], place: int) -> tuple[str | None, int]:
    """Return the line with a tag that begins at a line, and the line behind it; None where it does not end."""
    whole = lines[place].strip()
    for after in range(place + 1, min(place + _MOST_JOINED, len(lines))):
        if not lines[after].strip():
            break
        whole = f"{whole} {lines[after].strip()}"
        if OPENING.match(whole) is not None:
            return whole, after + 1
    return None, place


def split_indent(line: str) -> tuple[str, str]:
    """Return the indent of a line, and the rest."""
    stripped = line.lstrip(" \t")
    return line[: len(line) - len(stripped)], stripped


def indented_body(lines: Sequence[str], place: int) -> tuple[list[str], int]:
    """Return the lines below a head that are indented by four more, without that indent, and the line behind them."""
    indent = split_indent(lines[place])[0]
    body: list[str] = []
    for line in lines[place + 1 :]:
        rest = line.removeprefix(indent) if line.startswith(indent) else line
        if not line.strip():
            body.append("")
        elif line.startswith(indent) and rest.startswith(("    ", "\t")):
            body.append(rest[4:] if rest[0] == " " else rest[1:])
        else:
            break
    while body and not body[-1]:
        body.pop()
    return body, place + 1 + len(body)


def without_margin(lines: Sequence[str]) -> list[str]:
    """Return lines without the indent that they have in common."""
    margin = min((len(split_indent(line)[0]) for line in lines if line.strip()), default=0)
    return [line[margin:] for line in lines]


def behind_options(lines: Sequence[str], place: int) -> int:
    """Return the line behind the indented options of a block."""
    while place < len(lines) and lines[place].startswith("    ") and _OPTION.match(lines[place]) is not None:
        place += 1
        while place < len(lines) and lines[place].startswith("      "):
            place += 1
    return place


def closing_lines(lines: Sequence[str]) -> dict[int, int]:
    """Return the closing lines of blocks by their opening ones: of containers, blocks of pymdownx and components."""
    opened: dict[str, list[int]] = {}
    found: dict[int, int] = {}
    place = 0
    while place < len(lines):
        if (end := code_end(lines, place)) is not None:
            place = end
            continue
        key, closes = _mark(lines[place].strip())
        if closes and opened.get(key):
            found[opened[key].pop()] = place
        elif key and not closes:
            opened.setdefault(key, []).append(place)
        place += 1
    return found


def _mark(line: str) -> tuple[str, bool]:
    """Return what a line opens or closes, "" for nothing, and whether it closes it."""
    if line.startswith(":::"):
        return ":", not line.strip(":")
    if line.startswith("///"):
        name = line.lstrip("/")
        return line[: len(line) - len(name)], not name
    if line.startswith("</"):
        closing = CLOSING.fullmatch(line)
        return (closing[1], True) if closing is not None else ("", False)
    if line.startswith("<") and (tag := OPENING.fullmatch(line)) is not None and not tag["name_end"]:
        return tag["name"], False
    return "", False
