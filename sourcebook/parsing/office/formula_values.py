"""Values of formulas that no spreadsheet program has computed: those of a calculation engine, or none."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape
from typing import Any, Final
from zipfile import ZipFile

from openpyxl.utils.cell import column_index_from_string, range_boundaries  # type: ignore[import-untyped]

from sourcebook.parsing.office.core_properties import read_core_properties
from sourcebook.parsing.office.office_archive import opened_archive
from sourcebook.parsing.office.sheet_drawings import sheet_paths
from sourcebook.parsing.office.sheet_regions import Position
from sourcebook.parsing.office.table_references import NamedTable, with_cells

_CELL: Final = re.compile(
    rb"<((?:\w+:)?)c\b([^>]*)>\s*<\1f\b([^>]*)(?:/>|>(.*?)</\1f>)\s*(?:<\1v\b[^>]*(?:/>|>([^<]*)</))?", re.DOTALL
)
"""A cell with a formula: its attributes, those of the formula, the formula, and the stored value."""
_PLACE: Final = re.compile(rb"\br\s*=\s*[\"']([A-Z]{1,3})(\d{1,7})")
_ARRAY: Final = re.compile(rb"\bref\s*=\s*[\"']([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})")
_RECALCULATION: Final = re.compile(rb"\bfullCalcOnLoad\s*=\s*[\"'](?:1|true)")
_LINK: Final = re.compile(r"^\s*HYPERLINK\(\s*\"([^\"]+)\"", re.IGNORECASE)
_TODAY: Final = re.compile(r"\b(?:TODAY|NOW)\(")
_UNCOMPUTED: Final = frozenset({b"", b"0"})
"""Values that programs store for a formula that they do not compute."""
_MOST_FORMULAS: Final = 200_000
"""Formulas of a workbook that are computed."""
_MOST_UNDEFINED: Final = 50
"""Names that the engine may not know."""
_PANIC: Final = "PanicException"
"""Name of the error, no `Exception`, that a fault of the engine's compiled code raises."""
_UNDEFINED: Final = re.compile(r"Undefined name: (.+)")
_LARGEST_ARRAY: Final = 10_000
_ERRORS: Final = {
    "Div": "#DIV/0!", "Na": "#N/A", "Ref": "#REF!", "Value": "#VALUE!", "Num": "#NUM!", "Null": "#NULL!"
}  # fmt: skip
"""Errors that a program shows, too, by the engine's names; others, as of an unknown function, are the engine's own."""


@dataclass(frozen=True, slots=True)
class FormulaValues:
    """Values and links that formulas of a sheet give beside their stored values."""

    computed: dict[Position, object] = field(default_factory=dict)
    """Values of cells without a believable one; None for those that are left without."""
    links: dict[Position, str] = field(default_factory=dict)
    """Addresses of HYPERLINK()."""


@dataclass(frozen=True, slots=True)
class _Formula:
    places: list[Position]
    text: str
    stored: bytes


def formula_values(content: bytes, tables: Sequence[NamedTable]) -> dict[str, FormulaValues]:
    """Return the values of formulas by the sheet's name.

    A stored value is believed, unless its program asks for all to be computed when the file is opened, or has stored
    nothing but zeros and no order of calculation. "Today" is the day on which the workbook was saved.

    Args:
        content: the whole workbook.
        tables: its named tables.

    Raises:
        ParseError: the archive is damaged.
    """
    with opened_archive(content, named="xlsx") as archive:
        names = archive.namelist()
        formulas = {
            sheet: found for sheet, path in sheet_paths(archive).items() if (found := list(_formulas(archive, path)))
        }
        if not formulas:
            return {}
        asks = _RECALCULATION.search(archive.read("xl/workbook.xml")) is not None
        stored = {each.stored for found in formulas.values() for each in found}
        doubted = asks or (stored <= _UNCOMPUTED and "xl/calcChain.xml" not in names)
    values = {sheet: FormulaValues(links=dict(_links(found))) for sheet, found in formulas.items()}
    if b"" not in stored and not doubted:
        return values
    wanted = {
        (sheet, *place): each.stored
        for sheet, found in formulas.items()
        for each in found
        if doubted or not each.stored
        for place in each.places
    }
    computed = _computed(content, formulas, tables)
    for (sheet, row, column), before in wanted.items():
        value = computed(sheet, row, column)
        if value is not None or before in _UNCOMPUTED:
            values[sheet].computed[row, column] = value
    return values


def _formulas(archive: ZipFile, path: str) -> Iterator[_Formula]:
    xml = archive.read(path) if path in archive.namelist() else b""
    may_hold_one = any(mark in xml for mark in (b"<f>", b"<f ", b"<f/", b":f"))
    for _, cell, formula, text, stored in _CELL.findall(xml) if may_hold_one else ():
        if place := _PLACE.search(cell):
            places = [(int(place[2]), column_index_from_string(place[1].decode()))]
            if array := _ARRAY.search(formula):
                left, top, right, bottom = range_boundaries(array[1].decode())
                if b"array" in formula and (right - left + 1) * (bottom - top + 1) <= _LARGEST_ARRAY:
                    places = [(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)]
            yield _Formula(places, unescape(text.decode("utf-8", "replace")), stored.strip())


def _links(formulas: list[_Formula]) -> Iterator[tuple[Position, str]]:
    for each in formulas:
        if link := _LINK.match(each.text):
            yield each.places[0], link[1]


def _computed(
    content: bytes, formulas: Mapping[str, list[_Formula]], tables: Sequence[NamedTable]
) -> Callable[[str, int, int], object]:
    """Return what gives the value of a cell; None for one that the engine does not compute."""
    import formualizer

    failures = (formualizer.ExcelEvaluationError, OSError, ValueError, RuntimeError)
    config = formualizer.EvaluationConfig()
    config.enable_parallel = False
    config.max_work_units = _MOST_FORMULAS
    try:
        engine = formualizer.Workbook.from_bytes(content, config=formualizer.WorkbookConfig(eval_config=config))
        if any(_TODAY.search(each.text) for found in formulas.values() for each in found):
            properties = read_core_properties(content, named="xlsx")
            day = datetime.fromisoformat(str(properties.get("modified") or properties.get("created")))
            engine.set_deterministic_clock(day if day.tzinfo else day.replace(tzinfo=UTC))
        for sheet, each in ((sheet, each) for sheet, found in formulas.items() for each in found if tables):
            if (text := with_cells(each.text, sheet, each.places[0], tables)) != each.text:
                engine.set_formula(sheet, *each.places[0], f"={text}")
        for _ in range(_MOST_UNDEFINED):
            try:
                engine.evaluate_all()
            except formualizer.ExcelEvaluationError as error:
                _give_up(engine, formulas, error)
            else:
                return lambda sheet, row, column: _shown(engine.get_value(sheet, row, column))
    except failures:
        pass
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
    return lambda _sheet, _row, _column: None


def _give_up(engine: Any, formulas: Mapping[str, list[_Formula]], error: Exception) -> None:
    """Let the formulas with a name that the engine does not know, such as another workbook's, be errors."""
    name = _UNDEFINED.search(str(error))
    if name is None:
        raise error
    for sheet, found in formulas.items():
        for each in found:
            if name[1] in each.text:
                engine.set_formula(sheet, *each.places[0], "=NOT.KNOWN()")


def _shown(value: Any) -> object:
    """Return a value of the engine as a cell has it; None for errors of the engine's own."""
    while isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        return _ERRORS.get(str(value.get("kind")))
    return "" if value is None else value
