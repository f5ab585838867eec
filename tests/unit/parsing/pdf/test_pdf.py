"""Documents from PDF files: text in reading order, pages and boxes, properties, and reasons for empty documents."""

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.page_seconds import pages
from sourcebook.parsing.parse import parse
from sourcebook.parsing.pdf.layout.page_parts import Line, Page
from sourcebook.parsing.pdf.read_pdf import parse_pdf
from sourcebook.parsing.pdf.readable_pages import readable_pages
from sourcebook.parsing.pdf.text_pages import TextPage
from tests.unit.parsing.covering import assert_blocks_cover, texts
from tests.unit.parsing.pdf.pdf_writer import Mark, Picture, Shown, assembled, pdf

TEXT = (
    Shown(72, 700, "The first line of a paragraph that has two lines, which"),
    Shown(72, 688, "is enough for it to be recognised as running text."),
)


def parse_bytes(content: bytes) -> ParsedDocument:
    document = parse_pdf(content, settings=ParsingSettings(ocr=False))
    assert_blocks_cover(document)
    return document


def test_headings_paragraphs_and_pages() -> None:
    """Larger or bold lines are headings; a gap begins a paragraph; words divided at a line end are made whole."""
    first = [
        Shown(72, 740, "Annual report", size=20),
        Shown(72, 700, "The first paragraph has two lines, and its last word is di-"),
        Shown(72, 688, "vided at the end of the line."),
        Shown(72, 660, "A second paragraph follows."),
    ]
    second = [Shown(72, 740, "Outlook", bold=True), Shown(72, 715, "Text of the second page.")]
    document = parse_bytes(pdf([first, second], info="/Author (Ada) /CreationDate (D:20240506070809Z)"))
    assert [(text, block.page) for text, block in zip(texts(document), document.blocks, strict=True)] == [
        ("# Annual report", 1),
        ("The first paragraph has two lines, and its last word is divided at the end of the line.", 1),
        ("A second paragraph follows.", 1),
        ("## Outlook", 2),
        ("Text of the second page.", 2),
    ]
    assert document.title == "Annual report"
    assert document.page_count == 2
    assert document.language == "en"
    assert document.metadata == {"author": "Ada", "created": "2024-05-06T07:08:09"}


def test_blocks_know_their_boxes() -> None:
    """A box is in points from the page's upper left corner."""
    (block,) = parse_bytes(pdf([TEXT])).blocks
    assert block.box is not None
    left, top, right, bottom = block.box
    assert left == 72
    assert 300 < right < 400
    assert 792 - 712 < top < 792 - 700 < 792 - 688 < bottom < 792 - 680


def test_title_property_and_file_names() -> None:
    """The title property is the title, unless a program wrote the file's name there."""
    assert parse_bytes(pdf([TEXT], info="/Title (On running text)")).title == "On running text"
    assert parse_bytes(pdf([TEXT], info="/Title (Microsoft Word - draft 3.docx)")).title is None


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ([], "its pages are blank"),
        ([Picture()], "the PDF is scanned and OCR is off: set parsing.ocr to true"),
        ([Picture(), Shown(72, 20, "Scan 7")], "the PDF is scanned and OCR is off: set parsing.ocr to true"),
    ],
)
def test_without_text_layer(page: list[Picture | Shown], reason: str) -> None:
    """Blank pages and pictures of pages are no errors, but say why there is nothing to read."""
    document = parse_bytes(pdf([page]))
    assert (document.markdown, document.blocks, document.page_count) == ("", (), 1)
    assert document.nothing_to_read == reason


def test_only_pages_without_text_are_left_out() -> None:
    """A scanned page among others does not hide them."""
    document = parse_bytes(pdf([TEXT, [Picture()], TEXT]))
    assert [block.page for block in document.blocks] == [1, 3]
    assert document.nothing_to_read is None


