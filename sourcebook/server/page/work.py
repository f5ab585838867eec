"""The pages of work: what was asked for, how far it is, and who asked."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.sse import format_sse_event
from starlette.responses import Response

from sourcebook.admin.work_groups import WorkGroup
from sourcebook.admin.work_requests import STATES
from sourcebook.contract.work import OPEN, WorkRequest
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.overviews import items_at, open_work_groups
from sourcebook.server.authorship import shown_authors
from sourcebook.server.page.forms import WriterForm, redirect_to
from sourcebook.server.page.rendering import part_of_page, render, short_uri, web_address
from sourcebook.server.page.translation import gettext, ngettext, number
from sourcebook.server.page.visitors import Knowledge, SignInError, Visitor, visitor_of
from sourcebook.server.routes.work import cancel_work_request, events_of, visible_work
from sourcebook.server.visibility import NotFoundError, known_collections, seen_collections, shown_items
from sourcebook.server.work_events import EventStream, WorkEvents, stream, stream_of_list

router = APIRouter(include_in_schema=False)
_A_PAGE: Final = 30
"""Requests of a page."""
_IDS: Final = 1 << 63
_Before = Annotated[int | None, Query(ge=1, lt=_IDS)]
STAGES: Final = {
    "raw_files": "looking through folders",
    "crawled_pages": "fetching pages",
    "transcripts": "transcribing recordings",
    "documents": "reading documents",
    "chunks": "cutting passages",
    "embeddings": "embedding passages",
    "search_index": "publishing",
    "index_upkeep": "tidying the index",
}
"""Words for the assets of the pipeline."""
_NAMED: Final = 3
"""Documents or sources of a request that are named; of more the number is given."""


@router.get("/work")
def show_work(
    request: Request,
    knowledge: Knowledge,
    visitor: Visitor,
    collection: str = "",
    state: str = "",
    before: _Before = None,
) -> Response:
    """Show a page of the requests, the newest first."""
    listed = _listed(request, knowledge, visitor, collection, state, before)
    return render(request, "work.html", is_first=before is None, states=STATES, **listed)


@router.get("/work/events")
def follow_list(
    request: Request,
    knowledge: Knowledge,
    visitor: Visitor,
    collection: str = "",
    state: str = "",
    before: _Before = None,
) -> Response:
    """Return the list of a page of requests as server-sent events, until all of them have ended.

    An event without a name is the part of the page that shows the list; the last one is named `ended`.
    """
    _listed(request, knowledge, visitor, collection, state, before)
    events = events_of(request)

    def look() -> tuple[bytes, bool] | None:
        try:
            present = visitor_of(request)  # the key may have been revoked
            listed = _listed(request, knowledge, present, collection, state, before)
        except (NotFoundError, SignInError):
            return None
        return format_sse_event(data_str=part_of_page(request, "work_rows.html", **listed)), listed["is_live"]

    return _event_stream(events, stream_of_list(events, look))


def _listed(
    request: Request, knowledge: KnowledgeBase, visitor: Grant, collection: str, state: str, before: int | None
) -> dict[str, Any]:
    """Return what the list of a page of requests shows: open ones that are alike as one, then those that have ended.

    Raises:
        QueryError: there is no such state.
        NotFoundError: the collection does not exist for the visitor.
    """
    if state and state not in STATES:
        raise QueryError(gettext("there is no such state of work"))
    names = known_collections(knowledge, visitor)
    chosen: Sequence[str] | None = visitor.collections if visitor.collections is None else names
    if collection:
        chosen = seen_collections(knowledge, visitor, [collection])
    states = [state] if state else [each for each in STATES if each not in OPEN]
    sees_nothing = chosen is not None and not chosen
    found = [] if sees_nothing else knowledge.work_requests(chosen, states=states, before=before, limit=_A_PAGE + 1)
    shown = shown_authors(knowledge, visitor, found[:_A_PAGE])
    is_open = not state and before is None and not sees_nothing
    groups = shown_groups(knowledge, visitor, chosen) if is_open else []
    return {
        "groups": [*groups, *map(WorkGroup, shown)],
        "is_live": any(not each.work.has_ended for each in [*groups, *map(WorkGroup, shown)]),
        "older": shown[-1].id if len(found) > _A_PAGE else None,
        "before": before,
        "asked": {"collection": collection, "state": state},
        "collections": names,
        **words_of_work(request),
    }


_MOST_ITEMS: Final = 1_000
"""Documents of a request that its page lists."""


@router.get("/work/{number}")
def show_request(number: int, request: Request, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Show one request."""
    found = visible_work(knowledge, visitor, number)
    named: list[str] = found.arguments.get("documents") or []
    items = items_at(knowledge, found.collection, named[:_MOST_ITEMS]) if named else []
    shown = shown_items(visitor, items)
    words = words_of_work(request)
    return render(request, "work_request.html", work=found, items=shown, named=len(named), **words)


