"""Pictures as documents."""

import io

import pytest
from PIL import Image, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngInfo
from pillow_heif import register_heif_opener

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.pdf.ocr.recognise import recognise
from sourcebook.parsing.pdf.ocr.recognised_page import RecognisedPage
from sourcebook.parsing.pdf.pictures.read_picture import parse_image
from tests.unit.parsing.covering import assert_blocks_cover

TEXT = ("Read what is written in pictures", "and find it again among all other pages")


register_heif_opener()  # to write HEIF
_KNOWN: dict[tuple[tuple[int, int], bytes, tuple[str, ...]], RecognisedPage] = {}


@pytest.fixture(autouse=True)
def recognised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recognise the same pixels once, as they are in most of the formats."""

    def recognised(image: Image.Image, languages: tuple[str, ...] = ()) -> RecognisedPage:
        key = (image.size, image.convert("RGB").tobytes(), languages)
        if key not in _KNOWN:
            _KNOWN[key] = recognise(image, languages)
        return _KNOWN[key]

    monkeypatch.setattr("sourcebook.parsing.pdf.ocr.recognise.recognise", recognised)


def picture(lines: tuple[str, ...] = TEXT, *, mode: str = "RGB") -> Image.Image:
    drawn = Image.new("RGB", (640, 80 + 45 * len(lines)), "white")
    for number, line in enumerate(lines):
        ImageDraw.Draw(drawn).text((40, 40 + 45 * number), line, fill="black", font=ImageFont.load_default(size=26))
    return drawn.convert(mode)


def saved(image: Image.Image, file_format: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, file_format, **options)
    return file.getvalue()


def read(content: bytes) -> ParsedDocument:
    document = parse_image(content, settings=ParsingSettings())
    assert_blocks_cover(document)
    return document


def flat(document: ParsedDocument) -> str:
    return " ".join(document.markdown.split())


@pytest.mark.parametrize("file_format", ["PNG", "JPEG", "TIFF", "GIF", "WEBP", "BMP", "AVIF", "HEIF"])
def test_reads_every_format(file_format: str) -> None:
    """The text of a picture is a document with one page, its size, format, language and confidence."""
    document = read(saved(picture(), file_format))
    assert flat(document) == " ".join(TEXT)
    assert document.page_count == 1
    assert document.language == "en"
    assert document.metadata["format"] == file_format.lower()
    assert (document.metadata["width"], document.metadata["height"]) == (640, 170)
    assert document.metadata["recognised_pages"] == [1]
    confidence = document.metadata["recognition_confidence"]
    assert isinstance(confidence, dict)
    assert isinstance(confidence["1"], float)
    assert 0.9 < confidence["1"] <= 1
    assert document.nothing_to_read is None


def test_each_frame_of_a_tiff_is_a_page() -> None:
    """Pages keep their number, and an empty one among them is no fault."""
    pages = [picture(("The first page of the fax",)), picture(()), picture(("The last page of the fax",))]
    document = read(saved(pages[0], "TIFF", save_all=True, append_images=pages[1:]))
    assert document.page_count == 3
    assert [(block.page, document.markdown[block.start : block.end].strip("# ")) for block in document.blocks] == [
        (1, "The first page of the fax"),
        (3, "The last page of the fax"),
    ]
    assert document.metadata["recognised_pages"] == [1, 2, 3]
    assert document.metadata["recognition_confidence"].keys() == {"1", "3"}  # type: ignore[union-attr]


def test_of_an_animation_the_first_frame_counts() -> None:
    """A GIF that moves is one page."""
    document = read(saved(picture(), "GIF", save_all=True, append_images=[picture(("Something else",))]))
    assert flat(document) == " ".join(TEXT)
    assert document.page_count == 1


def test_boxes_are_in_points() -> None:
    """A block's box covers its letters: in points with a resolution, in pixels without one."""
    plain, dense = read(saved(picture())), read(saved(picture(), dpi=(144, 144)))
    assert dense.metadata["dpi"] == 144
    assert "dpi" not in plain.metadata
    for document, scale in ((plain, 1), (dense, 0.5)):
        box = document.blocks[0].box
        assert box is not None
        assert box[:2] == pytest.approx((40 * scale, 40 * scale), abs=10)


def test_shrinking_keeps_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """The boxes of a picture that was shrunk before it was read are those of the whole picture."""
    monkeypatch.setattr("sourcebook.parsing.pdf.ocr.recognise.MOST_PIXELS", 600_000)
    document = read(saved(picture(TEXT[:1]).resize((640 * 15, 125 * 15)).convert("1"), "TIFF"))
    assert flat(document) == TEXT[0]
    box = document.blocks[0].box
    assert box is not None
    assert box[0] == pytest.approx(600, abs=100)
    assert document.metadata["width"] == 9600


def test_tells_who_made_it_and_when() -> None:
    """Artist and date come from EXIF, title and author from a PNG's texts; broken EXIF is no fault."""
    exif = Image.Exif()
    exif[315] = "Ada  Lovelace"
    exif.get_ifd(0x8769)[36867] = "2024:05:17 09:30:00"
    document = parse_image(saved(picture(), "JPEG", exif=exif), settings=ParsingSettings(ocr=False))
    assert document.metadata["author"] == "Ada Lovelace"
    assert document.metadata["created"] == "2024-05-17T09:30:00"
    texts = PngInfo()
    texts.add_text("Title", "Board of May")
    texts.add_itxt("Author", "Émilie du Châtelet")
    document = read(saved(picture(), pnginfo=texts))
    assert document.title == "Board of May"
    assert document.metadata["author"] == "Émilie du Châtelet"
    assert read(saved(picture(), "JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff\xff")).markdown


def test_a_picture_without_text_says_so() -> None:
    """Nothing is wrong with a photograph; there is only nothing to read."""
    document = read(saved(Image.new("RGB", (300, 200), "#406080")))
    assert document.markdown == ""
    assert document.blocks == ()
    assert document.nothing_to_read == "no text is seen in the picture"


def test_ocr_can_be_switched_off() -> None:
    """Without OCR only properties are read, and the reason names the setting."""
    document = parse_image(
        saved(picture(), "TIFF", save_all=True, append_images=[picture()]), settings=ParsingSettings(ocr=False)
    )
    assert (document.markdown, document.blocks, document.page_count) == ("", (), 2)
    assert document.nothing_to_read == "it is a picture and OCR is off: set parsing.ocr to true"
    assert document.metadata["width"] == 640
