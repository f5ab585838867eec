"""Paragraphs, list items, headings, code and captions, grouped from the rows of a column."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from statistics import median

from sourcebook.parsing.pdf.layout.elements import Element, Place, Row, Table
from sourcebook.parsing.pdf.layout.form_fields import Entry, entry_element
from sourcebook.parsing.pdf.layout.headings.headings import (
    extends_number,
    is_caption,
    is_heading,
    is_numbered,
    is_numbered_in_bold,
    is_section_title,
    is_set_apart,
    is_titled_by_number,
)
from sourcebook.parsing.pdf.layout.lines.rows import joined
from sourcebook.parsing.pdf.layout.lines.text_style import TextStyle
from sourcebook.parsing.pdf.layout.measures import ONE_SIZE, WIDER_SPACE, around
from sourcebook.parsing.pdf.layout.page_parts import Line
from sourcebook.parsing.pdf.layout.paragraphs.inline_code import with_inline_code
from sourcebook.parsing.pdf.layout.paragraphs.monospaced_prose import is_numbered_title, is_prose
from sourcebook.parsing.pdf.layout.words.line_joining import is_divided, joined_text
from sourcebook.parsing.pdf.layout.words.list_marks import ListMark, list_mark
from sourcebook.parsing.pdf.layout.words.sentences import LINKING_WORD, STOPS
from sourcebook.parsing.text.east_asian import is_east_asian

_SENTENCE_END = re.compile(rf"""[{STOPS}:;؛]["'”’»)\]]*$""")
_UNFINISHED = re.compile(rf"(?:,|{LINKING_WORD})$")
_WIDEST_MARK = 3.0
"""Largest distance from the mark of a list item to its text, in font sizes [0078]."""
_ALSO_DASHES = frozenset({"bullet -", "bullet –", "bullet —", "bullet o", "bullet *"})
_WIDEST_IN_HEADING = 8.0
"""Largest gap between the parts of a heading, such as number and title, in font sizes [first]."""
_INNER_TITLE = 1.1
"""Ratio of font sizes above which two titles below each other are those of a section and of one within it [0080]."""
_ABOVE_INNER = 0.7
"""Smallest white space above a title within a section, in font sizes; lines of one title are closer [0080]."""
_BELOW_TITLE = 1.15
"""Distance of a line below a numbered title that parts them, in usual distances [0076]."""
_MOST_TITLE_LINES = 3
"""Most lines of a numbered title that may be indented to its text [library]."""
_SHORT_TITLE = 0.25
"""White space behind a line of a title that ends it, as a share of the column's width [library]."""
_WIDEST_INDENT = 80
"""Most characters by which a line of code is indented [first]."""
_LONGEST_RUN_IN = 80
"""Most characters of such a heading [library]."""
_WIDEST_BEHIND = 3.0
"""Widest space behind it, in font sizes; cells of tables are farther apart [library]."""
_FLUSH = 0.3
"""Largest distance between the left edges of the first two lines, in font sizes; definitions are indented [library]."""


@dataclass(frozen=True, slots=True)
class Context:
    """Facts about the whole document that its paragraphs depend on."""

    style: TextStyle
    outline: AbstractSet[str]
    """Plain titles of the file's outline."""
    hyphenated: AbstractSet[str]
    """Words that the document writes with a hyphen within a line."""
    from_right: bool = False
    """Whether lines begin at the right; such lines are mirrored, so that they begin at their left edge."""
    monospaced: bool = False
    """Whether the whole document is monospaced, so that not all of it is code."""
    cover: bool = False
    """Whether the page has no running text, so that only its largest lines are headings."""
    right: float = 0.0
    """Right edge of the column with its tables."""


@dataclass(slots=True)
class _Group:
    rows: list[Row]
    mark: ListMark | None


def elements(
    items: Sequence[Row | Table | Entry], *, page: int, left: float, right: float, context: Context
) -> Iterator[Element | Table]:
    """Yield the elements and tables of a column in their order.

    Args:
        items: rows, tables and entries of the column, from the top.
        page: number of the page.
        left: left edge of the column, in points.
        right: right edge of the column, in points.
        context: facts about the document.
    """
    group: _Group | None = None
    last_mark: ListMark | None = None
    texts = [item for item in items if isinstance(item, Row)]
    edge = _right_edge(texts, right)
    if not context.monospaced:
        items = with_inline_code(items, edge, context.style)
    for index, item in enumerate(items):
        if isinstance(item, Table | Entry):
            if group is not None:
                yield from _elements_of(group, page, (left, edge), context)
            group = None
            yield item if isinstance(item, Table) else entry_element(item, page, (left, edge))
            continue
        following = items[index + 1] if index + 1 < len(items) else None
        mark = None if item.line.monospaced else list_mark(item.line.text)
        begins = group is None or _begins(group, item, following, edge, context)
        if mark is not None and group is not None and not begins and not _plausible(mark, last_mark, group, item.line):
            mark = None
        if group is not None and (begins or mark is not None):
            yield from _elements_of(group, page, (left, edge), context)
            group = None
        if group is None:
            group = _Group([item], mark)
            last_mark = mark or last_mark
        else:
            group.rows.append(item)
    if group is not None:
        yield from _elements_of(group, page, (left, edge), context)


