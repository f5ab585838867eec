"""Layout of a whole document: pages of lines become a structured document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING

from sourcebook.model.document import Box
from sourcebook.parsing.pdf.layout.columns.columns import Column, columns
from sourcebook.parsing.pdf.layout.columns.spreads import pages_of_sheet
from sourcebook.parsing.pdf.layout.columns.stream_order import (
    as_written,
    reads_across_columns,
    reads_across_display,
    reads_better_as_written,
)
from sourcebook.parsing.pdf.layout.columns.text_frames import drawn_frames, lines_in_frames
from sourcebook.parsing.pdf.layout.elements import Element, Part, Place, PlacedTable, Row, Table
from sourcebook.parsing.pdf.layout.field_labels import with_entries
from sourcebook.parsing.pdf.layout.form_fields import Entry, in_reading_order, with_field_lines
from sourcebook.parsing.pdf.layout.headings.false_headings import without_false_headings
from sourcebook.parsing.pdf.layout.headings.headings import title_letters, with_levels
from sourcebook.parsing.pdf.layout.headings.italic_headings import with_italic_headings
from sourcebook.parsing.pdf.layout.lines.line_numbers import with_line_numbers
from sourcebook.parsing.pdf.layout.lines.rows import direction, rows
from sourcebook.parsing.pdf.layout.lines.running_heads import RunningRows
from sourcebook.parsing.pdf.layout.lines.text_style import has_running_text, style_of_page, text_style
from sourcebook.parsing.pdf.layout.measures import around
from sourcebook.parsing.pdf.layout.page_parts import Line, OutlineEntry, Page, Rule
from sourcebook.parsing.pdf.layout.paragraphs.continuations import join_across_columns
from sourcebook.parsing.pdf.layout.paragraphs.footnotes import with_footnotes
from sourcebook.parsing.pdf.layout.paragraphs.monospaced_prose import is_monospaced_throughout
from sourcebook.parsing.pdf.layout.paragraphs.paragraphs import Context, elements
from sourcebook.parsing.pdf.layout.paragraphs.plot_labels import with_joined_labels
from sourcebook.parsing.pdf.layout.remarks import with_remarks
from sourcebook.parsing.pdf.layout.tables.aligned_tables import with_tables
from sourcebook.parsing.pdf.layout.tables.placed_tables import with_captions, with_continued_tables
from sourcebook.parsing.pdf.layout.tables.ruled_tables import ruled_tables
from sourcebook.parsing.pdf.layout.words.line_joining import hyphenated_words

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

_NO_HEADS: Mapping[int, RunningRows] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Column:
    page: Page
    left: float
    right: float
    items: tuple[Row | Table | Entry, ...]
    from_right: bool = False
    rows: tuple[Row, ...] = ()
    """Its rows, also those that are in tables found by their alignment."""


def build_document(
    pages: Sequence[Page],
    *,
    outline: Sequence[OutlineEntry] = (),
    heads: Mapping[int, RunningRows] = _NO_HEADS,
    name: str = "document",
) -> DoclingDocument:
    """Return the document of pages in reading order, each item with its page and box.

    Args:
        pages: pages in order, with lines from a text layer or from OCR, without running heads.
        outline: the file's outline, which decides on headings and their levels.
        heads: running heads and feet to show, by page number.
        name: name of the document.
    """
    from sourcebook.parsing.pdf.layout.docling_document import assemble

    found = [column for page in pages for column in _columns(page)]
    texts = [_text_rows(column) for column in found]
    lines = [row.line for rows_of_column in texts for row in rows_of_column]
    context = Context(
        style=text_style(texts),
        outline=frozenset(title_letters(entry.title) for entry in outline) - {""},
        hyphenated=hyphenated_words(lines),
        monospaced=is_monospaced_throughout(lines),
    )
    placed = [
        one
        for number, group in groupby(_with_contexts(found, context), key=lambda part: part[0].page.number)
        for one in _with_heads(
            number, (one for column, local in group for one in _placed(column, local)), heads.get(number)
        )
    ]
    joined = join_across_columns(with_continued_tables(with_captions(placed)), context.hyphenated)
    true = with_joined_labels(without_false_headings(with_italic_headings(joined), context.outline))
    return assemble(with_remarks(with_levels(true, outline), pages), pages, name=name)


def _with_heads(page: int, found: Iterable[Part], heads: RunningRows | None) -> Iterator[Part]:
    """Yield a page's running heads, its elements, and its running feet."""
    above, below = heads or ((), ())
    yield from (_running_head(page, line) for line in above)
    yield from found
    yield from (_running_head(page, line) for line in below)


def _running_head(page: int, line: Line) -> Element:
    return Element("running head", line.text, (Place(page, *around([line])),), line, line, (line.left, line.right))


