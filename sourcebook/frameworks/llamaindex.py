"""LlamaIndex: a retriever."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sourcebook.contract.filters import Filters
from sourcebook.errors import MissingDependencyError
from sourcebook.frameworks.passages import Passage
from sourcebook.frameworks.searching import Knowledge, Searching
from sourcebook.installation import install_command

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
except ModuleNotFoundError as error:
    raise MissingDependencyError(f"llama-index-core is not installed: run  {install_command('llamaindex')}") from error

if TYPE_CHECKING:
    from llama_index.core.callbacks import CallbackManager

_FOR_MODELS = ("source", "title", "heading_path", "page", "time_span")
"""Metadata that LlamaIndex puts before a model and into embeddings; the rest is for programs."""


class SourcebookRetriever(BaseRetriever):
    """Passages of a knowledge base as nodes of LlamaIndex; their score is the relevance, 0 to 1.

    Example:
        >>> engine = RetrieverQueryEngine.from_args(SourcebookRetriever(knowledge), llm=llm)  # doctest: +SKIP
        >>> print(engine.query("How long do the batteries last?"))  # doctest: +SKIP
    """

    def __init__(
        self,
        knowledge: Knowledge,
        *,
        similarity_top_k: int = 5,
        collections: Sequence[str] | str | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        callback_manager: "CallbackManager | None" = None,
    ) -> None:
        """Prepare; nothing is searched.

        Args:
            knowledge: a knowledge base, which the program closes.
            similarity_top_k: number of passages.
            collections: names, or one name; every collection where None.
            filters: conditions on the documents: `Filters`, or a mapping such as `{"tags": ["policy"]}`.
            options: further arguments of `KnowledgeBase.search`, such as `{"mode": "keyword", "neighbours": 1}`.
            callback_manager: llamaIndex's.

        Raises:
            QueryError: an argument is unknown or not allowed.
        """
        named = {"collections": collections, "limit": similarity_top_k, "filters": filters}
        self._searching = Searching(knowledge, {**named, **(options or {})})
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return the passages that answer a query, best first."""
        return [_node(each) for each in self._searching.passages(query_bundle.query_str)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return the passages without blocking the event loop."""
        return [_node(each) for each in await self._searching.passages_async(query_bundle.query_str)]


def _node(passage: Passage) -> NodeWithScore:
    kept_out = [
        name for name, value in passage.metadata.items() if name not in _FOR_MODELS or value is None or value == []
    ]
    node = TextNode(
        id_=passage.id,
        text=passage.text,
        metadata=passage.metadata,
        excluded_llm_metadata_keys=kept_out,
        excluded_embed_metadata_keys=kept_out,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=passage.document)},
        start_char_idx=passage.start_char,
        end_char_idx=passage.end_char,
    )
    return NodeWithScore(node=node, score=passage.relevance)
