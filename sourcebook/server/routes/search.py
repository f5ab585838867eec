"""Routes that search: passages for a query, documents similar to one."""

from typing import Any

import pydantic_core
from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.contract.search_results import SearchResults
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.searching import search_as_asked
from sourcebook.server.types import SearchAnswer, SearchQuery, SimilarQuery
from sourcebook.server.visibility import check_unredacted, searched_collections, visible_document

router = APIRouter(tags=["search"])


@router.post("/search", response_model=SearchAnswer, operation_id="search")
def search(asked: SearchQuery, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return the passages that answer a query, best first."""
    request.state.sent = [asked.query, asked.collections, asked.filters]
    return _answer(search_as_asked(knowledge, grant, asked, request.app.state.rerankers))


@router.post("/similar", response_model=SearchAnswer, operation_id="similar")
def similar(asked: SimilarQuery, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return the documents most similar to one, or to one of its passages, best first."""
    request.state.sent = [asked.document, asked.collection, asked.collections, asked.filters]
    check_unredacted(grant, asked.unredacted)
    document = visible_document(knowledge, grant, asked.document, asked.collection)
    found = knowledge.similar(
        document.item.document_id or 0,
        passage=asked.passage,
        collection=document.item.collection,
        collections=searched_collections(knowledge, grant, asked.collections, None),
        limit=asked.limit,
        filters=asked.filters,
        unredacted=asked.unredacted,
    )
    return _answer(found)


def _answer(found: SearchResults) -> Response:
    """Return results as JSON; not through the type of the answer, which would check each value once more."""
    values: dict[str, Any] = found.as_dict()
    return Response(pydantic_core.to_json(values, inf_nan_mode="null"), media_type="application/json")
