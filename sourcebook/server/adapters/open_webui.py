"""Open WebUI's protocol of an external search: passages of the collections beside its own knowledge."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sourcebook.contract.search import MOST_CHARACTERS
from sourcebook.redaction.for_models import read_by_model
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.request_models import as_whole
from sourcebook.server.searching import search_as_asked
from sourcebook.server.types import SearchQuery

_MOST = 100
"""Passages of one answer, at most: a model reads them."""
router = APIRouter(prefix="/open-webui", tags=["adapters"])


class ExternalSearch(BaseModel):
    """A search as Open WebUI asks for it; fields that it adds later have no effect."""

    model_config = ConfigDict(
        frozen=True, json_schema_extra={"examples": [{"query": "How long do the batteries last?", "count": 3}]}
    )

    query: str = Field(min_length=1, max_length=MOST_CHARACTERS, pattern=r"\S")
    count: Annotated[int, Field(strict=True, ge=1, le=_MOST), BeforeValidator(as_whole)] = 5


class ExternalResult(BaseModel):
    """A passage."""

    link: str
    title: str
    snippet: str = Field(description="The passage.")


@router.post("/search", operation_id="open_webui_search")
def open_webui_search(
    wanted: ExternalSearch,
    request: Request,
    knowledge: Knowledge,
    grant: Reader,
    collection: Annotated[list[str] | None, Query(description="Name of a collection; may be repeated.")] = None,
) -> list[ExternalResult]:
    """Return passages that answer a query, as Open WebUI takes the results of an external search."""
    request.state.sent = [wanted.query, collection]
    asked = SearchQuery.of(query=wanted.query, collections=collection, limit=wanted.count)
    with read_by_model():
        found = search_as_asked(knowledge, grant, asked, request.app.state.rerankers)
    return [ExternalResult(link=each.link or each.uri, title=each.title, snippet=each.text) for each in found]
