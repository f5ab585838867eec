"""Headings and table cells that readers find in the PDFs of the library, by part of the list."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.harness.pdf_structure import Structure
from benchmarks.harness.report import Row

_OURS = "sourcebook"
_FOUND, _RIGHT, _CELLS = 0.70, 0.75, 0.70
"""Bars: share of headings found, of headings that are right, and of cells found."""


@dataclass(frozen=True)
class StructureReadings:
    """Structure that a PDF tells of itself, and what each reader finds of it."""

    part: str
    name: str
    told: Structure
    read: Mapping[str, Structure]
    """Structure by reader."""


def structure_rows(documents: Iterable[StructureReadings]) -> list[Row]:
    """Print a line for each document, and return the shares of each reader over all documents of a part."""
    known = list(documents)
    for one in known:
        shown = "  ".join(f"{name} {_shown(one.told, read)}" for name, read in one.read.items())
        print(f"{one.part:7}{one.name[:36]:37}{shown}")
    rows = []
    for part in dict.fromkeys(one.part for one in known):
        chosen = [one for one in known if one.part == part]
        for name in dict.fromkeys(name for one in chosen for name in one.read):
            rows += _of_reader(part, name, chosen)
    return rows


def _of_reader(part: str, name: str, chosen: Sequence[StructureReadings]) -> list[Row]:
    titled = [(one.told.headings, one.read[name].headings) for one in chosen if one.told.headings]
    within = sum(one.read[name].within(one.told) for one in chosen if one.told.headings)
    tabled = [(one.told.cells, one.read[name].cells) for one in chosen if one.told.cells]
    told, read = sum(told.total() for told, _ in titled), sum(read.total() for _, read in titled)
    shared = sum((told & read).total() for told, read in titled)
    cells, found = sum(told.total() for told, _ in tabled), sum((told & read).total() for told, read in tabled)
    bars = (_FOUND, _RIGHT, _CELLS) if name == _OURS else (None, None, None)
    return [
        Row(f"{what}, {part}, {name}", count / total if total else None, "%", bar, note, at_least=True)
        for what, count, total, bar, note in (
            ("headings found", shared, told, bars[0], f"of {told} in {len(titled)} PDFs"),
            ("headings right", shared, read, bars[1], f"of {read}"),
            ("headings right within the outline's depth", shared, within, bars[1], f"of {within}"),
            ("table cells found", found, cells, bars[2], f"of {cells} in {len(tabled)} PDFs"),
        )
    ]


def _shown(told: Structure, read: Structure) -> str:
    """Return the numbers of headings found, told and read, and those of cells found and told."""
    headings = (
        f"headings {(told.headings & read.headings).total()}/{told.headings.total()}/{read.headings.total()}"
        if told.headings
        else ""
    )
    cells = f"cells {(told.cells & read.cells).total()}/{told.cells.total()}" if told.cells else ""
    return " ".join(part for part in (headings, cells) if part)