def test_hidden_words_over_a_picture_are_its_text() -> None:
    """The invisible text of an OCR program over a scan is its text layer."""
    hidden = [Shown(72, 700 - 12 * n, f"Line {n} of what a program has recognised", mode=3) for n in range(4)]
    assert "Line 2 of what a program has recognised" in parse_bytes(pdf([[Picture(), *hidden]])).markdown


def test_text_that_only_clips_is_left_out() -> None:
    """Letters that nobody sees, being but the outline of a picture, are no text."""
    assert "secret" not in parse_bytes(pdf([[*TEXT, Shown(72, 500, "secret", mode=7)]])).markdown


def test_fonts_without_unicode_are_no_text_layer() -> None:
    """Glyphs without a meaning do not become words."""
    garbage = [Shown(72, 700 - 12 * n, "\x01\x02\x03\x04", font="unmapped") for n in range(6)]
    document = parse_bytes(pdf([garbage]))
    assert document.markdown == ""
    assert document.nothing_to_read is not None
    assert document.nothing_to_read.startswith("its fonts do not say which letters they show")
    assert document.metadata == {"unread_pages": [1]}


def test_words_that_lack_letters_are_reported() -> None:
    """Where a font says of some glyphs only what they are, pages with many torn words are left out, or named."""

    def page(torn: int) -> list[Shown]:
        words = ["w\x01rds" if n < torn else "words" for n in range(100)]
        return [Shown(72, 600 - 12 * n, " ".join(words[n::20]), font="unicode") for n in range(20)]

    document = parse_bytes(pdf([page(0), page(3), page(8), page(25)]))
    assert document.metadata == {"damaged_pages": [3], "unread_pages": [4]}
    assert document.markdown.split().count("words") == 100 + 97 + 92


def test_torn_words_are_recognised() -> None:
    """With recognition on, a page that lacks letters is read from its picture; where that says less, it stays."""
    page = [Shown(72, 700 - 12 * n, "w\x01rds in a \x01ow", font="unicode") for n in range(6)]
    document = parse_pdf(pdf([[*page, *TEXT]]), settings=ParsingSettings())
    assert_blocks_cover(document)
    assert document.metadata["recognised_pages"] == [1]


def test_unknown_bullets_are_bullets() -> None:
    """A glyph without a meaning before a line is the mark of a list; the page is not garbage for it."""
    items = [
        shown
        for n in range(6)
        for shown in (
            Shown(72, 700 - 12 * n, "\x01", font="unmapped"),
            Shown(84, 700 - 12 * n, f"item {n} of it"),
        )
    ]
    document = parse_bytes(pdf([items]))
    assert document.markdown == "".join(f"- item {n} of it\n" for n in range(6))


def test_encryption_with_an_empty_password_is_no_obstacle() -> None:
    """Such files open in every viewer without a question."""
    assert "first line of a paragraph" in parse_bytes(pdf([TEXT], password="")).markdown


def test_encryption_with_a_password_says_so() -> None:
    """The reason names the remedy."""
    with pytest.raises(ParseError, match="encrypted and needs a password; save a copy without one"):
        parse_bytes(pdf([TEXT], password="sesame"))  # noqa: S106 # no secret


def test_pages_are_counted() -> None:
    """The time limit grows with the pages, so they are counted before they are read."""
    file = pdf([TEXT, [], TEXT])
    assert pages(file, media_type="application/pdf", settings=ParsingSettings(ocr=False)) == (3.0, False)


@pytest.mark.parametrize("length", [60, 400])
def test_damaged_files_say_so(length: int) -> None:
    """A truncated PDF gives a reason and a remedy."""
    with pytest.raises(ParseError, match="damaged or cut off; copy it again"):
        parse(pdf([TEXT])[:length], name="a.pdf", media_type="application/pdf")


def test_no_pages() -> None:
    """A file without pages is a broken one, whatever was read before it."""
    with pytest.raises(ParseError, match="damaged or cut off"):
        parse_bytes(pdf([]))