def _right_edge(rows: Sequence[Row], right: float) -> float:
    rights = sorted(row.line.right for row in rows)
    return rights[int(0.9 * (len(rights) - 1))] if rights else right


def _plausible(mark: ListMark, last: ListMark | None, group: _Group, line: Line) -> bool:
    """Tell whether a mark within a paragraph begins a list item: the first of a list, or the next one."""
    if mark.number is None:
        if mark.style not in _ALSO_DASHES:
            return True
        moved = abs(line.left - group.rows[-1].line.left) > 0.4 * line.size
        return (last is not None and last.style == mark.style) or (group.mark is not None and moved)
    follows = last is not None and last.style == mark.style and last.number == mark.number - 1
    return follows or mark.number == 1


def _begins(group: _Group, row: Row, following: Row | Table | Entry | None, edge: float, context: Context) -> bool:
    first, last, line = group.rows[0].line, group.rows[-1].line, row.line
    if line.monospaced != last.monospaced or line.turned != last.turned:
        return True
    if max(line.size, last.size) > 1.2 * min(line.size, last.size):
        return not _is_unfinished(group, line, context.style)
    if _are_two_titles(last, line, context.style):
        return True
    distance = line.top - last.top
    if line.monospaced:
        if context.monospaced and distance > WIDER_SPACE * context.style.pitch(line.size) + 0.5:
            return True
        return distance > 3.2 * context.style.pitch(line.size) or distance < 0
    if line.bold != last.bold:
        return True
    usual = context.style.pitch(max(line.size, last.size))
    if not -0.5 * line.size < distance <= WIDER_SPACE * usual + 0.5:
        return True
    if is_caption(line.text) and not is_caption(first.text) and _ends_short(last, line, edge):
        return True
    column = (min(first.left, line.left), edge)
    if not line.bold and (is_section_title(line, column) or (len(group.rows) == 1 and is_section_title(first, column))):
        return True
    if len(group.rows) == 1 and is_titled_by_number(first, column):
        larger = max(line.size, first.size) > ONE_SIZE * min(line.size, first.size)
        if larger or distance > _BELOW_TITLE * usual:
            return True
    if extends_number(line.text, first.text) and _ends_short(last, line, edge):
        return True
    titled = is_set_apart(first, context.style) and is_numbered(first.text) and not is_numbered(line.text)
    if titled and len(group.rows) < _MOST_TITLE_LINES:
        # The lines of a numbered title are full, and may be indented to its text.
        return line.left < last.left + 0.7 * line.size and last.right + _SHORT_TITLE * (edge - first.left) < edge
    if is_divided(last.text, line.text):
        return False
    return _indented(group, line, following, edge) or (
        _SENTENCE_END.search(last.text) is not None and _ends_short(last, line, edge)
    )


def _are_two_titles(above: Line, below: Line, style: TextStyle) -> bool:
    """Tell whether two lines are the title of a section and the smaller one of the first section within it."""
    if not (is_set_apart(above, style) and is_set_apart(below, style)) or below.size * _INNER_TITLE > above.size:
        return False
    if below.top - above.bottom < _ABOVE_INNER * below.size:
        return False
    one_script = is_east_asian(above.text) == is_east_asian(below.text)  # their fonts have boxes of other heights
    return one_script and not is_divided(above.text, below.text) and _UNFINISHED.search(above.text) is None


def _is_unfinished(group: _Group, line: Line, style: TextStyle) -> bool:
    """Tell whether a line that ends within a sentence goes on in one with a larger box, as that of a lowered letter."""
    last = group.rows[-1].line
    usual = style.pitch(min(line.size, last.size))
    farthest = 0.3 if group.mark is None else _WIDEST_MARK
    alike = line.bold == last.bold and -0.3 * last.size < line.left - last.left < farthest * last.size
    return alike and _UNFINISHED.search(last.text) is not None and 0 < line.top - last.top <= WIDER_SPACE * usual


def _indented(group: _Group, line: Line, following: Row | Table | Entry | None, edge: float) -> bool:
    """Tell whether the indent of a line begins a paragraph."""
    first, last = group.rows[0].line, group.rows[-1].line
    step = 0.7 * line.size
    if abs((line.left + line.right) - (last.left + last.right)) < 0.6 * line.size:
        return False  # both are centred, or have one width
    if group.mark is not None:
        return line.left < first.left - step
    if line.left > last.left + step:
        hangs = isinstance(following, Row) and abs(following.line.left - line.left) < 0.3 * line.size
        # A paragraph of one full line that ends within a sentence is rare; entries of two lines hang, too.
        goes_on = _SENTENCE_END.search(last.text) is None and not _ends_short(last, line, edge)
        return not (len(group.rows) == 1 and (hangs or goes_on))
    if line.left < last.left - step:
        return len(group.rows) > 1
    return False


