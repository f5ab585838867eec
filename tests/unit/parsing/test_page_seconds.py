"""The time limit of a document grows with its pages, up to a ceiling."""

from datetime import timedelta
from io import BytesIO

import pytest
from PIL import Image
from pypdfium2 import PdfDocument  # type: ignore[import-untyped] # has no stubs

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.page_seconds import pages

TIFF = "image/tiff"
PDF = "application/pdf"


def tiff(frames: int) -> bytes:
    buffer = BytesIO()
    pages = [Image.new("1", (1, 1)) for _ in range(frames)]
    pages[0].save(buffer, "TIFF", save_all=True, append_images=pages[1:])
    return buffer.getvalue()


def empty_pages(number: int) -> bytes:
    buffer = BytesIO()
    with PdfDocument.new() as document:
        for _ in range(number):
            document.new_page(10, 10).close()
        document.save(buffer)
    return buffer.getvalue()


def test_few_pages_add_their_time() -> None:
    """Ten seconds for each page that OCR reads."""
    assert pages(tiff(3), media_type=TIFF, settings=ParsingSettings()) == (30, True)
    assert pages(empty_pages(3), media_type=PDF, settings=ParsingSettings()) == (30, True)
    assert pages(empty_pages(3), media_type=PDF, settings=ParsingSettings(ocr=False)) == (3, False)
    assert pages(empty_pages(3), media_type=PDF, settings=ParsingSettings(parser="docling", ocr=False)) == (30, True)


@pytest.mark.parametrize(("content", "media_type"), [(tiff(300), TIFF), (empty_pages(300), PDF)])
def test_empty_pages_add_no_hours(content: bytes, media_type: str) -> None:
    """Beyond a minute, the size of the file bounds what they add."""
    seconds, _ = pages(content, media_type=media_type, settings=ParsingSettings())
    assert 60 < seconds == 60 + len(content) / 2000 < 300


def test_a_setting_bounds_the_time_of_all_pages() -> None:
    """`parsing.longest` counts, unless `parsing.timeout` is longer already."""
    settings = ParsingSettings(timeout=timedelta(seconds=20), longest=timedelta(seconds=30))
    assert pages(tiff(3), media_type=TIFF, settings=settings).seconds == 10
    settings = ParsingSettings(timeout=timedelta(seconds=40), longest=timedelta(seconds=30))
    assert pages(tiff(3), media_type=TIFF, settings=settings).seconds == 0
