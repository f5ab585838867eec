"""Routes that say what a knowledge base holds, has used, and would do next."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Final, Literal

import pydantic_core
from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.responses import Response

from sourcebook.contract.plans import CollectionPlan
from sourcebook.contract.usage import Usage
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.routes.collections import Named
from sourcebook.server.visibility import seen_collections, shown_detail

router = APIRouter(tags=["collections"])
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
Since = Annotated[
    str | None,
    Query(pattern=r"^[1-9][0-9]{0,4}[smhd]$", description="Only what happened in this last time.", examples=["7d"]),
]
Dimension = Literal["day", "collection", "provider", "model", "operation"]


class PlanList(BaseModel):
    """The work of the next ingest of each collection."""

    collections: list[CollectionPlan]


class UsageList(BaseModel):
    """Sums of the usage of models."""

    usage: list[Usage]


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
