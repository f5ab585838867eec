"""Seconds that the pages of a document add to its time limit, and whether models read them."""

from typing import NamedTuple

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


class Pages(NamedTuple):
    """Needs of the pages of a document."""

    seconds: float = 0.0
    """Seconds that they add to the time limit."""
    need_models: bool = False
    """Whether OCR or a layout model reads one of them, which takes `ParsingSettings.memory_of_models`."""


def has_pages(media_type: str) -> bool:
    """Tell whether files of a media type have pages that add to the time limit."""
    return media_type == PDF or media_type.startswith("image/")


def pages(content: bytes, *, media_type: str, settings: ParsingSettings) -> Pages:
    """Return the needs of the pages of a file; none where it cannot be opened.

    The seconds are bounded by the size of the file, because thousands of empty pages take few bytes, and by
    `settings.longest`.
    """
    most = min(
        _FREE + len(content) / _BYTES_A_SECOND,
        max(0.0, (settings.longest - settings.timeout).total_seconds()),
    )
    try:
        found = _pdf(content, settings, most) if media_type == PDF else _picture(content, settings)
    except Exception:  # noqa: BLE001 - the file's parser reports the error in better words
        return Pages()
    return found._replace(seconds=min(most, found.seconds))


def _pdf(content: bytes, settings: ParsingSettings, most: float) -> Pages:
    from pypdfium2 import PdfDocument  # type: ignore[import-untyped] # has no stubs

    with PdfDocument(content) as document:
        if settings.parser == "docling":
            return Pages(len(document) * _RECOGNISED, need_models=True)
        if not settings.ocr:
            return Pages(len(document) * _READ)
        seconds, need_models = 0.0, False
        for number in range(len(document)):
            if seconds >= most:
                break
            page = document[number]
            text = page.get_textpage()
            is_recognised = text.count_chars() < _FEWEST_CHARACTERS
            seconds += _RECOGNISED if is_recognised else _READ
            need_models = need_models or is_recognised
            text.close()
            page.close()
        return Pages(seconds, need_models)


def _picture(content: bytes, settings: ParsingSettings) -> Pages:
    from sourcebook.parsing.pdf.pictures.frames import open_picture

    with open_picture(content) as image:
        frames = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
    return Pages(_RECOGNISED * frames, need_models=settings.ocr)