def test_page_tree_that_leads_to_itself() -> None:
    """Circular references end in a reason."""
    circle = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [2 0 R] >>"]
    with pytest.raises(ParseError, match="damaged"):
        parse_bytes(assembled(circle))


def test_outline_that_leads_to_itself() -> None:
    """The entries before the circle count, and the pages are read."""
    content = pdf([TEXT], outline=[("A title", 1)]).replace(b"/Parent 11 0 R ", b"/Next 18 0 R   ")
    assert "running text" in parse_bytes(content).markdown


@pytest.mark.parametrize("media_box", ["0 0 1e9 1e9", "612 792 0 0", "-100 -100 612 792", "0 0 14400 14400"], ids=str)
def test_odd_page_sizes(media_box: str) -> None:
    """A page may be of any size, and lie anywhere."""
    assert "running text" in parse_bytes(pdf([TEXT], media_box=media_box)).markdown


def test_absurd_places_and_sizes() -> None:
    """Text outside of the page or without a size is left out; the rest stays."""
    odd = [
        Shown(1e30, 1e30, "far away"),
        Shown(-5000, 700, "left of it"),
        Shown(72, 600, "no size", size=0),
        Shown(72, 550, "giant", size=1e20),
    ]
    document = parse_bytes(pdf([[*TEXT, *odd]]))
    assert "running text" in document.markdown
    assert not any(words in document.markdown for words in ("far away", "left of it", "no size"))


def test_drawings_that_contain_themselves() -> None:
    """They are refused before they end the process."""
    again = "/Resources << /XObject << /again 4 0 R >> >>"
    content = assembled(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R {again} >>",
            f"<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] {again} /Length 9 >>\nstream\n/again Do\nendstream",
            "<< /Length 9 >>\nstream\n/again Do\nendstream",
        ]
    )
    with pytest.raises(ParseError, match="contain one another endlessly"):
        parse_bytes(content)


@pytest.fixture
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw pages for recognition with few pixels: there is nothing on them to recognise."""
    monkeypatch.setattr("sourcebook.parsing.pdf.ocr.rendered_pages.MOST_PIXELS", 300_000)


@pytest.mark.usefixtures("small_pictures")
def test_pages_that_were_recognised_are_named() -> None:
    """Only the page without text is recognised, and the document says which one that was."""
    document = parse_pdf(pdf([TEXT, [Picture()]]), settings=ParsingSettings())
    assert_blocks_cover(document)
    assert document.metadata == {"recognised_pages": [2]}
    assert [block.page for block in document.blocks] == [1]
    assert (
        parse_pdf(pdf([[Picture()]]), settings=ParsingSettings()).nothing_to_read
        == "no text was recognised on its pages"
    )


def test_a_page_that_cannot_be_drawn_costs_only_itself() -> None:
    """The others are read, and the document says which one was not."""
    page = Page(1, 612, 792, (Line("What the first page says", 72, 200, 80, 90, 10),))
    found = [TextPage(page, "usable"), TextPage(Page(2, 612, 792, ()), "unreadable")]
    readable = readable_pages(pdf([TEXT]), found, ocr=True)
    assert readable.pages == [page]
    assert readable.metadata == {"unread_pages": [2]}


@pytest.mark.usefixtures("small_pictures")
def test_torn_words_stay_where_recognition_reads_less() -> None:
    """The models do not know every script: then words that lack letters are better than none."""
    page: list[Mark] = [
        Picture(),
        *(
            Shown(72, 600 - 12 * n, ("w\x01rds " if n == 0 else "words ") * 10, font="unicode", mode=3)
            for n in range(10)
        ),
    ]
    document = parse_pdf(pdf([page]), settings=ParsingSettings())
    assert document.metadata == {"damaged_pages": [1]}
    assert document.markdown.split().count("words") == 90
