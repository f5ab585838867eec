"""Routes that search: passages for a query, documents similar to one."""

from typing import Any

import pydantic_core
from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.admin.items import Document
from sourcebook.errors import QueryError, UnknownDocumentError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.search.fusion import Fusion
from sourcebook.search.reranking.settings import Reranking
from sourcebook.search.results import SearchResults
from sourcebook.server.access import Knowledge, Reader, seen_collections
from sourcebook.server.problems import NotFoundError
from sourcebook.server.types import FusionSettings, RerankingSettings, SearchAnswer, SearchQuery, SimilarQuery

router = APIRouter(tags=["search"])


@router.post("/search", response_model=SearchAnswer, operation_id="search")
def search(asked: SearchQuery, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return the passages that answer a query, best first."""
    options = {name: getattr(asked, name) for name in SearchQuery.model_fields if name != "query"}
    request.state.sent = [asked.query, asked.collections, asked.filters]
    options["collections"] = _collections(knowledge, grant, asked.collections, asked.generation)
    if isinstance(asked.fusion, FusionSettings):
        options["fusion"] = Fusion(**asked.fusion.model_dump())
    options["rerank"] = _reranking(request, asked.rerank)
    return _answer(knowledge.search(asked.query, **options))


@router.post("/similar", response_model=SearchAnswer, operation_id="similar")
def similar(asked: SimilarQuery, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return the documents most similar to one, or to one of its passages, best first."""
    request.state.sent = [asked.document, asked.collection, asked.collections, asked.filters]
    document = visible_document(knowledge, grant, asked.document, asked.collection)
    found = knowledge.similar(
        document.item.document_id or 0,
        passage=asked.passage,
        collection=document.item.collection,
        collections=_collections(knowledge, grant, asked.collections, None),
        limit=asked.limit,
        filters=asked.filters,
    )
    return _answer(found)


def visible_document(
    knowledge: KnowledgeBase, grant: Grant, document: str | int, collection: str | None = None
) -> Document:
    """Return a document that exists for a caller.

    Raises:
        NotFoundError: it does not.
        QueryError: several collections of the caller have it, and none is named.
    """
    collections = seen_collections(knowledge, grant, [collection] if collection is not None else None)
    if collections is None:
        return knowledge.show(document)
    found = []
    for name in collections:
        try:
            found.append(knowledge.show(document, name))
        except UnknownDocumentError:
            continue
    if len(found) > 1:
        raise QueryError("several collections have this document: name one of them as `collection`")
    if not found:
        raise NotFoundError("there is no such document")
    return found[0]


def _collections(
    knowledge: KnowledgeBase, grant: Grant, named: list[str] | str | None, generation: int | list[int] | None
) -> list[str] | None:
    """Return the collections to search; of generations, those that they are of."""
    names = [named] if isinstance(named, str) else named
    if generation is not None:
        ids = {generation} if isinstance(generation, int) else set(generation)
        known = {state.id: state.collection for state in knowledge.generations()}
        if any(number not in known or not grant.sees(known[number]) for number in ids):
            raise NotFoundError("there is no such generation")
        return names if names is None else seen_collections(knowledge, grant, names)
    return seen_collections(knowledge, grant, names)


def _reranking(request: Request, asked: RerankingSettings | str | None) -> Reranking | None:
    """Return the reranking that a request asks for.

    Raises:
        QueryError: the server was not started with this model: a caller must not make it load what it names.
    """
    if asked is None:
        return None
    settings = RerankingSettings(model=asked) if isinstance(asked, str) else asked
    if settings.model not in request.app.state.rerankers:
        raise QueryError("this server does not rerank with that model: its operator names models with --rerank")
    return Reranking(**settings.model_dump())


def _answer(found: SearchResults) -> Response:
    """Return results as JSON; not through the type of the answer, which would check each value once more."""
    values: dict[str, Any] = found.as_dict()
    return Response(pydantic_core.to_json(values, inf_nan_mode="null"), media_type="application/json")
