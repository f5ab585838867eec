"""Top-level blocks of Markdown whose kind and end their first lines and an empty line show.

markdown-it takes a text apart line by line in Python, which is a fifth of the work on a converted page. Most blocks of
such pages are headings, paragraphs of one line, fenced code, tables and lists whose lines are indented; these need no
parser, and the parser reads the others.
"""

import re
from dataclasses import dataclass
from typing import Final

from sourcebook.model.document import BlockKind

_END: Final = r"(?:\n|\Z)"
_TEXT: Final = r"(?:[^\s\-+*0-9_=:>|`~<\[\#]|\*\w|\*\*[^\s*]|`[^`\n])[^\n]*+"
"""A line that begins no list item, rule, fence, quotation, part of a table or definition of a link's target."""
_ITEM: Final = rf"(?=\S)[^\n]*+{_END}"
_PLAIN_BLOCK: Final = re.compile(
    rf"""
      (?P<heading>(?P<level>\#{{1,6}})[ \t]++(?P<title>[^\n]*[^\s\#]))[ \t]*+{_END}
    | (?P<paragraph>{_TEXT}(?:\n{_TEXT})*+|\[(?![^\n]*\]:)[^\n]*+) (?:\Z|\n(?=[ \t]*+{_END}|>))
    | (?P<quote>(?:>[^\n]*+{_END})++) (?=[ \t]*+{_END})
    | (?P<list>
          (?:-[ ](?![- \t]*+{_END}){_ITEM} (?:[ \t]*+\n|[ ]{{2}}[^\n]++{_END})*+)++
        | (?:[0-9]\.[ ]{_ITEM} (?:[ \t]*+\n|[ ]{{3}}[^\n]++{_END})*+
           | [0-9]{{2}}\.[ ]{_ITEM} (?:[ \t]*+\n|[ ]{{4}}[^\n]++{_END})*+)++
      ) (?:\Z|(?<=\n\n)(?![-+*0-9 \t]))
    | (?P<table>(?P<header>\|[^\n]*(?<!\\)\|)\n(?P<rule>\|(?:[ ]*+:?-++:?[ ]*+\|)++){_END}
          (?P<rows>(?:\|[^\n]*+{_END})*+)) (?=[ \t]*+{_END})
    | (?P<code>(?P<fence>`{{3,}}+)[^`\n]*+{_END})
    """,
    re.VERBOSE,
)
"""The lines of a list that begin no item are indented as far as the text of their item. An empty line and one without
an indent follow the list."""
_WHOLE_MATCHES: Final[dict[str | None, BlockKind]] = {"paragraph": "paragraph", "list": "list", "quote": "quote"}
"""Kinds of blocks that are all that the pattern matched, by its groups."""
_FENCE_END: Final = re.compile(r"^[ ]{0,3}(`{3,})[ \t]*$", re.MULTILINE)
_EMPTY_LINES: Final = re.compile(r"(?:[ \t]*+\n)*+(?:[ \t]*+\Z)?")
_UNESCAPED_BAR: Final = re.compile(r"(?<!\\)\|")
_MOST_CELLS: Final = 60_000
"""Cells of a table beyond which markdown-it may end it."""
_NEXT_BLOCK: Final = re.compile(r"\n[ \t]*\n(?=[^\s\-+*0-9]|\*\*)")
"""An empty line and a line that begins no list item and is not indented: lists, quotations and paragraphs end there."""
_REACHES_FAR: Final = re.compile(
    r"^[ ]{0,3}(?:```|~~~|<(?:[!?]|script|pre|style|textarea))", re.MULTILINE | re.IGNORECASE
)
"""A line that begins a block which may hold empty lines."""


@dataclass(frozen=True, slots=True)
class PlainBlock:
    """A block that needs no parser."""

    kind: BlockKind
    start: int
    end: int
    """End of the last line of the block, its white space included."""
    level: int = 0
    title: str = ""
    """Markdown of a heading's text."""


def plain_block(text: str, start: int, end: int) -> PlainBlock | None:
    """Return the block that begins a line; None where only a parser can tell.

    The blocks are those of markdown-it; only lists nested ten deep end where they do, and not with the text.

    Args:
        text: Markdown.
        start: beginning of a line at which no other block is open.
        end: end of the text, where it has a next section.
    """
    found = _PLAIN_BLOCK.match(text, start, end)
    if found is None:
        return None
    kind = found.lastgroup
    if kind == "heading":
        return PlainBlock("heading", start, found.end("heading"), len(found["level"]), found["title"])
    if kind in _WHOLE_MATCHES:
        return PlainBlock(_WHOLE_MATCHES[kind], start, found.end())
    if kind == "code":
        closings = _FENCE_END.finditer(text, found.end(), end)
        closing = next((each for each in closings if len(each[1]) >= len(found["fence"])), None)
        return PlainBlock("code", start, end if closing is None else closing.end())
    columns = found["rule"].count("|") - 1
    is_table = (
        columns == len(_UNESCAPED_BAR.findall(found["header"])) - 1
        and columns * found["rows"].count("\n") < _MOST_CELLS
    )
    return PlainBlock("table", start, found.end()) if is_table else None


def after_empty_lines(text: str, start: int, end: int) -> int:
    """Return the beginning of the next line that is not empty, or the end."""
    found = _EMPTY_LINES.match(text, start, end)
    return start if found is None else found.end()


def end_of_other(text: str, start: int, end: int) -> int:
    """Return a place after `start` at which no block is open, whatever blocks begin at `start`."""
    found = _NEXT_BLOCK.search(text, start, end)
    if found is None or _REACHES_FAR.search(text, start, found.end()) is not None:
        return end
    return found.end()
