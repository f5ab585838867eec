"""A context as a request asks for it, among what its caller sees; the same in every face of the server."""

from collections.abc import Collection

from sourcebook.context.tokens import token_counter
from sourcebook.contract.context_results import ContextResult
from sourcebook.contract.fusion import Fusion
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.context_types import ContextQuery
from sourcebook.server.searching import asked_reranking
from sourcebook.server.types import FusionSettings
from sourcebook.server.visibility import check_unredacted, searched_collections


def context_as_asked(
    knowledge: KnowledgeBase,
    grant: Grant,
    asked: ContextQuery,
    rerankers: Collection[str],
    *,
    max_tokens: int | None = None,
) -> ContextResult:
    """Return a context for a language model.

    Args:
        knowledge: the knowledge base.
        grant: what the caller sees.
        asked: the request.
        rerankers: names and folders of the only models that a search may rerank with.
        max_tokens: the budget, in place of the request's.

    Raises:
        QueryError: the request names another model, or a tokenizer that is not installed with the server: a caller must
            not make the server read what it names.
        NotFoundError: a collection or a generation does not exist for the caller.
        WithheldError: the caller may not lift redaction.
        SourcebookError: see `KnowledgeBase.context`.
    """
    check_unredacted(grant, asked.unredacted)
    options = {name: getattr(asked, name) for name in ContextQuery.model_fields if name != "question"}
    options["collections"] = searched_collections(knowledge, grant, asked.collections, asked.generation)
    if isinstance(asked.fusion, FusionSettings):
        options["fusion"] = Fusion(**asked.fusion.model_dump())
    options["rerank"] = asked_reranking(asked.rerank, rerankers)
    if asked.tokenizer is not None:
        options["tokenizer"] = token_counter(asked.tokenizer, may_load=False).name
    if max_tokens is not None:
        options["max_tokens"] = max_tokens
    return knowledge.context(asked.question, **options)
