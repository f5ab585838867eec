"""The table of documents, one line each."""

from collections.abc import Sequence

from benchmarks.harness.document_reading import Reading
from benchmarks.harness.document_scores import share_found

_COLUMNS = (
    "document",
    "read as",
    "words found",
    "words expected",
    "word order",
    "pypdfium2",
    "heading recall",
    "heading precision",
    "cells found",
    "pages/s",
    "ms",
)


def document_table(readings: Sequence[Reading]) -> str:
    """Return a Markdown table; the reason of a refused document follows below it."""
    lines = [_COLUMNS, *(_cells(reading) for reading in readings)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_COLUMNS))]
    written = [
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |" for line in lines
    ]
    rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
    reasons = [f"{reading.sample.name}: {reading.reason}" for reading in readings if reading.reason]
    return "\n".join([written[0], rule, *written[1:], *(["", *reasons] if reasons else [])])


def _cells(reading: Reading) -> tuple[str, ...]:
    expected, found = reading.expected_headings, reading.found_headings
    compared = reading.sample.expected is not None
    return (
        reading.sample.name,
        reading.format if reading.document else "refused",
        _share(reading.words_found),
        _share(reading.words_expected),
        _similarity(reading.similarity),
        _similarity(reading.plain_similarity),
        _share(share_found(expected, found) if compared else None),
        _share(share_found(found, expected) if compared else None),
        _share(reading.cells_found),
        f"{reading.pages / reading.seconds:.1f}" if reading.pages else "",
        f"{1000 * reading.seconds:,.0f}",
    )


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def _similarity(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
