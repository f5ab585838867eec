"""Reading pages of PDFs from their pictures."""

import io
from collections.abc import Sequence

import pytest
from PIL import Image, ImageDraw, ImageFont

from sourcebook.errors import ParseError
from sourcebook.parsing.pdf.ocr.engine import Pixels, Reading, read_lines
from sourcebook.parsing.pdf.ocr.rendered_pages import recognise_pages


def scanned(*texts: str, dpi: int = 100, turned: int = 0) -> bytes:
    """Write a PDF whose pages are only pictures, 600 x 300 pixels each."""
    pages = []
    for text in texts:
        picture = Image.new("RGB", (600, 300), "white")
        ImageDraw.Draw(picture).text((60, 100), text, fill="black", font=ImageFont.load_default(size=28))
        pages.append(picture.rotate(turned, expand=True))
    file = io.BytesIO()
    pages[0].save(file, "PDF", save_all=True, append_images=pages[1:], resolution=dpi)
    return file.getvalue()


def test_reads_just_the_wanted_pages() -> None:
    """Pages come in the order asked for, with their numbers, places in points, and confidence."""
    found = list(recognise_pages(scanned("The first page", "The second page", "The third page"), [3, 1]))
    assert [(one.page.number, [line.text for line in one.page.lines]) for one in found] == [
        (3, ["The third page"]),
        (1, ["The first page"]),
    ]
    page = found[1].page
    assert (page.width, page.height) == pytest.approx((432, 216), abs=1)
    assert page.lines[0].left == pytest.approx(60 * 0.72, abs=8)
    assert page.lines[0].top == pytest.approx(100 * 0.72, abs=8)
    assert 15 < page.lines[0].size < 35
    assert found[1].recognised.confidence is not None
    assert found[1].recognised.confidence > 0.9


def test_turns_a_page_upright() -> None:
    """A page scanned on its side has the size and the places of the upright page."""
    [found] = recognise_pages(scanned("A page on its side", turned=90), [1])
    assert found.recognised.rotation == 90
    assert (found.page.width, found.page.height) == pytest.approx((432, 216), abs=1)
    assert [line.text for line in found.page.lines] == ["A page on its side"]
    assert found.page.lines[0].left == pytest.approx(60 * 0.72, abs=8)


def test_no_line_is_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines that tell whether a page is upright are not read again with the others."""
    read: list[int] = []

    def counted(cuts: Sequence[Pixels]) -> list[Reading]:
        read.append(len(cuts))
        return read_lines(cuts)

    monkeypatch.setattr("sourcebook.parsing.pdf.ocr.line_readers.read_lines", counted)
    [found] = recognise_pages(scanned("The lamp on the pier is lit"), [1])
    assert [line.text for line in found.page.lines] == ["The lamp on the pier is lit"]
    assert sum(read) == 1


@pytest.mark.parametrize("dpi", [1, 4000])
def test_reads_scans_whose_resolution_is_wrong(dpi: int) -> None:
    """A scan on a page as large as a house or as small as a stamp is drawn with enough pixels and no more."""
    [found] = recognise_pages(scanned("What is the resolution", dpi=dpi), [1])
    assert [line.text for line in found.page.lines] == ["What is the resolution"]


@pytest.mark.parametrize("box", ["0 0 1000000000 1000000000", "0 0 10 1000000", "0 0 0 0", "5 5 -99999 3"])
def test_draws_pages_of_any_size(box: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page as large as a country, or without any size, is drawn within bounds."""
    monkeypatch.setattr("sourcebook.parsing.pdf.ocr.rendered_pages.MOST_PIXELS", 300_000)
    body = f"/Type /Page /Parent 2 0 R /MediaBox [{box}] /Resources << >>"
    content = (
        "%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n"
        "2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj\n"
        f"3 0 obj << {body} >> endobj\ntrailer << /Root 1 0 R >>\n%%EOF\n"
    ).encode()
    [found] = recognise_pages(content, [1])
    assert found.page.lines == ()
    assert found.recognised.confidence is None


def test_says_what_is_wrong() -> None:
    """A file that is no PDF gives a reason; a page that cannot be rendered is left out, and the others are read."""
    with pytest.raises(ParseError, match="does not open"):
        list(recognise_pages(b"no PDF at all", [1]))
    [read] = recognise_pages(scanned("One page"), [2, 1])
    assert (read.page.number, len(read.page.lines)) == (1, 1)
