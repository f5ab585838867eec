"""The retriever for Haystack runs in its pipelines, blocking and awaited, and goes through YAML and back."""

import asyncio
import json

import pytest

from sourcebook.errors import ConfigurationError, QueryError
from sourcebook.frameworks.searching import Knowledge
from sourcebook.knowledge_base import KnowledgeBase

pytest.importorskip("haystack", reason="haystack-ai is not installed")

from haystack import Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.core.errors import PipelineRuntimeError
from haystack.utils import Secret

from sourcebook.frameworks.haystack import SourcebookRetriever

QUESTION = "How long do the batteries of the tide gauge last?"
TEMPLATE = "{% for each in documents %}{{ each.meta.title }}: {{ each.content }}\n{% endfor %}{{ question }}"


def pipeline_of(retriever: SourcebookRetriever) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever)
    pipeline.add_component("prompt", PromptBuilder(TEMPLATE, required_variables="*"))
    pipeline.connect("retriever.documents", "prompt.documents")
    return pipeline


def test_a_pipeline(knowledge: Knowledge) -> None:
    pipeline = pipeline_of(SourcebookRetriever(knowledge, top_k=2, collections="handbook"))
    data = {"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}}
    ran = pipeline.run(data, include_outputs_from={"retriever"})
    assert "Power: " in ran["prompt"]["prompt"]
    assert "fourteen months" in ran["prompt"]["prompt"]
    awaited = asyncio.run(pipeline.run_async(data, include_outputs_from={"retriever"}))
    assert awaited == ran
    first = ran["retriever"]["documents"][0]
    assert 0 < first.score <= 1
    assert json.loads(json.dumps(first.meta)) == first.meta
    pipeline.close()
    assert pipeline.run(data)["prompt"]["prompt"] == ran["prompt"]["prompt"]  # who opened the knowledge base closes it


def test_arguments_of_a_run_replace_those_of_the_component(blocking: KnowledgeBase) -> None:
    retriever = SourcebookRetriever(blocking, filters={"tags": ["secret"]}, options={"min_relevance": 0})
    assert {each.meta["collection"] for each in retriever.run("batteries")["documents"]} == {"personnel"}
    found = retriever.run("batteries", top_k=1, filters={"tags": ["manual"]})["documents"]
    assert [each.meta["collection"] for each in found] == ["handbook"]


def test_two_retrievers_are_joined_by_id(blocking: KnowledgeBase) -> None:
    pipeline = Pipeline()
    pipeline.add_component("joiner", DocumentJoiner())
    for mode in ("vector", "keyword"):
        pipeline.add_component(mode, SourcebookRetriever(blocking, options={"mode": mode, "min_relevance": 0}))
        pipeline.connect(f"{mode}.documents", "joiner.documents")
    ran = pipeline.run({mode: {"query": QUESTION} for mode in ("vector", "keyword")})
    ids = [each.id for each in ran["joiner"]["documents"]]
    assert len(ids) == len(set(ids)) >= 2


def test_a_pipeline_in_yaml(served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens what its settings name, a server or the knowledge base of the machine; the key is not written."""
    for made in (SourcebookRetriever(server=served, collections=["handbook"]), SourcebookRetriever(top_k=1)):
        text = pipeline_of(made).dumps()
        assert "sb_" not in text
        pipeline = Pipeline.loads(text, allowed_modules=["sourcebook.frameworks.haystack"])
        data = {"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}}
        for _ in range(2):
            assert "fourteen months" in pipeline.run(data)["prompt"]["prompt"]
            pipeline.close()
    with pytest.raises(ValueError, match="Cannot serialize token-based secret"):
        SourcebookRetriever(server=served, key=Secret.from_token("sb_plain")).to_dict()
    monkeypatch.setenv("SOURCEBOOK_KEY", "sb_wrong")
    refused = SourcebookRetriever(server=served)
    refused.warm_up()  # sends nothing
    refused.close()


def test_errors(knowledge: Knowledge) -> None:
    with pytest.raises(ConfigurationError, match="give SourcebookRetriever a server"):
        pipeline_of(SourcebookRetriever(knowledge)).dumps()
    with pytest.raises(QueryError, match="leave one of them out"):
        SourcebookRetriever(knowledge, server="http://127.0.0.1:9")
    with pytest.raises(QueryError, match="there is no option colections"):
        SourcebookRetriever(server="http://127.0.0.1:9", options={"colections": "handbook"})
    pipeline = pipeline_of(SourcebookRetriever(knowledge, collections="nowhere"))
    data = {"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}}
    with pytest.raises(PipelineRuntimeError) as raised:
        pipeline.run(data)
    assert isinstance(raised.value.__cause__, QueryError)
