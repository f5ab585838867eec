"""Text of what is drawn over the cells of a workbook's sheets: text boxes, shapes and diagrams; openpyxl drops it."""

import io
from collections.abc import Iterator, Mapping
from typing import Any, Final
from zipfile import ZipFile

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own
from openpyxl.packaging.relationship import get_dependents, get_rels_path  # type: ignore[import-untyped]

from sourcebook.parsing.office.diagrams import DATA, REFERENCE, texts_of_data
from sourcebook.parsing.text.picture_marks import description, picture_mark

_MAIN: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SHEET_DRAWING: Final = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_COMPATIBILITY: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_SHEETS: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORKBOOK: Final = "xl/workbook.xml"


def drawn_texts(content: bytes) -> Mapping[str, list[str]]:
    """Return the paragraphs drawn on each sheet, by the sheet's name, from the top down.

    Shapes that show a cell have its text, and are left out. A drawing that is missing has no text.

    Args:
        content: the whole workbook, checked as `open_office_archive` does.
    """
    with ZipFile(io.BytesIO(content)) as archive:
        workbook, sheets = _root(archive, _WORKBOOK), _targets(archive, _WORKBOOK)
        if workbook is None:
            return {}
        paths = {
            each.get("name"): sheets.get(each.get(f"{{{_OFFICE}}}id"), ("", ""))[1]
            for each in workbook.iter(f"{_SHEETS}sheet")
        }
        return {
            name: [text for drawing in _drawings(archive, path) for text in _texts(archive, drawing) if text]
            for name, path in paths.items()
            if path
        }


def _drawings(archive: ZipFile, sheet: str) -> list[str]:
    return [path for kind, path in _targets(archive, sheet).values() if kind == f"{_OFFICE}/drawing"]


def _targets(archive: ZipFile, path: str) -> dict[str, tuple[str, str]]:
    """Return the type and the path of each part that a part refers to, by the name of the reference."""
    try:
        references = get_dependents(archive, get_rels_path(path))
    except (KeyError, SyntaxError, ValueError, TypeError):  # of missing and of damaged ones
        return {}
    return {each.Id: (each.Type, each.target) for each in references if each.TargetMode != "External"}


def _root(archive: ZipFile, path: str) -> Any:
    """Return a part's outermost element; None where the part is missing or damaged."""
    try:
        return etree.fromstring(archive.read(path), etree.XMLParser(resolve_entities=False, no_network=True))
    except (KeyError, etree.XMLSyntaxError):
        return None


def _bytes(archive: ZipFile, path: str) -> bytes:
    return archive.read(path) if path in archive.namelist() else b""


def _texts(archive: ZipFile, drawing: str) -> Iterator[str]:
    root = _root(archive, drawing)
    if root is None:
        return
    targets = _targets(archive, drawing)
    for anchor in sorted(root, key=_place):
        for element in anchor.iter(f"{_SHEET_DRAWING}sp", f"{_SHEET_DRAWING}pic", REFERENCE):
            if any(above.tag == f"{_COMPATIBILITY}Fallback" for above in element.iterancestors()):
                continue  # the same shape again, for older programs
            if element.tag == REFERENCE:
                data = _root(archive, targets.get(element.get(DATA), ("", ""))[1])
                yield from (text for _, text in (texts_of_data(data) if data is not None else ()))
            elif element.tag == f"{_SHEET_DRAWING}pic":
                named = next(element.iter(f"{_SHEET_DRAWING}cNvPr"), None)
                yield description(None if named is None else named.get("descr"))
                for picture in element.iter(f"{_MAIN}blip"):
                    yield picture_mark(_bytes(archive, targets.get(picture.get(f"{{{_OFFICE}}}embed"), ("", ""))[1]))
            elif not element.get("textlink"):
                yield from _paragraphs(element)


def _place(anchor: Any) -> tuple[int, int]:
    """Return the row and the column where a drawing begins, from 0; those without a cell come first."""
    start = next(anchor.iter(f"{_SHEET_DRAWING}from"), None)
    if start is None:
        return -1, -1
    row, column = (start.findtext(f"{_SHEET_DRAWING}{name}", "").strip() for name in ("row", "col"))
    return int(row) if row.isdecimal() else -1, int(column) if column.isdecimal() else -1


def _paragraphs(shape: Any) -> Iterator[str]:
    for paragraph in shape.iter(f"{_MAIN}p"):
        parts = (
            " " if part.tag == f"{_MAIN}br" else part.text or "" for part in paragraph.iter(f"{_MAIN}t", f"{_MAIN}br")
        )
        if text := " ".join("".join(parts).split()):
            yield text
