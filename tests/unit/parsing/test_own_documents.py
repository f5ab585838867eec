"""The example library's binary documents come out as the words that they were made from."""

from collections import Counter
from functools import cache

import pytest

from benchmarks.harness.document_scores import headings, order_similarity, share_found, table_cells, words
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import HEAD_BYTES, detect_media_type
from sourcebook.parsing.parse import parse
from tests.checkout import EXAMPLES


@cache
def read(path: str) -> ParsedDocument:
    file = EXAMPLES / "library" / path
    content = file.read_bytes()
    return parse(content, name=file.name, media_type=detect_media_type(file.name, content[:HEAD_BYTES]))


def source(name: str) -> str:
    return (EXAMPLES / "sources" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "name", "least"),
    [
        ("reports/annual-review-2024.pdf", "annual-review-2024", 0.97),
        ("reports/well-card-1961.pdf", "well-card-1961", 0.90),
        ("procedures/levelling.docx", "levelling", 0.99),
        ("procedures/volunteer-induction.pptx", "volunteer-induction", 0.99),
    ],
)
def test_words_are_found_in_their_order(path: str, name: str, least: float) -> None:
    """The text layer, the scanned page on its side, the document and the slides hold the words of their source."""
    expected, found = words(source(name)), words(read(path).markdown)
    share = share_found(Counter(expected), Counter(found))
    assert share is not None
    assert share >= least
    assert order_similarity(expected, found) >= 0.93


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("reports/annual-review-2024.pdf", "annual-review-2024"),
        ("procedures/levelling.docx", "levelling"),
        ("procedures/volunteer-induction.pptx", "volunteer-induction"),
    ],
)
def test_headings_are_those_of_the_source(path: str, name: str) -> None:
    """No heading is missed, and nothing else is taken for one."""
    assert headings(read(path).markdown) == headings(source(name))


@pytest.mark.parametrize(
    ("path", "name"),
    [("reports/annual-review-2024.pdf", "annual-review-2024"), ("procedures/levelling.docx", "levelling")],
)
def test_every_cell_of_a_table_is_found(path: str, name: str) -> None:
    """Tables come out as tables, also those that a PDF only draws."""
    expected = table_cells(source(name))
    assert expected
    assert share_found(expected, table_cells(read(path).markdown)) == 1.0
