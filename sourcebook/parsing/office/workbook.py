"""The sheets of a workbook as sections: their tables, the data of their charts, their comments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from docling.backend.msexcel_backend import MsExcelDocumentBackend
from openpyxl.worksheet.worksheet import Worksheet  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.model.document import Block, BlockKind
from sourcebook.parsing.docling.backends import open_backend
from sourcebook.parsing.docling.table_serializer import chart_title, table_text
from sourcebook.parsing.office.cell_text import cell_text
from sourcebook.parsing.office.sheet_regions import Position, find_regions
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.markdown_writing import LONGEST_REPEATED, markdown_table
from sourcebook.parsing.text.titles import plain_title

_Piece = tuple[BlockKind, str]
_THREADED = re.compile(r"^\[Threaded comment\].*?^Comment:\s*", re.DOTALL | re.MULTILINE)
_ADDRESS = re.compile(r"(?:https?|mailto|ftp):[^\s()<>]+")


class WorkbookBackend(MsExcelDocumentBackend):
    """Docling's reader of workbooks, which bounds merged cells, with its way to the data behind charts."""

    def charts(self, sheet: Any) -> Iterator[_Piece]:
        """Yield the title and the data of each chart of a sheet."""
        for chart in getattr(sheet, "_charts", ()):
            kinds = [label.value for label in self._chart_classifications(chart)]
            yield "paragraph", chart_title(kinds, self._title_text(chart.title))
            data = self._chart_to_table_data(chart)
            if data is not None:
                yield "table", table_text(data, {})


@dataclass(frozen=True, slots=True)
class Workbook:
    """A workbook's Markdown."""

    markdown: str
    blocks: tuple[Block, ...]
    sheet_count: int


def read_workbook(content: bytes, *, name: str) -> Workbook:
    """Read every sheet that holds something; hidden ones are marked, those hidden from the menus too are left out.

    Formulas give the values that the program computed last.

    Raises:
        ParseError: docling's or openpyxl's reader refuses the file.
    """
    backend = open_backend(content, WorkbookBackend, name=name, docling_format="xlsx")
    workbook: Any = backend.workbook
    texts: list[str] = []
    blocks: list[Block] = []
    length = 0
    for page, title in enumerate(workbook.sheetnames, start=1):
        sheet = workbook[title]
        if sheet.sheet_state == "veryHidden":
            continue
        pieces = list(_pieces(backend, sheet))
        if not pieces:
            continue
        heading = " ".join(title.split()) + (" (hidden)" if sheet.sheet_state == "hidden" else "")
        for kind, raw in [("heading", f"## {heading}"), *pieces]:
            text = clean(raw).strip()
            if not text:
                continue
            level, heading_title = (2, plain_title(text.removeprefix("## "))) if kind == "heading" else (0, "")
            blocks.append(Block(kind, length, length + len(text), level=level, title=heading_title, page=page))
            texts.append(text)
            length += len(text) + 2
    markdown = "\n\n".join(texts)
    return Workbook(f"{markdown}\n" if markdown else "", tuple(blocks), len(workbook.sheetnames))


def _pieces(backend: WorkbookBackend, sheet: Any) -> Iterator[_Piece]:
    if isinstance(sheet, Worksheet):
        cells, merged = _texts(sheet)
        for region in find_regions(cells, merged):
            yield from (("paragraph", label) for label in region.labels)
            if region.rows:
                yield "table", markdown_table(region.rows)
        yield from _comments(sheet)
    yield from backend.charts(sheet)


def _texts(sheet: Any) -> tuple[dict[Position, str], dict[Position, Position]]:
    """The text of each filled cell, and of each place that a merged cell covers, where that one begins."""
    texts: dict[Position, str] = {}
    for place, cell in _cells(sheet).items():
        if cell.value is not None:
            text = cell_text(cell.value, cell.number_format)
            if text:
                texts[place] = _linked(text, cell.hyperlink)
    merged: dict[Position, Position] = {}
    for area in sheet.merged_cells.ranges:
        corner = area.min_row, area.min_col
        if corner not in texts:
            continue
        repeated = texts[corner] if len(texts[corner]) <= LONGEST_REPEATED else ""
        for row in range(area.min_row, area.max_row + 1):
            for column in range(area.min_col, area.max_col + 1):
                if (row, column) != corner:
                    texts[row, column] = repeated
                merged[row, column] = corner
    return texts, merged


def _cells(sheet: Any) -> dict[Position, Any]:
    """Only the cells there are: openpyxl's own ways walk the rectangle around them, which may be the whole sheet."""
    cells: dict[Position, Any] = sheet._cells  # noqa: SLF001 - there is no public one
    return cells


def _linked(text: str, hyperlink: Any) -> str:
    target = getattr(hyperlink, "target", None) or ""
    return f"[{text}]({target})" if _ADDRESS.fullmatch(target) and target != text else text


def _comments(sheet: Any) -> Iterator[_Piece]:
    for cell in _cells(sheet).values():
        comment = getattr(cell, "comment", None)
        if comment is None:
            continue
        text = " ".join(_THREADED.sub("", comment.text or "").split())
        author = comment.author or ""
        by = f" by {author}" if author and not author.startswith("tc=") else ""
        if text:
            yield "quote", f"> Comment on {cell.coordinate}{by}: {text}"
