"""The page of documents, and of files and pages that are none, with what failed and why."""

from collections import defaultdict
from typing import Annotated, Final, get_args

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sourcebook.contract.listing import ItemKind, ItemState
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.cursors import LONGEST_CURSOR, cursor_of, place_of
from sourcebook.operations.overviews import overviews
from sourcebook.server.page.forms import WriterForm, redirect_to
from sourcebook.server.page.rendering import render
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.routes.document_changes import retried
from sourcebook.server.routes.documents import DocumentsQuery, list_documents
from sourcebook.server.visibility import known_collections, seen_collections

router = APIRouter(include_in_schema=False)
_A_PAGE: Final = 50
"""Documents of a page."""
_STATES: Final = get_args(ItemState)
_KINDS: Final = get_args(ItemKind)


@router.get("/documents")
def show_documents(
    request: Request,
    knowledge: Knowledge,
    visitor: Visitor,
    collection: str = "",
    state: str = "",
    kind: str = "",
    text: Annotated[str, Query(max_length=1_000)] = "",
    cursor: Annotated[str, Query(max_length=LONGEST_CURSOR)] = "",
) -> Response:
    """Show a page of the list."""
    states = [each for each in _STATES if each == state]
    kinds = [each for each in _KINDS if each == kind]
    if (state and not states) or (kind and not kinds):
        raise QueryError("there is no such state or kind of documents")
    chosen = {"collection": [collection]} if collection else {}
    query = DocumentsQuery.of(**chosen, state=states, kind=kinds, text=text, limit=_A_PAGE)
    page = list_documents(knowledge, visitor, query.model_copy(update={"cursor": cursor or None}))
    names = known_collections(knowledge, visitor)
    asked = {"collection": collection, "state": state, "kind": kind, "text": text}
    return render(
        request,
        "documents.html",
        documents=page.documents,
        next_cursor=page.next_cursor,
        is_first=not cursor,
        asked=asked,
        collections=names,
        states=_STATES,
        kinds=_KINDS,
        is_retryable=state == "failed" and visitor.allows("write"),
        box_of=lambda item: cursor_of(item.collection, item.uri),
    )


@router.post("/documents/retry")
def retry_documents(knowledge: Knowledge, form: WriterForm) -> Response:
    """Ask for failed items to be tried again, the ticked ones or all, and lead to the work."""
    wanted: dict[str, list[str]] = defaultdict(list)
    if form.one("which") == "all":
        asked = [form.one("collection")] if form.one("collection") else None
        for name in _with_failures(knowledge, form.visitor, asked):
            wanted[name] = []  # every failed item
    else:
        for box in form.many("item"):
            name, uri = place_of(box)
            wanted[name].append(uri)
        if wanted:
            seen_collections(knowledge, form.visitor, list(wanted))
    made = retried(knowledge, form.visitor, wanted, form.once)
    if not made:
        raise QueryError("no document was ticked: tick some, or retry all")
    return redirect_to(f"/work/{made[0].id}" if len(made) == 1 else "/work")


def _with_failures(knowledge: KnowledgeBase, visitor: Grant, asked: list[str] | None) -> list[str]:
    """Return the collections among those asked for, or among all of the visitor's, in which something failed."""
    if asked is not None:
        return seen_collections(knowledge, visitor, asked) or []
    found = overviews(knowledge, known_collections(knowledge, visitor))
    return [each.summary.name for each in found if each.problems]
