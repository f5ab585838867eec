"""The page of a document: its text with the found passage marked, its passages, its metadata."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sourcebook.contract.documents import Passage
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.cursors import cursor_of
from sourcebook.model.place import place_words
from sourcebook.operations.overviews import document_history
from sourcebook.server.authorship import shown_authors
from sourcebook.server.downloads import is_shown
from sourcebook.server.page.document_files import has_pages
from sourcebook.server.page.document_text import parts_of, plain_sections, rendered_sections
from sourcebook.server.page.rendering import render
from sourcebook.server.page.said_places import said_place
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.visibility import existing_document, shown_document

router = APIRouter(include_in_schema=False)
VIEWS: Final = {"text": "Text", "plain": "Plain", "passages": "Passages"}
"""Forms in which a document is shown."""
_LONGEST_VALUE: Final = 400
"""Characters of a value of the metadata that are shown."""


@router.get("/documents/{document}")
def show_document(
    document: int,
    request: Request,
    knowledge: Knowledge,
    visitor: Visitor,
    view: str = "text",
    passage: Annotated[int, Query(ge=-1, le=1 << 40)] = -1,
    part: Annotated[int, Query(ge=1, le=1 << 40)] = 1,
) -> Response:
    """Show one part of a document: the one asked for, or the one in which a passage begins."""
    known = existing_document(knowledge, visitor, document)
    found = shown_document(visitor, known)
    history, uploads = document_history(knowledge, found.item)
    parts = parts_of(found.text, found.passages)
    holding = [n for n, each in enumerate(parts, 1) if any(held.ordinal == passage for held in each.passages)]
    number = holding[0] if holding else min(part, len(parts))
    shown = parts[number - 1]
    title = found.item.title or ""
    at = next((each for each in found.passages if each.ordinal == passage), None)
    view = view if view in VIEWS else "text"
    given = found.given_metadata
    return render(
        request,
        "document.html",
        item=found.item,
        box=cursor_of(found.item.collection, found.item.uri),
        own_tags=[tag for tag in found.tags if tag not in found.given_tags],
        given_tags=found.given_tags,
        metadata=list(_rows({name: value for name, value in found.metadata.items() if name not in {*given, "tags"}})),
        given_metadata=list(_rows(given)),
        history=history,
        uploads=shown_authors(knowledge, visitor, list(uploads)),
        named=_named(knowledge, document, found.item.collection) if uploads and visitor.allows("admin") else ("", ""),
        follows=known.item.taken_from is not None,
        has_pages=has_pages(found.item.media_type),
        has_original=found.item.kind != "page" or has_pages(found.item.media_type),
        is_shown=is_shown(found.item.media_type or ""),
        page=at.page if at is not None and at.page else 1,
        player=_player(found.item.media_type or ""),
        second=int(at.start_seconds or 0) if at is not None else 0,
        view=view,
        views=VIEWS,
        passages=shown.passages,
        sections=plain_sections(shown)
        if view == "plain"
        else rendered_sections(shown, title)
        if view == "text"
        else [],
        is_empty=not found.text.strip(),
        marked=passage,
        part=number,
        parts=len(parts),
        place=partial(place, title=title, metadata=found.metadata),
    )


def _named(knowledge: KnowledgeBase, document: int, collection: str) -> tuple[str, str]:
    """Return who sees an upload and who does not, as its form has them; empty where the collection says it."""
    held = next((each for each in knowledge.permissions(document) if each.reasons[0].kind == "upload"), None)
    if held is None:
        return "", ""
    of_all = knowledge.collection_settings(collection).settings.get("denied", ())
    return ", ".join(held.allowed), ", ".join(each for each in held.denied if each not in of_all)


def _player(media_type: str) -> str | None:
    """Return the tag that plays a recording; None for any other document."""
    return {"audio": "audio", "video": "video"}.get(media_type.partition("/")[0])


def place(passage: Passage, title: str, metadata: Mapping[str, Any]) -> str:
    """Return where a passage stands in its document: headings without its title, page, time."""
    return " · ".join(map(said_place, place_words(passage, title, metadata)))


def _rows(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield keys and values of metadata as people read them."""
    for key, value in metadata.items():
        listed = ", ".join(value) if isinstance(value, list) and all(isinstance(each, str) for each in value) else None
        text = value if isinstance(value, str) else listed or json.dumps(value, ensure_ascii=False)
        yield key, text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