def _ends_short(last: Line, line: Line, edge: float) -> bool:
    """Tell whether the first word of `line` would have fitted at the end of `last`."""
    word = line.text.split(" ", 1)[0]
    return last.right + max(line.letter_width * (len(word) + 1.5), line.size) < edge


def _elements_of(group: _Group, page: int, column: tuple[float, float], context: Context) -> Iterator[Element]:
    """Yield the element of a group, with the heading on its first line before it."""
    run_in = run_in_heading(group.rows, context.style) if group.mark is None and not context.from_right else None
    if run_in is not None:
        title, rest = run_in
        line = title.line
        yield Element("heading", line.text, (Place(page, *around([line])),), line, line, column)
        group = _Group(list(rest), None)
    yield _element(group, page, column, context)


def _element(group: _Group, page: int, column: tuple[float, float], context: Context) -> Element:
    lines = [row.line for row in group.rows]
    plain_text = context.monospaced and is_prose(lines)
    if lines[0].monospaced and not context.from_right and not plain_text:
        return _code_element(lines, page, column, context.style)
    text = joined_text(lines, context.hyphenated)
    text = " ".join(text.split()) if plain_text else text
    where = (Place(page, *around(lines)),)
    if context.from_right:
        where = (replace(where[0], left=-where[0].right, right=-where[0].left),)
    heading = not any(map(_spread, group.rows)) and is_heading(
        lines,
        text,
        context.style,
        column=column,
        right=context.right,
        outline=context.outline,
        cover=context.cover,
        from_right=context.from_right,
    )
    heading = heading or (plain_text and is_numbered_title(lines, column[0]))
    heading = heading or (len(group.rows) == 1 and is_numbered_in_bold(group.rows[0], context.style, column))
    if is_caption(text):
        return Element("caption", text, where, lines[0], lines[-1], column, len(lines))
    if heading:
        return Element("heading", text, where, lines[0], lines[-1], column, len(lines))
    mark = list_mark(text) if group.mark is not None else None
    if mark is not None:
        return Element("item", mark.text, where, lines[0], lines[-1], column, len(lines), marker=mark.marker)
    return Element("paragraph", text, where, lines[0], lines[-1], column, len(lines))


def _spread(row: Row) -> bool:
    """Tell whether a row has parts at both ends, such as a date beside a name."""
    ordered = sorted(row.runs, key=lambda run: run.left)
    return any(after.left - before.right > _WIDEST_IN_HEADING * row.line.size for before, after in pairwise(ordered))


def _code_element(lines: Sequence[Line], page: int, column: tuple[float, float], style: TextStyle) -> Element:
    """Return the lines as one block of code, with its indents and empty lines."""
    widths = [line.letter_width for line in lines if line.text and line.width > 0]
    width = median(widths) if widths else 0.5 * lines[0].size
    margin = min(line.left for line in lines)
    distances = [after.top - before.top for before, after in pairwise(lines)]
    pitch = min((one for one in distances if one > 0.5 * lines[0].size), default=style.pitch(lines[0].size))
    text: list[str] = []
    for index, line in enumerate(lines):
        if index and distances[index - 1] > 1.7 * pitch:
            text.append("")
        indent = round((line.left - margin) / width) if width > 0 else 0
        text.append(" " * min(indent, _WIDEST_INDENT) + line.text)
    return Element("code", "\n".join(text), (Place(page, *around(lines)),), lines[0], lines[-1], column, len(lines))


def run_in_heading(rows: Sequence[Row], style: TextStyle) -> tuple[Row, Sequence[Row]] | None:
    """Return a run-in heading and the rows of its paragraph, or None for a paragraph without one.

    Args:
        rows: rows of a paragraph of several lines.
        style: style of the running text.
    """
    if len(rows) < 2 or style.bold or rows[0].line.bold:
        return None
    bold = list(takewhile(lambda run: run.bold and not run.monospaced, rows[0].runs))
    rest = rows[0].runs[len(bold) :]
    if not bold or not rest or any(run.bold for run in rest):
        return None
    title, size = joined(bold), rows[0].line.size
    flush = abs(rows[1].line.left - title.left) < _FLUSH * size
    near = rest[0].left - title.right < _WIDEST_BEHIND * size
    letters = sum(map(str.isalpha, title.text))
    if not (flush and near) or letters < 2 or len(title.text) > _LONGEST_RUN_IN or title.text[-1] in ",;:":
        return None
    return Row(tuple(bold), title), [Row(rest, joined(rest)), *rows[1:]]
