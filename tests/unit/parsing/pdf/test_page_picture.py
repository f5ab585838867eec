"""Pictures of pages, and where the words of a passage stand on them."""

from io import BytesIO

import pytest

from sourcebook.errors import ParseError, QueryError
from sourcebook.model.page_picture import PagePicture
from sourcebook.parsing.pdf.page_picture import page_picture, runs, words_of
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf

LINES = (
    "The batteries of the tide gauge last",
    "fourteen months, and are changed in",
    "autumn by the keeper of the pier.",
)
PAGE = [Shown(72, 700 - 20 * number, line) for number, line in enumerate(LINES)]


def picture(content: bytes, passage: str = "", page: int = 1, scale: float | None = 1.0) -> PagePicture:
    return page_picture(content, page, scale, passage, 4_000_000_000)


def test_each_line_of_a_passage_has_a_box_where_it_stands() -> None:
    """Markup of Markdown is no word; the boxes are shares of the page from its upper left."""
    found = picture(pdf([PAGE, PAGE]), "**tide gauge** last fourteen months, and `are changed` in autumn", page=2)
    assert (found.width, found.height, found.page, found.pages) == (612, 792, 2, 2)
    assert len(found.boxes) == 3
    lefts, tops, rights, bottoms = zip(*found.boxes, strict=True)
    assert list(tops) == sorted(tops)
    assert all(abs(top - (792 - 700 + 20 * n - 8) / 792) < 0.01 for n, top in enumerate(tops))
    assert lefts[0] > lefts[1] == pytest.approx(72 / 612, abs=0.005)
    assert rights[2] < rights[1]
    assert all(bottom - top < 0.02 for top, bottom in zip(tops, bottoms, strict=True))


def test_the_passage_is_marked_in_the_picture_alone() -> None:
    from PIL import Image

    plain, marked = (Image.open(BytesIO(picture(pdf([PAGE]), text).png)) for text in ("", LINES[1]))
    middle = (150, 792 - 700 + 20 - 3)
    assert (255, 233, 120) in [marked.getpixel((middle[0] + step, middle[1])) for step in range(30)]
    assert plain.getpixel((10, 10)) == marked.getpixel((10, 10)) == (255, 255, 255)
    unmarked = {plain.getpixel((x, y)) for x in range(0, 612, 3) for y in range(0, 792, 3)}
    assert (255, 233, 120) not in unmarked


def test_a_page_that_is_turned_or_cropped_has_its_boxes_as_it_is_shown() -> None:
    upright = picture(pdf([PAGE]), LINES[0])
    turned = picture(pdf([PAGE]).replace(b"/MediaBox", b"/Rotate 90 /MediaBox"), LINES[0])
    assert (turned.width, turned.height) == (792, 612)
    ((left, top, right, bottom),) = upright.boxes
    (box,) = turned.boxes
    assert box == pytest.approx((1 - bottom, left, 1 - top, right), abs=0.01)
    cropped = picture(pdf([PAGE], media_box="50 400 612 792"), LINES[0])
    (box,) = cropped.boxes
    assert box[0] == pytest.approx((72 - 50) / 562, abs=0.01)


def test_a_passage_that_is_not_there_has_no_box() -> None:
    assert picture(pdf([PAGE]), "Seals rest on the steps of the harbour").boxes == ()
    assert picture(pdf([PAGE]), "…").boxes == ()
    assert picture(pdf([[]]), LINES[0]).boxes == ()


def test_no_picture_has_more_than_2000_pixels_a_side() -> None:
    large = picture(pdf([[]], media_box="0 0 14400 100"), scale=10)
    assert (large.width, large.height) == (2_000, 14)
    assert picture(pdf([[]], media_box="0 0 1 1"), scale=0.01).width >= 1


LOCKED = pdf([PAGE], password="secret")  # noqa: S106 - of a file that the test writes


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7", b"GIF89a", LOCKED])
def test_a_pdf_that_does_not_open_is_refused(content: bytes) -> None:
    with pytest.raises(ParseError, match="does not open"):
        picture(content)


def test_there_must_be_such_a_page() -> None:
    with pytest.raises(QueryError, match="no page 3: it has 2"):
        picture(pdf([PAGE, PAGE]), page=3)


@pytest.mark.parametrize(
    ("page", "passage", "expected"),
    [
        ("a b c d e", "b c d", [(1, 4)]),
        ("a b c x d e f", "a b c d e f", [(0, 7)]),  # a word that was read otherwise
        ("a b c 1 2 3 4 d e f", "a b c d e f", [(0, 3), (7, 10)]),
        ("a b x b y b", "b q b r b", []),  # its words, here and there
        ("a b", "b", [(1, 2)]),
        ("a b", "", []),
        ("", "a", []),
    ],
)
def test_parts_of_a_passage_are_words_in_a_row(page: str, passage: str, expected: list[tuple[int, int]]) -> None:
    assert runs(page.split(), passage.split()) == expected


def test_words_are_compared_without_case_ligatures_and_marks() -> None:
    assert words_of("The *ﬁnal* Straße_2, l'été") == ["the", "final", "strasse", "2", "l", "été"]
