"""How much longer than others a document with many pages may take."""

from collections.abc import Iterator
from io import BytesIO

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.media_types import PDF

_READ = 1.0
_LOOKED_AT = 10.0
"""A page that is recognised, or laid out by a model, takes one to four seconds on a machine of today."""
_FEWEST_CHARACTERS = 16
"""A page with less than this has no text layer worth the name."""


def has_pages(media_type: str) -> bool:
    """Tell whether the pages of such a file count."""
    return media_type == PDF or media_type.startswith("image/")


def page_seconds(content: bytes, *, media_type: str, settings: ParsingSettings) -> float:
    """Return the seconds that the pages of a file add to its time limit; 0 where it cannot be opened."""
    if media_type != PDF:
        pages = _pictures(content)
    elif settings.parser == "docling":
        pages = _models(content)
    else:
        pages = _pdf(content, ocr=settings.ocr)
    try:
        return sum(pages)
    except Exception:  # noqa: BLE001 - whatever is wrong with the file, its parser tells it better
        return 0.0


def _pdf(content: bytes, *, ocr: bool) -> Iterator[float]:
    from pypdfium2 import PdfDocument  # type: ignore[import-untyped] # has no stubs

    with PdfDocument(content) as document:
        if not ocr:
            yield _READ * len(document)
            return
        for number in range(len(document)):
            page = document[number]
            text = page.get_textpage()
            yield _LOOKED_AT if text.count_chars() < _FEWEST_CHARACTERS else _READ
            text.close()
            page.close()


def _models(content: bytes) -> Iterator[float]:
    from pypdfium2 import PdfDocument

    with PdfDocument(content) as document:
        yield _LOOKED_AT * len(document)


def _pictures(content: bytes) -> Iterator[float]:
    from PIL import Image

    with Image.open(BytesIO(content)) as image:
        yield _LOOKED_AT * (getattr(image, "n_frames", 1) if image.format == "TIFF" else 1)
