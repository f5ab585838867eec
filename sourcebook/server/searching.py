"""Searches and contexts as a request asks for them, among what its caller sees; the same in every face."""

from collections.abc import Collection
from typing import Any

from sourcebook.context.tokens import token_counter
from sourcebook.contract.context_results import ContextResult
from sourcebook.contract.fusion import Fusion
from sourcebook.contract.reranking import Reranking
from sourcebook.contract.search_results import SearchResults
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.request_models import Carried, FusionSettings, RerankingSettings
from sourcebook.server.types import ContextQuery, SearchQuery
from sourcebook.server.visibility import check_unredacted, searched_collections


def search_as_asked(
    knowledge: KnowledgeBase, grant: Grant, asked: SearchQuery, rerankers: Collection[str]
) -> SearchResults:
    """Return the passages that answer a query.

    Args:
        knowledge: the knowledge base.
        grant: what the caller sees.
        asked: the request.
        rerankers: names and folders of the only models that a search may rerank with.

    Raises:
        QueryError: the request names another model: a caller must not make the server load what it names.
        NotFoundError: a collection or a generation does not exist for the caller.
        WithheldError: the caller may not lift redaction.
        SourcebookError: see `KnowledgeBase.search`.
    """
    return knowledge.search(**_allowed(knowledge, grant, asked, rerankers))


def context_as_asked(
    knowledge: KnowledgeBase, grant: Grant, asked: ContextQuery, rerankers: Collection[str], **changed: Any
) -> ContextResult:
    """Return a context for a language model, with some options in place of the request's; see `search_as_asked`.

    Raises:
        QueryError: the request names a tokenizer that is not installed with the server: a caller must not make the
            server read what it names.
        SourcebookError: see `search_as_asked` and `KnowledgeBase.context`.
    """
    options = _allowed(knowledge, grant, asked, rerankers)
    if options["tokenizer"] is not None:
        options["tokenizer"] = token_counter(options["tokenizer"], may_load=False).name
    return knowledge.context(**options | changed)


def _allowed(knowledge: KnowledgeBase, grant: Grant, asked: Carried, rerankers: Collection[str]) -> dict[str, Any]:
    """Return the options of a search, which its caller may have."""
    check_unredacted(grant, asked.unredacted)
    options = asked.options()
    options["collections"] = searched_collections(knowledge, grant, asked.collections, asked.generation)
    if isinstance(asked.fusion, FusionSettings):
        options["fusion"] = Fusion(**asked.fusion.options())
    if asked.rerank is not None:
        settings = RerankingSettings(model=asked.rerank) if isinstance(asked.rerank, str) else asked.rerank
        if settings.model not in rerankers:
            raise QueryError("this server does not rerank with that model: its operator names models with --rerank")
        options["rerank"] = Reranking(**settings.model_dump())
    return options
