"""Pages of running text, and the headings that are read from them."""

from collections.abc import Sequence

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, pdf

WORDS = "some words that fill the line of a page with the keeper of the light"


def headings(*pages: Sequence[Mark]) -> list[str | None]:
    """Return the titles of the headings of a PDF."""
    document = parse_pdf(pdf(list(pages)), settings=ParsingSettings(ocr=False))
    return [block.title for block in document.blocks if block.kind == "heading"]


def prose(top: float, lines: int = 4, size: float = 10) -> list[Mark]:
    """Return a paragraph of running text that ends with a full stop."""
    texts = [WORDS] * (lines - 1) + [f"{WORDS}."]
    return [Shown(72, top - 1.2 * size * n, text, size=size) for n, text in enumerate(texts)]
