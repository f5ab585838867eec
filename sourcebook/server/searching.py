"""A search as a request asks for it, among what its caller sees; the same in every face of the server."""

from collections.abc import Collection

from sourcebook.contract.fusion import Fusion
from sourcebook.contract.reranking import Reranking
from sourcebook.contract.search_results import SearchResults
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.types import FusionSettings, RerankingSettings, SearchQuery
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
    check_unredacted(grant, asked.unredacted)
    options = {name: getattr(asked, name) for name in SearchQuery.model_fields if name != "query"}
    options["collections"] = searched_collections(knowledge, grant, asked.collections, asked.generation)
    if isinstance(asked.fusion, FusionSettings):
        options["fusion"] = Fusion(**asked.fusion.model_dump())
    options["rerank"] = asked_reranking(asked.rerank, rerankers)
    return knowledge.search(asked.query, **options)


def asked_reranking(asked: RerankingSettings | str | None, rerankers: Collection[str]) -> Reranking | None:
    """Return the reranking that a request asks for.

    Raises:
        QueryError: it names another model than those that the server may load.
    """
    if asked is None:
        return None
    settings = RerankingSettings(model=asked) if isinstance(asked, str) else asked
    if settings.model not in rerankers:
        raise QueryError("this server does not rerank with that model: its operator names models with --rerank")
    return Reranking(**settings.model_dump())
