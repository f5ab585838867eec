"""Real PDFs come out nearly as docling's models see them, and at least as well ordered as a plain text stream."""

import re
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from statistics import fmean
from time import process_time

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.checkout import SHARED_DATA
from tests.unit.parsing.covering import assert_blocks_cover

PDFS = SHARED_DATA / "documents" / "pdf"
pytestmark = pytest.mark.skipif(not PDFS.is_dir(), reason=f"the shared PDFs are not at {PDFS}")

NAMES = ("code_and_formula", "multi_page", "normal_4pages", "redp5110_sampled")
PLAIN_STREAM = {"multi_page": 0.998, "normal_4pages": 0.930, "redp5110_sampled": 0.866, "code_and_formula": 0.753}
"""Word order of pypdfium2's plain text."""


@pytest.fixture(scope="module")
def parsed() -> dict[str, ParsedDocument]:
    return {name: parse_pdf((PDFS / f"{name}.pdf").read_bytes(), settings=ParsingSettings(ocr=False)) for name in NAMES}


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    return {name: (PDFS / f"{name}.expected.md").read_text(encoding="utf-8") for name in NAMES}


def words(markdown: str) -> list[str]:
    for written, meant in (("<!-- image -->", ""), ("<!-- formula-not-decoded -->", ""), ("&lt;", "<"), ("&gt;", ">")):
        markdown = markdown.replace(written, meant)
    return re.findall(r"\w+", re.sub(r"\\(.)", r"\1", markdown))


def headings(markdowns: Iterable[str]) -> Counter[str]:
    lines = (line for markdown in markdowns for line in markdown.splitlines())
    return Counter(" ".join(words(line)).casefold() for line in lines if re.match(r"#{1,6} ", line))


def cells(markdown: str) -> Counter[str]:
    rows = [line for line in markdown.splitlines() if line.startswith("|") and not re.fullmatch(r"[|\s:-]+", line)]
    found = Counter(" ".join(words(cell)) for row in rows for cell in row.strip("|").split("|"))
    del found[""]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_words_and_their_order(name: str, parsed: dict[str, ParsedDocument], expected: dict[str, str]) -> None:
    """Nearly every word is there, in nearly the expected order."""
    assert_blocks_cover(parsed[name])
    meant, found = words(expected[name]), words(parsed[name].markdown)
    assert (Counter(meant) & Counter(found)).total() >= 0.97 * len(meant)
    assert (Counter(meant) & Counter(found)).total() >= 0.92 * len(found)
    order = SequenceMatcher(None, meant, found, autojunk=False).ratio()
    assert order >= max(0.94, PLAIN_STREAM[name] - 0.0005)


def test_mean_word_order(parsed: dict[str, ParsedDocument], expected: dict[str, str]) -> None:
    """Over all PDFs the order is that of the expected Markdown."""
    ratios = [
        SequenceMatcher(None, words(expected[name]), words(parsed[name].markdown), autojunk=False).ratio()
        for name in NAMES
    ]
    assert fmean(ratios) >= 0.97


def test_headings(parsed: dict[str, ParsedDocument], expected: dict[str, str]) -> None:
    """Three of four headings are found, and three of four that are found are headings."""
    meant, found = headings(expected.values()), headings(one.markdown for one in parsed.values())
    right = (meant & found).total()
    assert right >= 0.75 * meant.total()
    assert right >= 0.75 * found.total()


def test_speed() -> None:
    """Born-digital pages take tens of milliseconds of one processor; the bound leaves room for slow ones."""
    content = (PDFS / "redp5110_sampled.pdf").read_bytes()
    begun = process_time()
    parse_pdf(content, settings=ParsingSettings(ocr=False))
    assert process_time() - begun < 18 / 4


def test_table_cells(parsed: dict[str, ParsedDocument], expected: dict[str, str]) -> None:
    """Nine of ten cells are found whole."""
    meant = sum((cells(markdown) for markdown in expected.values()), Counter[str]())
    found = sum((cells(one.markdown) for one in parsed.values()), Counter[str]())
    assert (meant & found).total() >= 0.9 * meant.total()
