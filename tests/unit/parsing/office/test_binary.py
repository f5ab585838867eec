"""Documents and presentations of the old binary office formats."""

import struct

import anydoc
import pytest

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import DOC, OLE, PPT
from sourcebook.parsing.office.legacy.excel import ole_properties
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts
from tests.unit.parsing.office.binary_office_files import (
    binary_document,
    binary_slides,
    document_before_97,
    presentation_of,
    with_properties,
)

TEXT = (
    "The upper gates\nWho opens the upper gates at night? The keeper of the light does, who sleeps in the tower: §.\n"
)


def read(content: bytes, media_type: str) -> ParsedDocument:
    document = parse(content, name="a", media_type=media_type)
    assert_blocks_cover(document)
    return document


@pytest.mark.parametrize("media_type", [DOC, OLE])
def test_the_paragraphs_of_a_document(media_type: str) -> None:
    """Whatever its name is, the streams of the file decide."""
    document = read(binary_document(TEXT), media_type)
    assert texts(document) == TEXT.splitlines()
    assert document.language == "en"


@pytest.mark.parametrize("media_type", [PPT, OLE])
def test_the_title_and_text_of_a_slide(media_type: str) -> None:
    """The title is a heading, and the document's title where its properties have none."""
    document = read(binary_slides(("The upper gates", "Who opens them at night?")), media_type)
    assert texts(document) == ["## The upper gates", "Who opens them at night?"]
    assert (document.title, document.page_count) == ("The upper gates", 1)


def test_slides_are_pages() -> None:
    """Also one without a title, and one with the title of the slide before it."""
    slides = (("Gates", "The upper ones."), ("", "Nobody sleeps."), ("Tower", "The light."), ("Tower", "The stairs."))
    document = read(binary_slides(*slides), PPT)
    assert [(block.page, text) for block, text in zip(document.blocks, texts(document), strict=True)] == [
        (1, "## Gates"), (1, "The upper ones."), (2, "Nobody sleeps."), (3, "## Tower"), (3, "The light."),
        (4, "## Tower"), (4, "The stairs."),
    ]  # fmt: skip
    assert document.page_count == 4


def test_the_first_row_of_a_table_is_its_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """anydoc writes an empty one above a table without a header."""
    table = "|  |  |\n| --- | --- |\n| Car | 80 |\n| Bus | 200 |\n"
    monkeypatch.setattr(anydoc, "to_markdown_bytes", lambda _content, _format: table)
    assert read(binary_document(TEXT), DOC).markdown == "| Car | 80 |\n| --- | --- |\n| Bus | 200 |\n"


def test_a_document_without_text_says_so() -> None:
    """It may hold nothing but pictures."""
    assert parse(binary_document("\n"), name="a.doc", media_type=DOC).nothing_to_read == "it has no text"


