"""The time limit of a document grows with its pages, up to a ceiling."""

from datetime import timedelta
from io import BytesIO

import pytest
from PIL import Image
from pypdfium2 import PdfDocument  # type: ignore[import-untyped] # has no stubs

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.page_seconds import page_seconds
from sourcebook.parsing.parser_pool import processes_in_memory

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
    assert page_seconds(tiff(3), media_type=TIFF, settings=ParsingSettings()) == 30
    assert page_seconds(empty_pages(3), media_type=PDF, settings=ParsingSettings()) == 30


@pytest.mark.parametrize(("content", "media_type"), [(tiff(300), TIFF), (empty_pages(300), PDF)])
def test_empty_pages_add_no_hours(content: bytes, media_type: str) -> None:
    """Beyond a minute, the size of the file bounds what they add."""
    seconds = page_seconds(content, media_type=media_type, settings=ParsingSettings())
    assert 60 < seconds == 60 + len(content) / 2000 < 300


def test_a_setting_bounds_the_time_of_all_pages() -> None:
    """`parsing.longest` counts, unless `parsing.timeout` is longer already."""
    settings = ParsingSettings(timeout=timedelta(seconds=20), longest=timedelta(seconds=30))
    assert page_seconds(tiff(3), media_type=TIFF, settings=settings) == 10
    settings = ParsingSettings(timeout=timedelta(seconds=40), longest=timedelta(seconds=30))
    assert page_seconds(tiff(3), media_type=TIFF, settings=settings) == 0


@pytest.mark.parametrize(("memory", "processes"), [(0, 2), (4, 2), (8, 2), (12, 3), (64, 4)])
def test_parsers_share_the_memory_of_the_machine(memory: int, processes: int) -> None:
    """With a limit of 2 GB each, their limits together are half of the machine's memory (in GB)."""
    assert processes_in_memory(memory * 1_000_000_000) == processes
