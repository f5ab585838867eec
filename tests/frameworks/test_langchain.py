"""The retriever and the tool pass LangChain's own tests, and work in its chains."""

import asyncio
import json
from typing import Any

import pytest

from sourcebook.errors import QueryError, SourcebookError
from sourcebook.frameworks.searching import Knowledge
from sourcebook.knowledge_base import KnowledgeBase

pytest.importorskip("langchain_tests", reason="langchain-tests is not installed")

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import ToolCall
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnablePassthrough
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from sourcebook.frameworks.langchain import SourcebookRetriever, SourcebookTool

QUESTION = "How long do the batteries of the tide gauge last?"


class _OverEachKind:
    """A knowledge base of each kind for the classes of LangChain's tests."""

    @pytest.fixture(autouse=True)
    def _given(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge


class TestStandardRetriever(_OverEachKind, RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return SourcebookRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"knowledge": self.knowledge, "options": {"min_relevance": 0}}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


class _OfTheTool(_OverEachKind):
    @property
    def tool_constructor(self) -> type[BaseTool]:
        return SourcebookTool

    @property
    def tool_constructor_params(self) -> dict[str, Any]:
        return {"knowledge": self.knowledge, "max_tokens": 600}

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"query": QUESTION}


class TestStandardTool(_OfTheTool, ToolsUnitTests): ...


class TestStandardToolCalls(_OfTheTool, ToolsIntegrationTests): ...


def test_a_chain(knowledge: Knowledge) -> None:
    """Documents go through a prompt to a model, blocking and awaited; their metadata is plain JSON."""
    retriever = SourcebookRetriever(knowledge=knowledge, k=2, collections="handbook")
    chain = (
        {"context": retriever, "question": RunnablePassthrough()}
        | ChatPromptTemplate.from_template("{context}\n\n{question}")
        | FakeListChatModel(responses=["fourteen months"])
    )
    assert chain.invoke(QUESTION).content == "fourteen months"
    assert asyncio.run(chain.ainvoke(QUESTION)).content == "fourteen months"
    found = retriever.invoke(QUESTION)
    assert asyncio.run(retriever.ainvoke(QUESTION)) == found
    assert "fourteen months" in found[0].page_content
    assert json.loads(json.dumps(found[0].metadata)) == found[0].metadata
    assert found[0].id is not None
    assert retriever.batch([QUESTION, QUESTION]) == [found, found]


def test_options_of_a_call_and_of_a_configuration(blocking: KnowledgeBase) -> None:
    retriever = SourcebookRetriever(knowledge=blocking, options={"min_relevance": 0})
    assert {each.metadata["collection"] for each in retriever.invoke("batteries", k=50)} == {"handbook", "personnel"}
    (only,) = retriever.invoke("batteries", filters={"tags": ["secret"]}, collections=["personnel"])
    assert only.metadata["collection"] == "personnel"
    assert "relevance" not in only.metadata
    (scored,) = SourcebookRetriever(knowledge=blocking, k=1, scores=True).invoke("batteries")
    assert 0 < scored.metadata["relevance"] <= 1
    configurable = retriever.configurable_fields(k=ConfigurableField(id="k"))
    assert len(configurable.with_config(configurable={"k": 1}).invoke("batteries")) == 1


def test_a_model_says_the_query_alone(blocking: KnowledgeBase) -> None:
    """Its schema has nothing else; an argument of a search that it makes up is refused."""
    tool = SourcebookTool(knowledge=blocking, collections="handbook", max_tokens=600)
    assert set(tool.tool_call_schema.model_json_schema()["properties"]) == {"query"}
    for made_up in ("unredacted", "collections", "filters", "max_tokens"):
        with pytest.raises(ValueError, match="Extra inputs"):
            tool.invoke({"query": "batteries", made_up: True})
    call = ToolCall(name=tool.name, args={"query": QUESTION}, id="1", type="tool_call")
    message = tool.invoke(call)
    assert "fourteen months" in message.content
    assert "<sources" in message.content or "sources" in message.content
    assert message.artifact["sources"][0]["number"] == 1
    assert json.loads(json.dumps(message.artifact)) == message.artifact
    assert tool.invoke({"query": "quantum chess on the moons of Saturn"}) == "Nothing relevant was found."


def test_a_model_says_what_its_program_allows(knowledge: Knowledge) -> None:
    """Its tags and filters hold beside those of the program, and what it gets wrong comes back as a sentence."""
    tool = SourcebookTool(
        knowledge=knowledge,
        filters={"tags": ["manual"]},
        arguments=("tags", "filters", "neighbours", "limit"),
        options={"min_relevance": 0},
    )
    told = tool.tool_call_schema.model_json_schema()["properties"]
    assert set(told) == {"query", "tags", "filters", "neighbours", "limit"}
    assert "fourteen months" in tool.invoke({"query": QUESTION, "tags": ["manual"], "neighbours": 1, "limit": 3})
    assert "bonus" not in tool.invoke({"query": "What does the engineer of the batteries earn?", "tags": ["secret"]})
    message = asyncio.run(tool.ainvoke({"query": QUESTION, "filters": {"collections": "personnel"}}))
    assert "there is no filter 'collections'" in message
    assert "the program has set the filter tags_any" in tool.invoke({"query": QUESTION, "tags": ["secret", "manual"]})


def test_errors(knowledge: Knowledge) -> None:
    for made, arguments in ((SourcebookRetriever, {"k": 0}), (SourcebookTool, {"max_tokens": 0})):
        with pytest.raises(QueryError):
            made(knowledge=knowledge, **arguments)
        with pytest.raises(QueryError, match="there is no option colections"):
            made(knowledge=knowledge, options={"colections": "handbook"})
        with pytest.raises(ValueError, match="KnowledgeBase"):
            made(knowledge="http://127.0.0.1:8320")
    lost = SourcebookRetriever(knowledge=knowledge, collections="nowhere")
    with pytest.raises(SourcebookError):
        lost.invoke(QUESTION)
    with pytest.raises(SourcebookError):
        asyncio.run(lost.ainvoke(QUESTION))
