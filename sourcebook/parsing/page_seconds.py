"""Seconds that the pages of a document add to its time limit."""

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.media_types import PDF

_READ = 1.0
"""Seconds per page with a text layer."""
_RECOGNISED = 10.0
"""Seconds per page that OCR or a layout model reads, which takes one to four seconds on a current machine."""
_FREE = 60.0
"""Seconds that pages may add whatever the size of their file."""
_BYTES_A_SECOND = 2_000
"""Bytes of a file for each second that its pages add beyond those: a scanned page has 5 kB at least."""
_FEWEST_CHARACTERS = 16
"""Characters below which a page counts as one without a text layer."""


def has_pages(media_type: str) -> bool:
    """Tell whether files of a media type have pages that add to the time limit."""
    return media_type == PDF or media_type.startswith("image/")


def page_seconds(content: bytes, *, media_type: str, settings: ParsingSettings) -> float:
    """Return the seconds that the pages of a file add to its time limit; 0 where it cannot be opened.

    They are bounded by the size of the file, because thousands of empty pages take few bytes, and by
    `settings.longest`.
    """
    most = min(
        _FREE + len(content) / _BYTES_A_SECOND,
        max(0.0, (settings.longest - settings.timeout).total_seconds()),
    )
    try:
        return min(most, _pdf(content, settings, most) if media_type == PDF else _picture(content))
    except Exception:  # noqa: BLE001 - the file's parser reports the error in better words
        return 0.0


def _pdf(content: bytes, settings: ParsingSettings, most: float) -> float:
    from pypdfium2 import PdfDocument  # type: ignore[import-untyped] # has no stubs

    with PdfDocument(content) as document:
        if settings.parser == "docling" or not settings.ocr:
            return len(document) * (_RECOGNISED if settings.parser == "docling" else _READ)
        seconds = 0.0
        for number in range(len(document)):
            if seconds >= most:
                break
            page = document[number]
            text = page.get_textpage()
            seconds += _RECOGNISED if text.count_chars() < _FEWEST_CHARACTERS else _READ
            text.close()
            page.close()
        return seconds


def _picture(content: bytes) -> float:
    from sourcebook.parsing.pdf.pictures.frames import open_picture

    with open_picture(content) as image:
        return _RECOGNISED * (getattr(image, "n_frames", 1) if image.format == "TIFF" else 1)
