"""Numbers that a PDF prints on its pages are their labels, and no text of the document."""

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf

LABELS = ("i", "ii", "iii", "1", "2")


def test_labels() -> None:
    """Two pages that begin at 1 again have no number in a row of three, and are known by their labels."""
    pages = [
        [
            Shown(72, 700, f"The {name} chapter tells of the harbour and its keeper"),
            Shown(72, 686, "in the winter."),
            Shown(300, 30, label),
        ]
        for name, label in zip(("first", "second", "third", "fourth", "fifth"), LABELS, strict=True)
    ]
    nums = "/PageLabels << /Nums [0 << /S /r >> 3 << /S /D >>] >>"
    document = parse_pdf(pdf(pages, catalog=nums), settings=ParsingSettings(ocr=False))
    assert document.metadata["page_labels"] == {"1": "i", "4": "1"}
    assert not set(LABELS) & set(document.markdown.split())
    assert [block.page for block in document.blocks] == [1, 2, 3, 4, 5]
