"""Routes for the audit of reading."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from sourcebook.contract.readings import Reading
from sourcebook.server.access import Administrator, Knowledge
from sourcebook.server.routes.collections import Named
from sourcebook.server.routes.reports import Since, as_duration
from sourcebook.server.visibility import seen_collections

router = APIRouter(prefix="/audit", tags=["queries"])


class ReadingList(BaseModel):
    """Readings, the newest first."""

    readings: list[Reading]


@router.get("/readings", operation_id="list_readings")
def list_readings(
    knowledge: Knowledge,
    grant: Administrator,
    names: Named = None,
    principal: Annotated[
        str | None, Query(max_length=600, description="Only what was asked for this principal, or by this actor.")
    ] = None,
    document: Annotated[
        str | None, Query(max_length=10_000, description="Only answers that showed it: its id, URI or the end of it.")
    ] = None,
    since: Since = None,
    before: Annotated[int | None, Query(ge=1, lt=1 << 63, description="Only readings with a lower id.")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 50,
) -> ReadingList:
    """Return who asked for what and which documents the answers showed, of collections that keep an audit."""
    found = knowledge.readings(
        seen_collections(knowledge, grant, names),
        principal=None if principal is None else principal.replace("\0", ""),
        document=None if document is None else document.replace("\0", ""),
        since=as_duration(since),
        before=before,
        limit=limit,
    )
    return ReadingList(readings=found)
