"""Real documents come out as docling's reference conversions say."""

from collections import Counter
from functools import cache

import pytest

from benchmarks.harness.document_scores import order_similarity, words
from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.checkout import SHARED_DATA
from tests.unit.parsing.covering import assert_blocks_cover

DOCUMENTS = SHARED_DATA / "documents"
pytestmark = pytest.mark.skipif(not DOCUMENTS.is_dir(), reason=f"the shared data is not at {DOCUMENTS}")


@cache
def read(path: str) -> ParsedDocument:
    file = DOCUMENTS / path
    content = file.read_bytes()
    return parse(content, name=file.name, media_type=detect_media_type(file.name, content[:4096]))


def expected(path: str) -> list[str]:
    file = DOCUMENTS / path
    return words(file.with_name(f"{file.stem}.expected.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("path", "least"),
    [
        ("docx/word_sample.docx", 0.99),
        ("docx/word_tables.docx", 0.99),
        ("docx/docx_lists.docx", 0.99),
        ("docx/unit_test_headers_numbered.docx", 0.99),
        ("pptx/powerpoint_sample.pptx", 0.99),
        ("xlsx/xlsx_01.xlsx", 0.98),  # a header cell merged over rows, twice in the reference, is said once
        ("html/wiki_duck.html", 0.99),
        ("csv/csv-comma.csv", 0.99),
        ("epub/epub_purvis_poetry.epub", 0.99),
        ("pdf/multi_page.pdf", 0.97),
        ("pdf/normal_4pages.pdf", 0.97),
        ("pdf/redp5110_sampled.pdf", 0.97),
        ("pdf/code_and_formula.pdf", 0.97),
        ("ocr/ocr_test.pdf", 0.90),
        ("ocr/ocr_test_rotated_90.pdf", 0.90),
    ],
)
def test_words_are_found(path: str, least: float) -> None:
    """Nearly every word of the reference is in the text, and little else."""
    document = read(path)
    wanted, found = Counter(expected(path)), Counter(words(document.markdown))
    assert (wanted & found).total() / wanted.total() >= least
    assert (wanted & found).total() / found.total() >= (0.8 if path.startswith("pptx") else 0.9)  # notes are kept, too
    assert_blocks_cover(document)


@pytest.mark.parametrize("name", ["multi_page", "normal_4pages", "redp5110_sampled", "code_and_formula"])
def test_words_stand_in_their_order(name: str) -> None:
    """Columns, boxes and tables are read one after the other; the plain text stream scores .75 to .998."""
    path = f"pdf/{name}.pdf"
    assert order_similarity(expected(path), words(read(path).markdown)) >= 0.93


@pytest.mark.parametrize("name", ["ocr_test", "ocr_test_rotated_90"])
def test_recognised_pages_are_named(name: str) -> None:
    """A scan says which pages were recognised, and how sure that is; lines of a turned one lie as in the other."""
    document = read(f"ocr/{name}.pdf")
    assert document.blocks[0].box == pytest.approx((68, 73, 508, 155), abs=5)
    assert document.metadata["recognised_pages"] == [1]
    assert "recognition_confidence" in document.metadata


def test_an_encrypted_file_says_why() -> None:
    """A PDF that does not open without its password is refused with a reason."""
    with pytest.raises(ParseError, match="encrypted and needs a password"):
        read("encrypted/2206.01062_pg3.pdf")


@pytest.mark.parametrize("name", ["eml_simple.eml", "eml_with_attachment.eml", "msg_simple.msg"])
def test_messages_are_read(name: str) -> None:
    """A message has its subject as title, a text, and blocks that cover it; files that came with it are told."""
    document = read(f"email/{name}")
    assert document.title
    assert document.markdown.strip()
    assert len(document.attachments) == ("attachment" in name)
    assert_blocks_cover(document)
