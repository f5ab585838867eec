"""The page of documents, and of files and pages that are none, with what failed and why."""

from typing import Annotated, Final, get_args

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sourcebook.admin.collections import collection_names
from sourcebook.errors import QueryError
from sourcebook.server.access import Knowledge
from sourcebook.server.cursors import LONGEST_CURSOR
from sourcebook.server.page.rendering import render
from sourcebook.server.page.visitors import Visitor
from sourcebook.server.routes.documents import Kind, State, list_documents

router = APIRouter(include_in_schema=False)
_A_PAGE: Final = 50
"""Documents of a page."""
_STATES: Final[tuple[State, ...]] = get_args(State)
_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


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
    page = list_documents(
        knowledge,
        visitor,
        collection=[collection] if collection else None,
        state=states,
        kind=kinds,
        text=text or None,
        limit=_A_PAGE,
        cursor=cursor or None,
    )
    with knowledge.database.connection() as connection:
        names = visitor.seen(collection_names(connection))
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
    )
