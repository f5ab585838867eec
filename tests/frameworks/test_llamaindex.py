"""The retriever for LlamaIndex answers in its query engine, and its nodes are joined as LlamaIndex joins them."""

import asyncio
import json

import pytest

from sourcebook.errors import QueryError
from sourcebook.frameworks.searching import Knowledge
from sourcebook.knowledge_base import KnowledgeBase

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import MetadataMode, NodeRelationship, QueryBundle

from sourcebook.frameworks.llamaindex import SourcebookRetriever

QUESTION = "How long do the batteries of the tide gauge last?"


def test_a_query_engine(knowledge: Knowledge) -> None:
    """The mock model repeats its prompt: the passage stands in it with title and source, and without the rest."""
    engine = RetrieverQueryEngine.from_args(SourcebookRetriever(knowledge, collections="handbook"), llm=MockLLM())
    for answer in (engine.query(QUESTION), asyncio.run(engine.aquery(QUESTION))):
        assert "fourteen months" in str(answer)
        assert "title: Power" in str(answer)
        assert "document_id" not in str(answer)
        assert "fourteen months" in answer.source_nodes[0].text


def test_nodes(knowledge: Knowledge) -> None:
    retriever = SourcebookRetriever(knowledge, similarity_top_k=2, collections="handbook", options={"min_relevance": 0})
    found = retriever.retrieve(QUESTION)
    assert asyncio.run(retriever.aretrieve(QueryBundle(QUESTION))) == found
    assert retriever.retrieve("batteries of the gauge")[0].node_id == found[0].node_id
    first = found[0].node
    assert json.loads(json.dumps(first.metadata)) == first.metadata
    assert 0 < found[0].score <= 1
    assert first.relationships[NodeRelationship.SOURCE].node_id != first.node_id
    assert first.start_char_idx < first.end_char_idx
    assert "version" not in first.get_content(MetadataMode.LLM)
    assert "None" not in first.get_content(MetadataMode.EMBED)


def test_passages_of_several_queries_are_joined(blocking: KnowledgeBase) -> None:
    """LlamaIndex joins nodes by text and metadata: a passage that two queries find is there once, with both scores."""
    retriever = SourcebookRetriever(blocking, collections="handbook", options={"min_relevance": 0})
    model = MockLLM()
    fused = QueryFusionRetriever(
        [retriever, SourcebookRetriever(blocking, collections="handbook", options={"mode": "keyword"})],
        llm=model,
        num_queries=1,
        mode="reciprocal_rerank",
        similarity_top_k=10,
        use_async=False,
    )
    found = fused.retrieve(QUESTION)
    assert len({each.node_id for each in found}) == len(found)


def test_errors(knowledge: Knowledge) -> None:
    with pytest.raises(QueryError, match="the limit is 0"):
        SourcebookRetriever(knowledge, similarity_top_k=0)
    with pytest.raises(QueryError, match="it must be a KnowledgeBase"):
        SourcebookRetriever("http://127.0.0.1:8320")  # type: ignore[arg-type] # what a program gets wrong
    lost = SourcebookRetriever(knowledge, collections="nowhere")
    with pytest.raises(QueryError):
        lost.retrieve(QUESTION)
    with pytest.raises(QueryError):
        asyncio.run(lost.aretrieve(QUESTION))
