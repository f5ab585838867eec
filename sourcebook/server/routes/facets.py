"""The route for the facets of a search, without its results."""

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from sourcebook.contract.search import SearchRequest
from sourcebook.contract.search_results import Facets
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.request_models import Carried, carrying
from sourcebook.server.searching import search_as_asked
from sourcebook.server.types import SearchQuery

router = APIRouter(tags=["search"])


@carrying(
    SearchRequest,
    without={
        "limit", "offset", "rerank", "diversity", "superseded", "neighbours", "group_by", "snippets", "facets",
        "expand", "explain", "unredacted", "log",
    },
)  # fmt: skip
class FacetQuery(Carried):
    """A search whose documents are counted: the options of `SearchQuery` that decide what is found."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "batteries"}]})


class FacetAnswer(BaseModel):
    """Numbers of documents by value, by facet; see `Facets`."""

    facets: Facets
    nothing_relevant: bool
    notes: list[str]
    took_ms: float
    seconds_behind: float | None = Field(
        default=None, description="How far the replica that was searched may be behind; null where none is named."
    )


@router.post("/facets", operation_id="facets")
def facets(asked: FacetQuery, request: Request, knowledge: Knowledge, grant: Reader) -> FacetAnswer:
    """Count the documents that a search finds by collection, kind, media type, language, tag and year.

    The search enters no query log.
    """
    request.state.sent = [asked.query, asked.collections, asked.filters]
    search = SearchQuery.of(**asked.options(), limit=1, facets=True, log=False)
    found = search_as_asked(knowledge, grant, search, request.app.state.rerankers)
    return FacetAnswer(
        facets=found.facets or {},
        nothing_relevant=found.nothing_relevant,
        notes=list(found.notes),
        took_ms=found.took_ms,
        seconds_behind=found.seconds_behind,
    )
