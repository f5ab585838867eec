"""Routes for the query log."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from sourcebook.contract.query_log import LoggedQuery
from sourcebook.server.access import Administrator, Knowledge
from sourcebook.server.routes.collections import Named
from sourcebook.server.routes.reports import Since, as_duration
from sourcebook.server.visibility import seen_collections

router = APIRouter(prefix="/queries", tags=["queries"])


class QueryList(BaseModel):
    """Queries of the log, the most frequent first."""

    queries: list[LoggedQuery]


@router.get("", operation_id="list_queries")
def list_queries(
    knowledge: Knowledge,
    grant: Administrator,
    names: Named = None,
    without_results: Annotated[bool, Query(description="Only queries whose last search had no results.")] = False,
    since: Since = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
) -> QueryList:
    """Return the queries that were asked of collections which keep a query log, the most frequent first."""
    seen = seen_collections(knowledge, grant, names)
    found = knowledge.queries(seen, without_results=without_results, since=as_duration(since), limit=limit)
    return QueryList(queries=found)
