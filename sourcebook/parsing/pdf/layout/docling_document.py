"""Conversion of elements to a docling document, each with its page and box."""

from collections.abc import Iterator, Sequence

from docling_core.types.doc import (  # type: ignore[attr-defined] # exported, though not in __all__
    BoundingBox,
    CoordOrigin,
    DocItemLabel,
    DoclingDocument,
    ListGroup,
    ProvenanceItem,
    Size,
    TableCell,
    TableData,
)

from sourcebook.parsing.pdf.layout.elements import Cell, Element, Part, Place, PlacedTable, Table
from sourcebook.parsing.pdf.layout.page_parts import Page

_MOST_REPEATED = 100
"""Most characters of a cell, times the columns and rows that it covers, up to which they repeat it [library]."""
_NESTED = 0.8
"""Smallest indent of a nested list item's mark, in font sizes [first]."""


def assemble(found: Sequence[Part], pages: Sequence[Page], *, name: str) -> DoclingDocument:
    """Return the document of elements, in their order."""
    document = DoclingDocument(name=name)
    for page in pages:
        document.add_page(page_no=page.number, size=Size(width=page.width, height=page.height))
    lists = _Lists(document)
    for one in found:
        if one.kind == "item":
            lists.add(one)
            continue
        lists.close()
        if isinstance(one, PlacedTable):
            _add_table(document, one)
        else:
            _add_text(document, one)
    return document


def _add_text(document: DoclingDocument, one: Element) -> None:
    first = _provenance(one.places[0], len(one.text))
    match one.kind:
        case "heading" if one.level <= 1:
            item = document.add_title(one.text, prov=first)
        case "heading":
            item = document.add_heading(one.text, level=one.level - 1, prov=first)
        case "code":
            item = document.add_code(one.text, prov=first)
        case "caption":
            item = document.add_text(DocItemLabel.CAPTION, one.text, prov=first)
        case "footnote":
            item = document.add_text(DocItemLabel.FOOTNOTE, one.text, prov=first)
        case _:
            item = document.add_text(DocItemLabel.TEXT, one.text, prov=first)
    item.prov += [_provenance(place, len(one.text)) for place in one.places[1:]]


def _add_table(document: DoclingDocument, placed: PlacedTable) -> None:
    table, caption = placed.table, None
    if placed.caption is not None:
        text, places = placed.caption.text, placed.caption.places
        caption = document.add_text(DocItemLabel.CAPTION, text, prov=_provenance(places[0], len(text)))
    place = Place(placed.page, table.left, table.top, table.right, table.bottom)
    label = DocItemLabel.DOCUMENT_INDEX if table.contents else DocItemLabel.TABLE
    item = document.add_table(_data(table), caption=caption, prov=_provenance(place, 0), label=label)
    item.prov += [_provenance(one, 0) for one in placed.more]


def _data(table: Table) -> TableData:
    cells = [
        TableCell(
            text=cell.text,
            row_span=cell.row_span,
            col_span=cell.column_span,
            start_row_offset_idx=cell.row,
            end_row_offset_idx=cell.row + cell.row_span,
            start_col_offset_idx=cell.column,
            end_col_offset_idx=cell.column + cell.column_span,
            column_header=cell.header,
        )
        for one in table.cells
        for cell in _parts(one)
    ]
    return TableData(table_cells=cells, num_rows=table.rows, num_cols=table.columns)


def _parts(cell: Cell) -> Iterator[Cell]:
    """Yield a cell, or its parts with the text in the first part alone; Markdown repeats a wide cell in each part.

    A short text is repeated, because it belongs to each of its columns and rows, as in headers.
    """
    parts = cell.row_span * cell.column_span
    if parts == 1 or len(cell.text) * parts <= _MOST_REPEATED:
        yield cell
        return
    for row in range(cell.row_span):
        for column in range(cell.column_span):
            text = "" if row or column else cell.text
            yield Cell(cell.row + row, cell.column + column, text, header=cell.header)


def _provenance(place: Place, length: int) -> ProvenanceItem:
    box = BoundingBox(l=place.left, t=place.top, r=place.right, b=place.bottom, coord_origin=CoordOrigin.TOPLEFT)
    return ProvenanceItem(page_no=place.page, bbox=box, charspan=(0, length))


class _Lists:
    """The open lists, nested by the indents of their marks."""

    def __init__(self, document: DoclingDocument) -> None:
        self._document = document
        self._open: list[tuple[float, ListGroup]] = []
        self._column: tuple[float, float] | None = None

    def close(self) -> None:
        self._open.clear()

    def add(self, one: Element) -> None:
        left, step = one.first.left, _NESTED * one.first.size
        if one.column != self._column:  # a list that continues in another column has another left edge
            shift = left - self._open[-1][0] if self._open else 0.0
            self._open = [(known + shift, group) for known, group in self._open]
            self._column = one.column
        while self._open and left < self._open[-1][0] - step:
            self._open.pop()
        if not self._open or left > self._open[-1][0] + step:
            parent = self._open[-1][1] if self._open else None
            # docling nests a list in the last item of the list around it.
            within = parent.children[-1].resolve(self._document) if parent is not None and parent.children else None
            self._open.append((left, self._document.add_list_group(parent=within)))
        item = self._document.add_list_item(
            one.text,
            enumerated=one.marker != "-",
            marker=one.marker,
            parent=self._open[-1][1],
            prov=_provenance(one.places[0], len(one.text)),
        )
        item.prov += [_provenance(place, len(one.text)) for place in one.places[1:]]
