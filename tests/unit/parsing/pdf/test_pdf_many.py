"""Very large PDFs: their time grows with their length, and nothing of them is lost."""

import re
import time

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf

SECONDS = 40
"""Seconds of a core. Each takes two or three; where time grew with the square it would be minutes."""


def test_a_page_with_twenty_thousand_cells() -> None:
    """A sheet printed on one page comes out with every number."""
    cells = [
        Shown(20 + 60 * column, 20 + 14 * row, f"{row * 100 + column:05d}")
        for row in range(200)
        for column in range(100)
    ]
    started = time.process_time()
    document = parse_pdf(pdf([cells], media_box="0 0 6100 2900"), settings=ParsingSettings(ocr=False))
    assert time.process_time() - started < SECONDS
    assert set(re.findall(r"\d{5}", document.markdown)) == {f"{number:05d}" for number in range(20_000)}


def test_a_thousand_pages() -> None:
    """Every page is read, and knows its number."""
    pages = [
        [Shown(72, 700 - 14 * line, f"Gauge {number} was read at {line} o'clock by the keeper.") for line in range(6)]
        for number in range(1, 1001)
    ]
    started = time.process_time()
    document = parse_pdf(pdf(pages), settings=ParsingSettings(ocr=False))
    assert time.process_time() - started < SECONDS
    assert document.page_count == 1000
    for block in document.blocks:
        told = re.findall(r"Gauge (\d+) was", document.markdown[block.start : block.end])
        assert int(told[0]) == block.page
    assert set(re.findall(r"Gauge (\d+) was", document.markdown)) == {str(number) for number in range(1, 1001)}
