"""The route for the facets of a search, without its results."""

from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from sourcebook.contract.search_results import Facets
from sourcebook.search.request import MOST_CHARACTERS
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.searching import search_as_asked
from sourcebook.server.types import FusionSettings, SearchQuery, Share, Whole

router = APIRouter(tags=["search"])


class FacetQuery(BaseModel):
    """A search whose documents are counted: the options of `SearchQuery` that decide what is found."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [{"query": "batteries"}]})

    query: str = Field(min_length=1, max_length=MOST_CHARACTERS, pattern=r"\S", description="Words or a question.")
    collections: list[str] | str | None = Field(
        default=None, description="Names, or one name; every collection by default."
    )
    mode: Literal["hybrid", "vector", "keyword"] = "hybrid"
    filters: dict[str, Any] | None = Field(
        default=None, description="Conditions on the documents.", examples=[{"tags": ["policy"], "language": "en"}]
    )
    fusion: FusionSettings | Literal["weighted", "rrf"] | None = None
    strategy: Literal["fixed", "auto"] = "fixed"
    literal: StrictBool | None = None
    typos: StrictBool = False
    generation: Whole | list[Whole] | None = None
    min_relevance: Share | None = Field(default=None, description="Relevance of a result, at least.")


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
    options = {name: getattr(asked, name) for name in FacetQuery.model_fields}
    search = SearchQuery(**options, limit=1, facets=True, log=False)
    found = search_as_asked(knowledge, grant, search, request.app.state.rerankers)
    return FacetAnswer(
        facets=found.facets or {},
        nothing_relevant=found.nothing_relevant,
        notes=list(found.notes),
        took_ms=found.took_ms,
        seconds_behind=found.seconds_behind,
    )
