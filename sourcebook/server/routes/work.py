"""Routes for work: asking for it, following it, cancelling it."""

from typing import Annotated, Final, Literal, get_args

from fastapi import APIRouter, Header, Path, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StrictBool
from starlette.responses import Response

from sourcebook.config.document_types import TypeName
from sourcebook.contract.work import WorkRequest, WorkState
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.access import Knowledge, Reader, needing, present_grant
from sourcebook.server.authorship import shown_authors
from sourcebook.server.problems import NoAccessError
from sourcebook.server.request_models import Sent
from sourcebook.server.request_notes import note_collections
from sourcebook.server.routes.collections import Name, Named
from sourcebook.server.visibility import NotFoundError, seen_collections
from sourcebook.server.work_events import EventStream, WorkEvents, stream

router = APIRouter(tags=["work"])
Writer = Annotated[Grant, needing("write")]
_Number = Annotated[int, Path(description="Id of the request.", examples=[1])]
_EVENT: Final = {
    "type": "object",
    "required": ["event", "id", "data"],
    "properties": {
        "event": {"type": "string", "enum": list(get_args(WorkState))},
        "id": {"type": "string", "pattern": "^[0-9]+$", "description": "The revision of the request."},
        "data": {"type": "string", "contentMediaType": "application/json", "description": "The request."},
    },
}
_IDS: Final = 1 << 63
"""Numbers from here on are no id that the database can be asked for."""

_EXAMPLE: Final[dict[str, JsonValue]] = {"kinds": ["site"]}
_MOST: Final = 1_000
"""Documents and sources of one request, at most."""


def _storable(text: str) -> str:
    text.encode()  # a lone surrogate cannot be, and raises a ValueError
    return text


_Text = Annotated[str, Field(min_length=1, max_length=8_000, pattern=r"^[^\x00]*$"), AfterValidator(_storable)]


class SyncQuery(Sent):
    """The part of a collection to bring up to date; the whole of it by default."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    documents: list[_Text] = Field(default=[], max_length=_MOST, description="URIs; every document where empty.")
    sources: list[_Text] = Field(
        default=[], max_length=_MOST, description="Locations of sources; every source where empty."
    )
    kinds: list[Literal["files", "site", "uploads"]] = Field(
        default=[], max_length=3, description="Kinds of sources; every kind where empty."
    )
    types: list[TypeName] = Field(
        default=[], max_length=50, description="Types of documents: those that are there now, beside `documents`."
    )
    only_failed: StrictBool = Field(
        default=False, description="Only failed items, without waiting for their retry time."
    )
    force: StrictBool = Field(default=False, description="Process the items even where nothing changed.")
    accept: StrictBool = Field(
        default=False, description="Let documents go although their source loses many of them at once."
    )


class WorkPage(BaseModel):
    """A page of work requests, the newest first."""

    requests: list[WorkRequest]
    next_cursor: str | None = Field(description="The `cursor` of the next page; null on the last one.")


@router.post("/collections/{name}/sync", status_code=202, operation_id="sync")
def sync(
    name: Name,
    knowledge: Knowledge,
    grant: Writer,
    response: Response,
    body: SyncQuery | None = None,
    idempotency_key: Annotated[
        str | None,
        Header(min_length=1, max_length=200, description="A name of your own: sent again, it starts nothing again."),
    ] = None,
) -> WorkRequest:
    """Ask for a collection, or a part of it, to be brought up to date; `Location` is where to follow the work."""
    seen_collections(knowledge, grant, [name])
    asked = body or SyncQuery()
    request = knowledge.request_work(name, **asked.model_dump(), idempotency_key=idempotency_key, actor=grant.actor)
    response.headers["Location"] = f"/v1/work-requests/{request.id}"
    return request


@router.get("/work-requests", operation_id="list_work_requests")
def list_work_requests(
    knowledge: Knowledge,
    grant: Reader,
    names: Named = None,
    state: Annotated[list[WorkState] | None, Query(description="Only requests in one of these states.")] = None,
    limit: Annotated[int, Query(ge=1, le=999)] = 50,
    cursor: Annotated[
        str | None, Query(pattern="^[1-9][0-9]{0,17}$", description="The `next_cursor` of the page before.")
    ] = None,
) -> WorkPage:
    """Return requests for work, the newest first."""
    found = knowledge.work_requests(
        seen_collections(knowledge, grant, names),
        states=state or (),
        before=None if cursor is None else int(cursor),
        limit=limit + 1,
    )
    return WorkPage(
        requests=shown_authors(knowledge, grant, found[:limit]),
        next_cursor=str(found[limit - 1].id) if len(found) > limit else None,
    )


@router.get("/work-requests/{number:number}", operation_id="get_work_request")
def get_work_request(number: _Number, knowledge: Knowledge, grant: Reader) -> WorkRequest:
    """Return a request for work as it is now."""
    return visible_work(knowledge, grant, number)


@router.post("/work-requests/{number:number}/cancel", operation_id="cancel_work_request")
def cancel_work_request(number: _Number, knowledge: Knowledge, grant: Writer) -> WorkRequest:
    """Cancel a request that waits, or ask the worker of a running one to stop after the batch that it works on."""
    visible_work(knowledge, grant, number)
    cancelled = knowledge.cancel_work(number, actor=grant.actor)
    if cancelled is None:
        raise _unknown()
    return shown_authors(knowledge, grant, [cancelled])[0]


@router.get(
    "/work-requests/{number:number}/events",
    operation_id="follow_work_request",
    response_class=EventStream,
    responses={
        200: {"content": {EventStream.media_type: {"schema": _EVENT}}, "description": "The changes."},
        204: {"description": "The request has ended, and the client has its last event."},
    },
)
def follow_work_request(
    number: _Number,
    request: Request,
    knowledge: Knowledge,
    grant: Reader,
    last_event_id: Annotated[str | None, Header(description="The `id` of the last event that the client has.")] = None,
) -> Response:
    """Return the changes of a request as server-sent events until it has ended, the present state first.

    An event is named by the state of the request, has the request as its data, and its revision as its id.
    """
    found = visible_work(knowledge, grant, number)
    known = last_event_id or ""
    after = int(known) if known.isascii() and known.isdigit() and len(known) < 19 else 0
    if found.has_ended and found.revision <= after:
        return Response(status_code=204)  # a browser stops to ask

    def look() -> WorkRequest | None:
        present = knowledge.work(number)
        try:
            caller = present_grant(request)  # after the row was read: a change behind a revocation is not told
        except NoAccessError:
            return None
        seen = present is not None and caller.sees(present.collection)
        return shown_authors(knowledge, caller, [present])[0] if present is not None and seen else None

    return EventStream(stream(events_of(request), number, look, after=after))


def visible_work(knowledge: KnowledgeBase, grant: Grant, number: int) -> WorkRequest:
    """Return a request for work that exists for a caller.

    Raises:
        NotFoundError: it does not.
    """
    found = knowledge.work(number) if 0 < number < _IDS else None
    if found is None or not grant.sees(found.collection):
        raise _unknown()
    note_collections([found.collection])
    return shown_authors(knowledge, grant, [found])[0]


def events_of(request: Request) -> WorkEvents:
    """Return the notifications of the server, which all streams share."""
    events: WorkEvents = request.app.state.work_events
    return events


def _unknown() -> NotFoundError:
    return NotFoundError("there is no such request for work")
