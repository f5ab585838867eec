"""Routes that search: passages for a query, a context of them, documents similar to one, what two differ in."""

import pydantic_core
from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.contract.context_results import ContextResult
from sourcebook.contract.differences import DocumentDifferences
from sourcebook.contract.search_results import SearchResults
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.comparing import differences_for
from sourcebook.server.searching import context_as_asked, search_as_asked
from sourcebook.server.types import ContextQuery, DiffQuery, SearchAnswer, SearchQuery, SimilarQuery
from sourcebook.server.visibility import check_unredacted, searched_collections, visible_document

router = APIRouter(tags=["search"])


@router.post("/search", response_model=SearchAnswer, operation_id="search")
def search(asked: SearchQuery, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return the passages that answer a query, best first."""
    request.state.sent = [asked.query, asked.collections, asked.filters]
    return _answer(search_as_asked(knowledge, grant, asked, request.app.state.rerankers))


@router.post("/context", response_model=ContextResult, operation_id="context")
def context(asked: ContextQuery, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return the passages that answer a question as a context for a language model, within a budget of tokens."""
    request.state.sent = [asked.question, asked.collections, asked.filters, asked.tokenizer]
    return _answer(context_as_asked(knowledge, grant, asked, request.app.state.rerankers))


@router.post("/similar", response_model=SearchAnswer, operation_id="similar")
def similar(asked: SimilarQuery, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return the documents most similar to one, or to one of its passages, best first."""
    request.state.sent = [asked.document, asked.collection, asked.collections, asked.filters]
    check_unredacted(grant, asked.unredacted)
    document = visible_document(knowledge, grant, asked.document, asked.collection, reading=None)
    known = {
        "document": document.item.document_id or 0,
        "collection": document.item.collection,
        "collections": searched_collections(knowledge, grant, asked.collections, None),
    }
    return _answer(knowledge.similar(**asked.options() | known))


@router.post("/diff", operation_id="diff")
def diff(asked: DiffQuery, request: Request, knowledge: Knowledge, grant: Reader) -> DocumentDifferences:
    """Return what changed from one document to another, section by section, each with its place in both."""
    request.state.sent = [asked.first, asked.second, asked.collection]
    return differences_for(knowledge, grant, **asked.options())


def _answer(found: SearchResults | ContextResult) -> Response:
    """Return results as JSON; not through the type of the answer, which would check each value once more."""
    return Response(pydantic_core.to_json(found.as_dict(), inf_nan_mode="null"), media_type="application/json")
