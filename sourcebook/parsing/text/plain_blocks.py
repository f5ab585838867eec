"""Top-level blocks of Markdown that the beginnings of its lines tell, without a parser.

markdown-it reads what is inside lists, tables and quotations, too, which takes ten times as long. Converted pages and
most files of authors are plain enough; for any other text this module gives up, and the parser reads it.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from sourcebook.model.document import BlockKind


class PlainBlock(NamedTuple):
    """A block `text[start:end]`, perhaps with white space at its end."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """1 to 6 for a heading, 0 otherwise."""
    title: str = ""
    """Inline Markdown of a heading."""


# Atomic groups, as Python before 3.11.5 ends `(?:…)*+` wrongly where a group begins to match and fails.
_BLANK: Final = re.compile(r"(?>(?:[ \t]*+\n)*)(?:[ \t]++\Z)?")
_BLANK_LINE_OR_END: Final = re.compile(r"\n?+[ \t]*+(?:\n|\Z)")
# Beginnings of a line that is no list item, rule, fence, quotation, raw HTML or line below a heading.
_TEXT: Final = (
    r"\*++[^\s*]|`{1,2}[^`\n]|~{1,2}[^~\n]|\#++[^\s#]|[-+]++[^\s+-]|\d++(?:[.)]\S|(?![\d.)]))|_[^\W_]"
    r"|<(?:https?|mailto):"
)
_PARAGRAPH: Final = re.compile(
    rf"(?:[^\s#>*+\-\d`~<_]|{_TEXT})[^\n]*+(?>(?:\n(?:[^\s#>*+\-\d`~<=|:_]|{_TEXT})[^\n]*+)*)"
)
_INTERRUPTION: Final = re.compile(r"\n(?:>|[-*+] {1,4}\S|1[.)] {1,4}\S|\#{1,6}(?:[ \t\n]|\Z)|`{3,}[^`\n]*(?:\n|\Z))")
"""Lines that end a paragraph; one of hyphens alone would make it a heading."""
_BELOW_HEADER: Final = re.compile(r"\n[ ]{0,3}(?:[|:]|-[^ \t\n])")
"""Beginning of the second line of a table."""
_HEADING: Final = re.compile(r"(\#{1,6})(?=[ \t\n]|\Z)([^\n]*+)")
_RULE: Final = re.compile(r"(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_FENCE: Final = re.compile(r"(`{3,})[^`|\n]*$|(~{3,})[^|\n]*$", re.MULTILINE)
_FENCE_END: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_QUOTE: Final = re.compile(r"(?>(?:>[^\n]*+(?:\n|\Z))+)")
_ITEM: Final = re.compile(
    r"(?:(?P<bullet>[-*+])|\d{1,9}(?P<sign>[.)])) {1,4}(?=\S)(?!(?:(?:(?P=bullet)[ \t]*){2,})$)", re.MULTILINE
)
_EMPTY_ITEM: Final = re.compile(r"[-*+](?!\S)|\d{1,9}[.)](?!\S)|-{2}|\*{2}[ \t]")
"""Beginning of an item that has no text on its line or much white space before it, or of a rule."""
_INDENT: Final = re.compile(" *")
_MOST_INDENTED: Final = 3
"""Spaces before a line that is no code."""
_MARKERS: Final = frozenset("*-+0123456789\t")
"""Beginnings of list items, and a tab, which may indent one."""
_MOST_NESTED: Final = re.compile(r"^[ \t>*+\-\d.)]{16,}[>*+\-.)]", re.MULTILINE)
"""Lines that may be nested more deeply than markdown-it reads."""
_TABLE: Final = re.compile(r"(\|[^\n]*\|)[ \t]*\n(\|(?>(?:[ \t]*+:?-++:?[ \t]*+\|)+))[ \t]*(?>(?:\n\|[^\n]*+)*)")
_MOST_CELLS: Final = 50_000
"""Cells of a table to which markdown-it may add empty ones, up to a limit."""


def plain_blocks(text: str) -> list[PlainBlock] | None:
    """Return the top-level blocks of CommonMark with tables; None where only a parser can tell them."""
    if "\r" in text:
        return None
    found: list[PlainBlock] = []
    place = _end(_BLANK, text, 0)
    while place < len(text):
        start = place
        place = _end(_INDENT, text, start)
        if place - start > _MOST_INDENTED or (place > start and _ITEM.match(text, place) is not None):
            return None
        block = _READERS.get(text[place : place + 1], _paragraph)(text, place)
        if block is None:
            return None
        found.append(block)
        place = _end(_BLANK, text, min(block.end + 1, len(text)))
    return found


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    match = pattern.match(text, place)
    return place if match is None else match.end()


def _ends_at(text: str, place: int) -> bool:
    """Whether a line that ends here is followed by an empty line, or is the last one."""
    return _BLANK_LINE_OR_END.match(text, place) is not None


def _may_be_header(text: str, place: int, end: int) -> bool:
    """Whether a line may be the first one of a table."""
    return "|" in text[place:end] and _BELOW_HEADER.match(text, end) is not None


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _paragraph(text: str, place: int) -> PlainBlock | None:
    found = _PARAGRAPH.match(text, place)
    if found is None or not (_ends_at(text, found.end()) or _INTERRUPTION.match(text, found.end())):
        return None
    if text[place] == "[" and "]:" in found[0]:
        return None  # perhaps the target of links
    return PlainBlock("paragraph", place, found.end())


def _heading(text: str, place: int) -> PlainBlock | None:
    found = _HEADING.match(text, place)
    if found is None:
        return _paragraph(text, place)
    title = found[2].rstrip(" \t")
    without_signs = title.rstrip("#")
    if without_signs.endswith((" ", "\t")):
        title = without_signs
    if _may_be_header(text, place, found.end()):
        return None
    return PlainBlock("heading", place, found.end(), len(found[1]), title.strip())


def _fence(text: str, place: int) -> PlainBlock | None:
    opening = _FENCE.match(text, place)
    if opening is None:
        return _paragraph(text, place)
    sign = opening[1] or opening[2]
    for closing in _FENCE_END.finditer(text, opening.end()):
        if closing[1].startswith(sign):
            return PlainBlock("code", place, closing.end())
    return None


def _quote(text: str, place: int) -> PlainBlock | None:
    found = _QUOTE.match(text, place)
    if found is None:
        return None
    end = found.end() - 1 if text[found.end() - 1] == "\n" else found.end()
    return PlainBlock("quote", place, end) if _ends_at(text, end) else None


def _table(text: str, place: int) -> PlainBlock | None:
    found = _TABLE.match(text, place)
    if found is None:
        return _paragraph(text, place)
    columns = found[2].count("|") - 1
    header = found[1].count("|") - found[1].count("\\|") - 1
    if header != columns or found[1].endswith("\\|") or not _ends_at(text, found.end()):
        return None
    if columns * found[0].count("\n") > _MOST_CELLS:
        return None
    return PlainBlock("table", place, found.end())


def _rule_or_text(text: str, place: int) -> PlainBlock | None:
    rule = _RULE.match(text, place)
    return _paragraph(text, place) if rule is None else PlainBlock("paragraph", place, rule.end())


def _list(text: str, place: int) -> PlainBlock | None:
    item = _ITEM.match(text, place)
    if item is None:
        return _rule_or_text(text, place)
    end = _list_end(text, place, item)
    if end is None or _MOST_NESTED.search(text, place, end) is not None:
        return None
    return PlainBlock("list", place, end)


def _ends_list(text: str, place: int, indent: int) -> bool:
    """Whether a line that is no item surely belongs to no list."""
    if indent:
        return indent <= _MOST_INDENTED and text[place] not in _MARKERS
    return text[place] != "\t" and (_EMPTY_ITEM.match(text, place) is None or _RULE.match(text, place) is not None)


def _list_end(text: str, place: int, item: re.Match[str]) -> int | None:
    """Return the end of the last line of a list with a first item; None where lines of its paragraphs are outdented."""
    marker, width = item.group("bullet", "sign"), item.end() - place
    end = _line_end(text, place)
    if _may_be_header(text, place, end):
        return None
    is_after_blank = False
    start = end + 1
    while start < len(text):
        first, line_end = _end(_INDENT, text, start), _line_end(text, start)
        indent = first - start
        next_item = None if indent else _ITEM.match(text, start)
        if first == line_end:
            is_after_blank = True
        elif indent >= width:
            end, is_after_blank = line_end, False
        elif next_item is not None and next_item.group("bullet", "sign") == marker:
            end, is_after_blank, width = line_end, False, next_item.end() - start
        elif is_after_blank and (next_item is not None or _ends_list(text, first, indent)):
            break
        else:
            return None
        start = line_end + 1
    return end


_READERS: Final[dict[str, Callable[[str, int], PlainBlock | None]]] = {
    "#": _heading,
    ">": _quote,
    "`": _fence,
    "~": _fence,
    "|": _table,
    "_": _rule_or_text,
    **dict.fromkeys(_MARKERS - {"\t"}, _list),
}
