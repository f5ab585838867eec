"""Routes that say what a knowledge base holds, has used, and would do next."""

from dataclasses import asdict, replace
from datetime import timedelta
from typing import Annotated, Final, Literal

import pydantic_core
from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from sourcebook.contract.collections import CollectionSources, CollectionStatistics
from sourcebook.contract.usage import Usage
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.routes.collections import Named
from sourcebook.server.visibility import seen_collections, shown_detail, shown_sources

router = APIRouter(tags=["collections"])
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
Since = Annotated[
    str | None,
    Query(pattern=r"^[1-9][0-9]{0,4}[smhd]$", description="Only what happened in this last time.", examples=["7d"]),
]
Dimension = Literal["day", "collection", "provider", "model", "operation"]


class StatisticsList(BaseModel):
    """The counts of each collection."""

    collections: list[CollectionStatistics]


class SourcesList(BaseModel):
    """The sources of each collection."""

    collections: list[CollectionSources]


class PlannedWork(BaseModel):
    """One item that an ingest would work on; see `PlannedItem`, whose module a server need not have."""

    uri: str
    reason: str = Field(examples=["new"])
    detail: str
    media_type: str | None
    size: int = Field(description="Bytes; 0 where unknown.")
    known_size: int | None
    passages: int = Field(description="Passages of the version that is known.")
    is_parsed: bool
    is_published: bool
    is_generated_index: bool
    is_unread: bool


class Plan(BaseModel):
    """The work of the next ingest of a collection; see `CollectionPlan`."""

    name: str
    items: list[PlannedWork]
    counts: dict[str, int] = Field(description="Numbers of items by reason.")
    changed_settings: list[str]
    texts_to_embed: int
    texts_cached: int
    seconds: float
    has_past_runs: bool
    unlisted: list[str] = Field(description="Reasons why sources cannot be listed; their items are missing.")
    givers: list[str] = Field(description="Collections with pending work whose documents this one takes.")


class PlanList(BaseModel):
    """The work of the next ingest of each collection."""

    collections: list[Plan]


class UsageList(BaseModel):
    """Sums of the usage of models."""

    usage: list[Usage]


@router.get("/statistics", operation_id="statistics")
def statistics(knowledge: Knowledge, grant: Reader, names: Named = None) -> StatisticsList:
    """Return counts of each collection: documents by state, kind, media type and language, failures by class."""
    return StatisticsList(collections=knowledge.statistics(seen_collections(knowledge, grant, names)))


@router.get("/sources", operation_id="sources")
def sources(knowledge: Knowledge, grant: Reader, names: Named = None) -> SourcesList:
    """Return the folders, sites and other sources of each collection, as their last listing or crawl left them."""
    found = knowledge.sources(seen_collections(knowledge, grant, names))
    return SourcesList(collections=[replace(each, sources=shown_sources(grant, each.sources)) for each in found])


@router.get("/plan", response_model=PlanList, operation_id="plan")
def plan(knowledge: Knowledge, grant: Reader, names: Named = None) -> Response:
    """Return what the next ingest of each collection would do and why; numbers of texts and seconds are estimates.

    Folders are compared with the ledger by name, size and time; files of a known size are read.
    """
    plans = [asdict(each) for each in knowledge.plan(seen_collections(knowledge, grant, names))]
    for each in plans:
        each["givers"] = grant.seen(each["givers"])
        for item in each["items"]:
            item["detail"] = shown_detail(grant, item["detail"])
    return Response(pydantic_core.to_json({"collections": plans}), media_type="application/json")


@router.get("/usage", operation_id="usage")
def usage(
    knowledge: Knowledge,
    grant: Reader,
    names: Named = None,
    since: Since = None,
    by: Annotated[list[Dimension] | None, Query(description="What to keep apart; everything by default.")] = None,
    total: Annotated[bool, Query(description="One sum of everything, in place of `by`.")] = False,
) -> UsageList:
    """Return what models were used for and what it cost, the latest day first; days are those of UTC."""
    seen = seen_collections(knowledge, grant, names)
    return UsageList(usage=knowledge.usage(seen, since=as_duration(since), by=() if total else by))


def as_duration(text: str | None) -> timedelta | None:
    """Return the duration that a parameter such as `7d` names; None where it is not given."""
    return None if text is None else timedelta(**{_UNITS[text[-1]]: int(text[:-1])})
