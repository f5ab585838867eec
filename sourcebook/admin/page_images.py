"""Pictures of the pages of documents, with a passage marked."""

import math
from typing import Final

from sourcebook.contract.documents import Document
from sourcebook.contract.originals import Original
from sourcebook.errors import OriginalError, ParseError, QueryError, TemporaryParseError
from sourcebook.model.media_types import PDF
from sourcebook.model.page_picture import PagePicture
from sourcebook.parsing.reading_child import ReadingChild

MOST_SCALE: Final = 10.0
"""Pixels a point, at most."""
_MOST_BYTES: Final = 300_000_000
"""Bytes of a PDF whose pages are shown: it is in memory as a whole."""


def check_scale(scale: float | None) -> None:
    """Raise a QueryError where a scale is not allowed."""
    if scale is not None and not (math.isfinite(scale) and 0 < scale <= MOST_SCALE):
        raise QueryError(f"the scale is {scale}; it must be above 0 and at most {MOST_SCALE:g} pixels a point")


def passage_text(document: Document, passage: int | None) -> str:
    """Return the text of a passage of a document; empty for none."""
    if passage is None:
        return ""
    text = next((each.text for each in document.passages if each.ordinal == passage), None)
    if text is None:
        raise QueryError(f"{document.item.uri} has no passage {passage}: it has {len(document.passages)}, from 0")
    return text


def draw_page(original: Original, page: int, scale: float | None, passage: str, child: ReadingChild) -> PagePicture:
    """Return a page of an original as a picture."""
    if original.media_type != PDF:
        raise QueryError(f"{original.name} has no pages to show: only PDFs have")
    if original.size > _MOST_BYTES:
        raise QueryError(f"{original.name} is too large to show its pages: download it")
    try:
        return child.picture(original.stream.read(), page, scale, passage)
    except TemporaryParseError as error:
        raise OriginalError(f"page {page} of {original.name} cannot be shown: {error}") from error
    except ParseError as error:
        raise QueryError(f"page {page} of {original.name} cannot be shown: {error}") from error
