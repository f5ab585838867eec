"""Real documents come out as docling's reference conversions say."""

import re
from collections import Counter
from pathlib import Path

import pytest

from sourcebook.errors import ParseError
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse

from .covering import assert_blocks_cover

DOCUMENTS = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "documents"
pytestmark = pytest.mark.skipif(not DOCUMENTS.is_dir(), reason=f"the shared data is not at {DOCUMENTS}")


def words(markdown: str) -> Counter[str]:
    for written, meant in (("<!-- image -->", ""), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        markdown = markdown.replace(written, meant)
    return Counter(re.findall(r"\w+", re.sub(r"\\(.)", r"\1", markdown)))


@pytest.mark.parametrize(
    ("path", "least"),
    [
        ("docx/word_sample.docx", 0.99),
        ("docx/word_tables.docx", 0.99),
        ("docx/docx_lists.docx", 0.99),
        ("docx/unit_test_headers_numbered.docx", 0.99),
        ("pptx/powerpoint_sample.pptx", 0.99),
        ("xlsx/xlsx_01.xlsx", 0.98),
        ("html/wiki_duck.html", 0.98),
        ("csv/csv-comma.csv", 0.99),
        ("pdf/multi_page.pdf", 0.95),
        ("pdf/normal_4pages.pdf", 0.95),
        ("pdf/redp5110_sampled.pdf", 0.95),
        ("pdf/code_and_formula.pdf", 0.95),
    ],
)
def test_words_are_found(path: str, least: float) -> None:
    """Nearly every word of the reference is in the text, and little else."""
    file = DOCUMENTS / path
    content = file.read_bytes()
    document = parse(content, name=file.name, media_type=detect_media_type(file.name, content[:4096]))
    expected = words(file.with_name(f"{file.stem}.expected.md").read_text(encoding="utf-8"))
    found = words(document.markdown)
    assert (expected & found).total() / expected.total() >= least
    assert (expected & found).total() / found.total() >= 0.9
    assert_blocks_cover(document)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("encrypted/2206.01062_pg3.pdf", "encrypted and needs a password"),
        ("ocr/ocr_test.pdf", "has no text layer"),
        ("epub/epub_purvis_poetry.epub", "EPUB"),
        ("email/eml_simple.eml", "e-mail"),
        ("email/msg_simple.msg", "Outlook"),
    ],
)
def test_what_cannot_be_read_says_why(path: str, reason: str) -> None:
    """Protected, scanned and unsupported files each have their sentence."""
    file = DOCUMENTS / path
    content = file.read_bytes()
    with pytest.raises(ParseError, match=reason):
        parse(content, name=file.name, media_type=detect_media_type(file.name, content[:4096]))
