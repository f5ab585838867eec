"""The way from a citation to its passage: the page of a PDF, or the document at the passage."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from sourcebook.contract.documents import Document, Passage
from sourcebook.errors import UnknownDocumentError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.place import address_of
from sourcebook.server.page.document_files import has_pages
from sourcebook.server.page.forms import redirect_to
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.visibility import existing_document

router = APIRouter(include_in_schema=False)


@router.get("/cited")
def lead_to_passage(
    knowledge: Knowledge,
    visitor: Visitor,
    document: Annotated[str, Query(min_length=1, max_length=10_000)],
    collection: str | None = None,
    at: Annotated[int, Query(ge=-1, le=1 << 40)] = -1,
) -> Response:
    """Lead to the passage at a character of a document, or to the one that the address of a document names."""
    found = _document(knowledge, visitor, document, collection)
    passage = _at(found, at) if at >= 0 else _named(found, document)
    path = f"/documents/{found.item.document_id}"
    if passage is None:
        return redirect_to(path)
    if passage.page is not None and has_pages(found.item.media_type):
        return redirect_to(f"{path}/pages/{passage.page}?passage={passage.ordinal}")
    return redirect_to(f"{path}?passage={passage.ordinal}#passage-{passage.ordinal}")


def _document(knowledge: KnowledgeBase, visitor: Grant, named: str, collection: str | None) -> Document:
    """Return a document by its id, or by an address that may lead to a place in it."""
    if named.isascii() and named.isdigit():
        return existing_document(knowledge, visitor, int(named), reading=None)
    try:
        return existing_document(knowledge, visitor, named, collection, reading=None)
    except UnknownDocumentError:
        bare = named.rpartition("?id=" if "#/" in named or "#!" in named else "#")[0]
        if not bare:
            raise
        return existing_document(knowledge, visitor, bare, collection, reading=None)


def _at(document: Document, at: int) -> Passage | None:
    """Return the last passage that begins before a character; they may overlap."""
    return max(
        (each for each in document.passages if each.start_char <= at), key=lambda each: each.start_char, default=None
    )


def _named(document: Document, uri: str) -> Passage | None:
    return next((each for each in document.passages if address_of(document.item.uri, each) == uri), None)
