"""A wrong name or value of an option is refused by the type checker, on all three knowledge bases.

The functions are never called. mypy refuses each marked line, or says that its mark is not used.
"""

import inspect

import pytest

from sourcebook import AsyncKnowledgeBase, KnowledgeBase
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.contract.asking import AskOptions, AskRequest
from sourcebook.contract.documents import RemovedItem
from sourcebook.contract.fields import declared
from sourcebook.contract.search import ContextOptions, ContextRequest, SearchOptions, SearchRequest
from sourcebook.contract.search_results import SearchResults


def _local(knowledge: KnowledgeBase) -> tuple[SearchResults, list[RemovedItem]]:
    knowledge.search("tide", limt=3)  # type: ignore[call-arg]
    knowledge.search("tide", group_by="passage")  # type: ignore[arg-type]
    knowledge.search("tide", min_relevance="high")  # type: ignore[arg-type]
    knowledge.context("tide", offset=3)  # type: ignore[call-arg]
    knowledge.status(["handbook"], deep=True)  # type: ignore[call-arg]
    knowledge.search("tide", as_principals="group:board")  # type: ignore[arg-type]
    knowledge.status(as_principals=["group:board"])  # type: ignore[call-arg]
    return knowledge.search("tide", limit=3, typos=True), knowledge.remove_document("tides.md")


def _remote(knowledge: RemoteKnowledgeBase) -> tuple[SearchResults, list[RemovedItem]]:
    knowledge.search("tide", limt=3)  # type: ignore[call-arg]
    knowledge.search("tide", group_by="passage")  # type: ignore[arg-type]
    knowledge.search("tide", min_relevance="high")  # type: ignore[arg-type]
    knowledge.context("tide", offset=3)  # type: ignore[call-arg]
    knowledge.status(["handbook"], deep=True)  # type: ignore[call-arg]
    knowledge.search("tide", as_principals="group:board")  # type: ignore[arg-type]
    knowledge.status(as_principals=["group:board"])  # type: ignore[call-arg]
    return knowledge.search("tide", limit=3, typos=True), knowledge.remove_document("tides.md")


async def _awaited(knowledge: AsyncKnowledgeBase) -> tuple[SearchResults, list[RemovedItem]]:
    await knowledge.search("tide", limt=3)  # type: ignore[call-arg]
    await knowledge.search("tide", group_by="passage")  # type: ignore[arg-type]
    await knowledge.search("tide", min_relevance="high")  # type: ignore[arg-type]
    await knowledge.context("tide", offset=3)  # type: ignore[call-arg]
    await knowledge.status(["handbook"], deep=True)  # type: ignore[call-arg]
    await knowledge.search("tide", as_principals="group:board")  # type: ignore[arg-type]
    await knowledge.status(as_principals=["group:board"])  # type: ignore[call-arg]
    return await knowledge.search("tide", limit=3, typos=True), await knowledge.remove_document("tides.md")


@pytest.mark.parametrize(
    ("request_type", "options", "positional"),
    [
        (SearchRequest, SearchOptions, {"query", "collections", "limit", "mode"}),
        (ContextRequest, ContextOptions, {"question", "collections", "max_tokens", "format"}),
        (AskRequest, AskOptions, {"question", "collections"}),
    ],
)
def test_the_options_are_the_fields_of_the_request(request_type: type, options: type, positional: set[str]) -> None:
    """What type checkers see, and what the faces read, name the same options."""
    named = set(inspect.get_annotations(options))
    assert named == set(declared(request_type)) - positional
