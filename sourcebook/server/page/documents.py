"""The page of documents, and of files and pages that are none, with what failed and why."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated, Any, Final, get_args

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sourcebook.contract.listing import ItemKind, ItemState
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.model.cursors import LONGEST_CURSOR, cursor_of, place_of
from sourcebook.operations.overviews import overviews
from sourcebook.server.body_limit import upload_limit
from sourcebook.server.page.forms import WriterForm, redirect_to
from sourcebook.server.page.rendering import render
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.routes.document_changes import retried
from sourcebook.server.routes.documents import DocumentsQuery, list_documents
from sourcebook.server.visibility import known_collections, seen_collections

router = APIRouter(include_in_schema=False)
_A_PAGE: Final = 50
"""Documents of a page."""
_STATES: Final = get_args(ItemState)
_KINDS: Final = get_args(ItemKind)
ORDERS: Final = {
    "uri": "Address",
    "title": "Title",
    "-created": "Latest first",
    "created": "Oldest first",
    "-updated": "Last changed first",
    "updated": "Longest unchanged first",
    "-size": "Largest first",
    "size": "Smallest first",
}
"""Orders of the list that people choose from, in words."""
CURATED: Final = "hidden or boosted"
"""Among the states that a list is narrowed by."""
DONE: Final = {
    "remove": ("%(number)s document removed.", "%(number)s documents removed."),
    "restore": ("%(number)s document restored.", "%(number)s documents restored."),
    "tag": ("%(number)s document given the tag.", "%(number)s documents given the tag."),
    "untag": ("%(number)s document without the tag now.", "%(number)s documents without the tag now."),
}
"""Acts of the form on the ticked documents, with what is said then of one and of several."""
LISTED: Final = ("collection", "state", "kind", "tag", "sort", "text")
"""Parameters of a list, by which a form leads back to it."""
_Phrase = Annotated[str, Query(max_length=1_000)]


@router.get("/documents")
def show_documents(
    request: Request,
    knowledge: Knowledge,
    visitor: Visitor,
    collection: str = "",
    state: str = "",
    kind: str = "",
    tag: _Phrase = "",
    sort: str = "uri",
    text: _Phrase = "",
    cursor: Annotated[str, Query(max_length=LONGEST_CURSOR)] = "",
    done: str = "",
    changed: Annotated[list[int] | None, Query(max_length=_A_PAGE, alias="id")] = None,
    work: Annotated[int, Query(ge=0, le=1 << 40)] = 0,
    number: Annotated[int, Query(ge=0, le=1 << 40)] = 0,
    between: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """Show a page of the list; after a form also what it did to which documents, with the way back."""
    asked = dict(zip(LISTED, (collection, state, kind, tag, sort, text), strict=True))
    told: dict[str, Any] = {"done": done, "changed": changed, "work": work} if done in DONE and changed else {}
    if done in DONE and number:
        told = {"done": done, "number": number, "between": between, "work": work}
    return shown_documents(request, knowledge, visitor, asked, cursor, **told)


def shown_documents(
    request: Request,
    knowledge: KnowledgeBase,
    visitor: Grant,
    asked: Mapping[str, str],
    cursor: str = "",
    status: int = 200,
    **told: Any,
) -> Response:
    """Return a page of the list.

    Args:
        request: the request that it answers.
        knowledge: the knowledge base.
        visitor: whose documents are listed.
        asked: parameters of the list, see `LISTED`.
        cursor: where the page begins; at the first document where empty.
        status: the HTTP status.
        told: what a form did: `done`, `changed` or their `number`, `refused` of the `missed`, `work`, and `between`
            which times.
    """
    query = query_of(asked)
    page = list_documents(knowledge, visitor, query.model_copy(update={"cursor": cursor or None}))
    return render(
        request,
        "documents.html",
        status,
        documents=page.documents,
        total=page.total,
        next_cursor=page.next_cursor,
        cursor=cursor,
        asked={**asked, "sort": "" if query.sort == "uri" else query.sort},
        has_more=bool(page.next_cursor or cursor),
        collections=known_collections(knowledge, visitor),
        states=(*_STATES, CURATED),
        kinds=_KINDS,
        orders=ORDERS,
        done_words=DONE,
        most=upload_limit(),
        is_writer=visitor.allows("write"),
        box_of=lambda item: cursor_of(item.collection, item.uri),
        **{"done": "", "changed": [], "refused": [], "work": 0, "number": 0, "missed": 0, "between": "", **told},
    )


def query_of(asked: Mapping[str, str], **changed: Any) -> DocumentsQuery:
    """Return the request for the documents that the parameters of a list choose.

    Raises:
        QueryError: there is no such state, kind or order.
    """
    state, kind, sort = asked["state"], asked["kind"], asked["sort"] or "uri"
    is_curated = state == CURATED
    states, kinds = [each for each in _STATES if each == state], [each for each in _KINDS if each == kind]
    if (state and not states and not is_curated) or (kind and not kinds) or sort not in ORDERS:
        raise QueryError(gettext("there is no such state, kind or order of documents"))
    chosen = {"collection": [asked["collection"]]} if asked["collection"] else {}
    chosen |= {"tag": [asked["tag"]]} if asked["tag"] else {}
    options = {"curated": is_curated, "state": states, "kind": kinds, "text": asked["text"], "sort": sort}
    return DocumentsQuery.of(**chosen, **{**options, "limit": _A_PAGE, **changed})


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
        raise QueryError(gettext("no document was ticked: tick some, or retry all"))
    return redirect_to(f"/work/{made[0].id}" if len(made) == 1 else "/work")


def _with_failures(knowledge: KnowledgeBase, visitor: Grant, asked: list[str] | None) -> list[str]:
    """Return the collections among those asked for, or among all of the visitor's, in which something failed."""
    if asked is not None:
        return seen_collections(knowledge, visitor, asked) or []
    found = overviews(knowledge, known_collections(knowledge, visitor))
    return [each.summary.name for each in found if each.problems]
