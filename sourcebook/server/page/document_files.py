"""Files of documents for the page: originals, exports, and pages of PDFs with the found passage marked."""

from typing import Annotated, Final

from fastapi import APIRouter, Header, Request
from starlette.responses import Response

from sourcebook.model.media_types import PDF
from sourcebook.model.page_labels import page_label
from sourcebook.model.page_picture import Box
from sourcebook.server.document_types import DocumentNumber
from sourcebook.server.page.rendering import render
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.routes import document_files
from sourcebook.server.routes.document_files import IfNoneMatch, MarkedPassage, PageNumber
from sourcebook.server.visibility import visible_document

router = APIRouter(include_in_schema=False)
_SIDE: Final = 1_000
"""Width and height of the drawing over a page, in its own units."""
_AROUND: Final = 2
"""Units that a mark is larger than the line of text in it, on each side."""


@router.get("/documents/{document}/original")
def get_original(
    document: DocumentNumber,
    knowledge: Knowledge,
    visitor: Visitor,
    inline: bool = False,
    range_: Annotated[str | None, Header(alias="range")] = None,
    if_range: Annotated[str | None, Header()] = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the file that a document was made from."""
    return document_files.get_original(
        document,
        knowledge,
        visitor,
        inline=inline,
        range_=range_,
        if_range=if_range,
        if_none_match=if_none_match,
    )


@router.get("/documents/{document}/export")
def export(document: DocumentNumber, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Return a document as Markdown with front matter."""
    return document_files.export_document(document, knowledge, visitor)


@router.get("/documents/{document}/pages/{page}.png")
def get_picture(
    document: DocumentNumber,
    page: PageNumber,
    knowledge: Knowledge,
    visitor: Visitor,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return the picture of a page of a PDF."""
    return document_files.get_page_image(document, page, knowledge, visitor, 2.0, if_none_match=if_none_match)


@router.get("/documents/{document}/pages/{page}")
def show_page(
    document: DocumentNumber,
    page: PageNumber,
    request: Request,
    knowledge: Knowledge,
    visitor: Visitor,
    passage: MarkedPassage = None,
) -> Response:
    """Show a page of a PDF as it looks, with the lines of a passage marked."""
    found = visible_document(knowledge, visitor, document)
    places = knowledge.page_image(found.item.document_id or 0, page, scale=None, passage=passage)
    marked = next((each for each in found.passages if each.ordinal == passage), None)
    return render(
        request,
        "document_page.html",
        item=found.item,
        places=places,
        marks=[_mark(box) for box in places.boxes],
        side=_SIDE,
        marked=marked,
        label=page_label(page, found.metadata),
    )


def has_pages(media_type: str | None) -> bool:
    """Return whether pages of documents of a media type can be shown."""
    return media_type == PDF


def _mark(box: Box) -> tuple[float, float, float, float]:
    """Return left, top, width and height of the mark of a line, in units of the drawing."""
    left, top, right, bottom = (share * _SIDE for share in box)
    width, height = right - left + 2 * _AROUND, bottom - top + 2 * _AROUND
    return round(left - _AROUND, 1), round(top - _AROUND, 1), round(width, 1), round(height, 1)