@pytest.mark.parametrize(("error", "failure"), [
    (anydoc.EncryptedError("x"), FailureClass.PASSWORD),
    (anydoc.ResourceLimitError("x"), FailureClass.TOO_LARGE),
    (anydoc.MalformedError("x"), FailureClass.CORRUPT),
    (type("PanicException", (BaseException,), {})("x"), FailureClass.CORRUPT),
])  # fmt: skip
def test_what_anydoc_refuses_has_a_reason(
    error: BaseException, failure: FailureClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a fault of its compiled code, which is no `Exception`."""

    def refuse(_content: bytes, _format: str) -> str:
        raise error

    monkeypatch.setattr(anydoc, "to_markdown_bytes", refuse)
    with pytest.raises(ParseError) as caught:
        parse(binary_document(TEXT), name="a.doc", media_type=DOC)
    assert caught.value.failure_class is failure


@pytest.mark.parametrize("length", [600, 2000, 5000])
def test_a_document_that_is_cut_off_says_so(length: int) -> None:
    """It never crashes its parser."""
    with pytest.raises(ParseError, match=r"damaged or cut off|check that name|not read"):
        parse(binary_document(TEXT)[:length], name="a.doc", media_type=DOC)


@pytest.mark.parametrize(
    ("title", "code_page", "expected"),
    [
        ("Größe der Schleusen".encode("cp1252"), 1252, "Größe der Schleusen"),
        ("Шлюзы".encode("cp1251"), 1251, "Шлюзы"),
        ("水門".encode("cp932"), 932, "水門"),
        ("Größe".encode(), 65001 - 65536, "Größe"),
        ("Größe".encode("cp1252"), 1, "Größe"),
        (b"PowerPoint Presentation", 1252, None),
        (b"Slide 1", 1252, None),
    ],
)
def test_the_title_in_the_properties(title: bytes, code_page: int, expected: str | None) -> None:
    """In the code page that the file states; none that a program wrote, and no date of the year 1601."""
    assert ole_properties(with_properties(title, code_page)) == ({"title": expected} if expected else {})


def test_boxes_and_headers_of_a_document() -> None:
    """Boxes stand at the end, as anydoc leaves them out; headers, and boxes in them, are left out and counted."""
    document = read(
        binary_document(TEXT, "", "Company\n", "", "", "", "Boxed \x13 PAGE \x147\x15\nThe upper gates\n", "Logo\n"),
        DOC,
    )
    assert texts(document) == [*TEXT.splitlines(), "Boxed 7"]
    left_out = document.metadata["left_out"]
    assert isinstance(left_out, dict)
    assert left_out["texts"] == ["Company", "Logo"]


def test_words_that_word_does_not_show() -> None:
    """Deleted words, also with the end of a paragraph, are gone; hidden ones too, and counted but for field codes."""
    text = "The ferry carries fortythirty-six cars.\nIt leaves\n at noon.\nDogs pay.\x13 XE pay \x15 Guards sleep.\n"
    marked = {"forty": 0x0800, "\n at": 0x0800, "\x13 XE pay \x15": 0x083C, " Guards sleep.": 0x083C}
    document = read(binary_document(text, marked=marked), DOC)
    assert texts(document) == ["The ferry carries thirty-six cars.", "It leaves noon.", "Dogs pay."]
    left_out = document.metadata["left_out"]
    assert isinstance(left_out, dict)
    assert (left_out["words"], left_out["texts"]) == (2, ["Guards sleep."])


def test_raised_words() -> None:
    """An exponent is no digit of its number and a note's mark none of the year; what is level stays as it is."""
    text = (
        "The mass is 106 kg.\nAll 40 m2 of it, 10-3 m, Ca2+.\n"
        'See \x13 HYPERLINK "http://a.example" \x14the Act of 1815\x157 above.\n'
        "Nothing is raised in 106 kg, 40 m2 and 18157.\n"
    )
    offset = struct.pack("<HhHH", 0x4845, 8, 0x4A43, 19)
    document = read(
        binary_document(text, marked={"6": 0x2A48, "2": offset, "-3": 0x2A48, "2+": offset, "7": 0x2A48}), DOC
    )
    assert texts(document) == [
        "The mass is 10^6 kg.",
        "All 40 m^2 of it, 10^-3 m, Ca^2+.",
        "See [the Act of 1815](http://a.example)[7] above.",
        "Nothing is raised in 106 kg, 40 m2 and 18157.",
    ]


def test_raised_words_are_found_where_they_stand() -> None:
    """In a short line with the letters of an earlier one, and with the end of their line; lowered ones, too."""
    lowered = struct.pack("<HB", 0x2A48, 2)
    text = "About 40 km2 of it.\nOne.\nkm2\nAll km7 of it.\nIt is 10113.\nLevel km2.\n"
    document = read(binary_document(text, marked={"2\nAll": 0x2A48, "3": lowered}), DOC)
    assert texts(document) == ["About 40 km2 of it.", "One.", "km^2", "All km7 of it.", "It is 1011_3.", "Level km2."]


def test_moved_words_stand_where_they_were_moved_to() -> None:
    """Word deletes them in their old place."""
    text = "Smoking is forbidden.\nThe whistle sounds.\nSmoking is forbidden. \n"
    document = read(binary_document(text, marked={"Smoking is forbidden.\n": 0x0800}), DOC)
    assert texts(document) == ["The whistle sounds.", "Smoking is forbidden."]


RUSSIAN = "Шлюзовой смотритель открывает верхние ворота ночью.\rБашня стоит над водой, и свет виден издалека.\r"


@pytest.mark.parametrize(("version", "media_type"), [(0x65, DOC), (0x68, OLE), (0x2D, DOC)])
def test_documents_from_before_word_97_are_paragraphs(version: int, media_type: str) -> None:
    """Word 2, 6 and 95, which anydoc refuses: their code page is guessed, a row of a table is a paragraph."""
    row = "Ворота\x07Ширина\x07\x07"
    document = read(document_before_97((RUSSIAN + row).encode("cp1251"), version=version), media_type)
    assert texts(document) == [*RUSSIAN.split("\r")[:-1], "Ворота Ширина"]
    assert document.language == "ru"


def test_the_parts_of_an_old_document() -> None:
    """Notes, comments and boxes are kept; headers are left out and counted; fields show their result."""
    field = b"See page \x13PAGEREF \x13 x \x15\x147\x15.\r"
    document = read(
        document_before_97(field, b"\x02 A note.\r", b"Company paper\r", b"macro", b"Why?\r", b"", b"Boxed\r"), DOC
    )
    assert texts(document) == ["See page 7.", "A note.", "Why?", "Boxed"]
    assert document.metadata["left_out"] == {"rows": 1, "words": 2, "share": 0.2766, "texts": ["Company paper"]}


def test_an_old_document_that_was_saved_fast() -> None:
    """Its pieces are read in the order of the text, not of the file."""
    document = read(document_before_97(b"last.\rFirst, ", flags=4, pieces=[(6, 7), (0, 6)]), DOC)
    assert texts(document) == ["First, last."]


@pytest.mark.parametrize(
    ("content", "failure"),
    [
        (document_before_97(b"text", flags=0x100, version=0x2D), FailureClass.PASSWORD),
        (document_before_97(b"text", flags=4, pieces=[(0, 1 << 20)]), FailureClass.CORRUPT),
        (document_before_97(b"text", flags=4), FailureClass.CORRUPT),
        (document_before_97(b"text", version=0x2D)[:-2], FailureClass.CORRUPT),
    ],
)
def test_an_old_document_that_cannot_be_read_has_a_reason(content: bytes, failure: FailureClass) -> None:
    """A password, pieces beyond the file, no table of pieces, an end that is missing."""
    with pytest.raises(ParseError) as error:
        parse(content, name="a.doc", media_type=DOC)
    assert error.value.failure_class == failure


def test_a_presentation_from_before_powerpoint_97_says_so() -> None:
    """It has a stream of the same name, in which anydoc finds nothing; it is not taken for one without text."""
    content = presentation_of(b"\x03\0\0\0\xff\xff\0\0" * 64)
    with pytest.raises(ParseError, match="written by PowerPoint 95 or an older one") as error:
        parse(content, name="a.ppt", media_type=PPT)
    assert error.value.failure_class is FailureClass.UNSUPPORTED