def _columns(page: Page) -> Iterator[_Column]:
    page = with_field_lines(page)
    tables, lines = ruled_tables(page)
    lines = with_entries(lines)
    # Vertical text outside of tables is in the margin and interrupts nothing.
    flat = [line for line in lines if not line.turned]
    turned = sorted((line for line in lines if line.turned), key=lambda line: (line.left, line.top))
    from_right = sum(direction(line.text) for line in flat) < 0
    frames = drawn_frames(page.rules)
    sheet = pages_of_sheet([*flat, *tables], width=page.width, height=page.height, from_right=from_right)
    cut = [part for half in sheet for part in columns(half, from_right=from_right)]
    found = [_column(page, part, from_right) for column in cut for part in _without_boxes(column, frames)]
    runs = [run for column in found for item in column.items if isinstance(item, Row) for run in item.runs]
    if (
        reads_better_as_written(runs)
        or reads_across_display(runs)
        or reads_across_columns([run for column in found for row in column.rows for run in row.runs])
    ):
        found = [_column(page, part, from_right) for part in as_written(flat, tables, page.lines)]
    yield from found
    if turned:
        yield _Column(page, turned[0].left, turned[0].right, tuple(Row((line,), line) for line in turned))


def _column(page: Page, part: Column, from_right: bool) -> _Column:
    levels = [rule.top for rule in page.rules if _crosses(rule, part)]
    apart = [piece for piece in part.pieces if isinstance(piece, Table | Entry)]
    found = rows(with_line_numbers([piece for piece in part.pieces if not isinstance(piece, Table | Entry)]))
    return _Column(page, part.left, part.right, tuple(_items(found, apart, sorted(levels))), from_right, tuple(found))


def _without_boxes(column: Column, frames: Sequence[Box]) -> Iterator[Column]:
    """Yield the column without its framed text, and then each frame around which the column flows."""
    boxes = lines_in_frames([piece for piece in column.pieces if isinstance(piece, Line)], frames)
    inside = {id(line) for box in boxes for line in box}
    beside: list[Line | Table] = [piece for piece in column.pieces if id(piece) not in inside]
    parts: list[Sequence[Line | Table]] = [beside, *boxes]
    yield from (Column.of(part) for part in parts if part)


def _crosses(rule: Rule, column: Column) -> bool:
    """Tell whether a drawn line covers more than 30 % of the column's width."""
    return min(rule.right, column.right) - max(rule.left, column.left) > 0.3 * column.width


def _items(
    found: Sequence[Row], apart: Sequence[Table | Entry], levels: Sequence[float]
) -> Iterator[Row | Table | Entry]:
    """Yield the rows, tables and entries of a column from the top."""
    tables = in_reading_order(apart)
    pending: list[Row] = []
    for row in found:
        while tables and tables[0].top < row.line.top:
            yield from with_tables(pending, levels)
            pending = []
            yield tables.pop(0)
        pending.append(row)
    yield from with_tables(pending, levels)
    yield from tables


def _text_rows(column: _Column) -> list[Row]:
    """Return the rows of a column outside of tables, entries of forms included."""
    items = (item for item in column.items if not isinstance(item, Table))
    return [Row((item,), item) if isinstance(item, Entry) else item for item in items]


def _with_contexts(found: Sequence[_Column], context: Context) -> Iterator[tuple[_Column, Context]]:
    """Yield each column with the text style of its page."""
    for _, group in groupby(found, key=lambda column: column.page.number):
        columns_of_page = list(group)
        texts = [row for column in columns_of_page for row in _text_rows(column)]
        style = style_of_page(context.style, texts)
        small = any(isinstance(item, Table) for column in columns_of_page for item in column.items)
        local = replace(context, style=style, cover=not has_running_text(style, texts, small=small))
        yield from ((column, replace(local, right=column.right)) for column in columns_of_page)


def _placed(column: _Column, context: Context) -> Iterator[Part]:
    page = column.page
    items, left, right = column.items, column.left, column.right
    if column.from_right:
        items, left, right = tuple(map(_mirrored, items)), -right, -left
        context = replace(context, from_right=True)
    found = list(elements(items, page=page.number, left=left, right=right, context=context))
    for one in with_footnotes(found, height=page.height, style=context.style):
        yield PlacedTable(one, page.number) if isinstance(one, Table) else one


def _mirrored(item: Row | Table | Entry) -> Row | Table | Entry:
    if isinstance(item, Entry):
        return item
    if isinstance(item, Table):
        cells = (replace(cell, column=item.columns - cell.column - cell.column_span) for cell in item.cells)
        return replace(item, cells=tuple(cells))
    return Row(item.runs, replace(item.line, left=-item.line.right, right=-item.line.left))