@router.get("/work/{number}/events")
def follow_request(number: int, request: Request, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Return what changes of a request as server-sent events, until it has ended or no longer exists for the visitor.

    An event without a name is the part of the page that shows the request; the last one is named `ended`.
    """
    visible_work(knowledge, visitor, number)
    events = events_of(request)

    def look() -> WorkRequest | None:
        try:
            return visible_work(knowledge, visitor_of(request), number)  # the key may have been revoked
        except (NotFoundError, SignInError):
            return None

    def show(work: WorkRequest) -> bytes:
        part = part_of_page(request, "work_standing.html", work=work, **words_of_work(request))
        return format_sse_event(data_str=part, id=str(work.revision))

    return _event_stream(events, stream(events, number, look, after=0, show=show))


def _event_stream(events: WorkEvents, told: AsyncIterator[bytes]) -> EventStream:
    async def all_told() -> AsyncIterator[bytes]:
        async for event in told:
            yield event
        if not events.is_over:  # the page asks again where the server was told to end
            yield format_sse_event(data_str=".", event="ended")

    return EventStream(all_told(), cache="no-store")


@router.post("/work")
def ask_for_work(knowledge: Knowledge, form: WriterForm) -> Response:
    """Ask for a collection to be brought up to date, and lead to the request."""
    names = seen_collections(knowledge, form.visitor, [form.one("collection")])
    made = knowledge.request_work((names or [""])[0], idempotency_key=form.once, actor=form.visitor.actor)
    return redirect_to(f"/work/{made.id}")


@router.post("/work/{number}/cancel")
def cancel_request(number: int, knowledge: Knowledge, form: WriterForm) -> Response:
    """Cancel a request, and lead back to it."""
    cancel_work_request(number, knowledge, form.visitor)
    return redirect_to(f"/work/{number}")


def shown_groups(knowledge: KnowledgeBase, visitor: Grant, names: Sequence[str] | None) -> list[WorkGroup]:
    """Return the open work of collections in groups, with the names of those who asked where the visitor may know."""
    groups = open_work_groups(knowledge, names)
    authors = shown_authors(knowledge, visitor, [each.work for each in groups])
    return [replace(group, work=work) for group, work in zip(groups, authors, strict=True)]


def group_words(group: WorkGroup) -> str:
    """Return what part of its collection a group of requests is about, for people."""
    if group.requests == 1:
        return part_words(group.work)
    documents = _documents(group.documents) if group.documents else ""
    rest = {name: value for name, value in group.work.arguments.items() if name != "documents"}
    return ", ".join(filter(None, [documents, *_parts(replace(group.work, arguments=rest))])) or gettext(
        "everything that changed"
    )


def part_words(work: WorkRequest) -> str:
    """Return what part of its collection a request is about, for people."""
    return ", ".join(_parts(work)) or gettext("everything that changed")


def stage_words(work: WorkRequest) -> str:
    """Return what a request's worker does now, or did last."""
    return gettext(STAGES.get(work.stage or "", work.stage or ""))


def run_address(request: Request, work: WorkRequest) -> str | None:
    """Return the address of the Dagster run that does a request; None where it or Dagster's page is not known."""
    page: str | None = getattr(request.app.state, "dagster_url", None)
    return web_address(f"{page.rstrip('/')}/runs/{work.run_id}") if page and work.run_id else None


def _parts(work: WorkRequest) -> Iterator[str]:
    for name, counted in (("documents", _documents), ("sources", _sources)):
        named: list[str] = work.arguments.get(name) or []
        if len(named) > _NAMED:
            yield counted(len(named))
        elif named:
            yield ", ".join(short_uri(each) for each in named)
    kinds: list[str] = work.arguments.get("kinds") or []
    if kinds:
        yield gettext("sources of kind %(kinds)s") % {"kinds": ", ".join(kinds)}
    if work.arguments.get("only_failed"):
        yield gettext("only what failed")
    if work.arguments.get("force"):
        yield gettext("even where nothing changed")
    if work.arguments.get("accept"):
        yield gettext("losses accepted")


def _documents(count: int) -> str:
    return ngettext("%(number)s document", "%(number)s documents", count) % {"number": number(count)}


def _sources(count: int) -> str:
    return ngettext("%(number)s source", "%(number)s sources", count) % {"number": number(count)}


def words_of_work(request: Request) -> dict[str, Any]:
    """Return the functions with which the templates describe requests."""
    return {
        "part_words": part_words,
        "group_words": group_words,
        "stage_words": stage_words,
        "run_address": lambda work: run_address(request, work),
    }
