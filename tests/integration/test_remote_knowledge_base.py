"""`RemoteKnowledgeBase` finds, says and refuses what `KnowledgeBase` does."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.contract.filters import Filters
from sourcebook.contract.fusion import Fusion
from sourcebook.contract.search_results import SearchResults
from sourcebook.errors import (
    AccessError,
    AmbiguousDocumentError,
    DatabaseError,
    DatabaseUnavailableError,
    QueryError,
    UnknownDocumentError,
)
from sourcebook.knowledge_base import KnowledgeBase
from tests.integration.http_server import serving
from tests.integration.stages import Stages

CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook, tags: [manual]}]}
  personnel: {files: [{root: ./docs/personnel}]}
"""
POWER = (
    """---
review: {by: Ada}
year: 2024
---
# Power

The batteries of the tide gauge last fourteen months.

## Spares

"""
    + "The gauge runs on batteries alone, and the spare ones lie in the hut. " * 30
)


def fill(stages: Stages) -> None:
    """Two collections with documents that are alike, one that cannot be read, and one in both."""
    stages.write("handbook/power.md", POWER)
    stages.write("handbook/seal.md", "# Seals\n\nThe seal of the housing is greased in spring.")
    stages.write("handbook/broken.pdf", b"%PDF-1.7 no more than this")
    stages.write("personnel/salaries.md", "# Salaries\n\nThe batteries engineer earns a marmalade bonus in winter.")
    stages.write("personnel/old/seal.md", "# Seals\n\nThe seal of the archive is never broken.")
    stages.configure(CONFIGURATION)
    stages.run_all("personnel", "handbook")


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


@pytest.fixture
def remote(knowledge: KnowledgeBase) -> Iterator[RemoteKnowledgeBase]:
    with (
        serving(knowledge, requires_key=False) as client,
        RemoteKnowledgeBase(f"http://127.0.0.1:{client.port}/") as remote,
    ):
        yield remote


SEARCHES: list[tuple[str, dict[str, Any]]] = [
    ("How long do the batteries last?", {}),
    ("batteries", {"collections": "handbook", "limit": 1, "offset": 1, "mode": "keyword"}),
    ("batteries", {"collections": ["handbook", "personnel"], "mode": "vector", "min_relevance": 0.0}),
    ("batteries", {"fusion": "rrf", "min_relevance": 0}),
    ("batteries", {"fusion": Fusion(vector=0.3, keyword=2, depth=50, by_language=False), "min_relevance": 0}),
    ("batteries spare", {"neighbours": 2, "min_relevance": 0}),
    ("batteries", {"group_by": "document", "facets": True, "min_relevance": 0}),
    ("batteries", {"diversity": 0.7, "strategy": "auto", "min_relevance": 0}),
    ('"spare ones" -marmalade', {"literal": False}),
    ("batteris", {"typos": True, "log": False}),
    ("batteris", {"log": False}),
    ("where is the power kept", {"snippets": "meaning", "min_relevance": 0}),
    ("marmalade in orbit of Saturn", {"min_relevance": 0.99}),
    ("batteries", {"filters": {"tags": ["manual"], "metadata": {("review", "by"): "Ada", "year": {"gte": 2020}}}}),
    ("batteries", {"filters": Filters(kinds="file", added={"lt": date(2100, 1, 1)}), "min_relevance": 0}),
    ("batteries \0 \ud800", {"min_relevance": 0}),
]


@pytest.mark.usefixtures("base")
def test_searches_give_equal_results_for_every_option(knowledge: KnowledgeBase, remote: RemoteKnowledgeBase) -> None:
    for query, options in SEARCHES:
        here, there = knowledge.search(query, **options), remote.search(query, **options)
        assert untimed(there) == untimed(here), (query, options)
        assert (str(there), there._repr_html_()) == (str(here), here._repr_html_())
        assert [hit.context_text for hit in there] == [hit.context_text for hit in here]
        assert [hit.snippet_highlights for hit in there] == [hit.snippet_highlights for hit in here]
    (generation,) = (state.id for state in knowledge.generations("personnel"))
    for chosen in (generation, [generation]):
        here, there = (each.search("bonus", generation=chosen) for each in (knowledge, remote))
        assert untimed(there) == untimed(here)
        assert there.generations == (generation,)
    told = remote.search("batteries", explain=True, min_relevance=0).explanation
    direct = knowledge.search("batteries", explain=True, min_relevance=0).explanation
    assert told is not None
    assert direct is not None
    assert {leg.leg: leg.plan for leg in told.legs} == {leg.leg: leg.plan for leg in direct.legs}
    assert (told.query, told.fusion, told.weights, told.relevance) == (
        direct.query,
        direct.fusion,
        direct.weights,
        direct.relevance,
    )
    assert [type(hit) for hit in remote.search("batteries")] == [type(hit) for hit in knowledge.search("batteries")]


def test_similar_documents_and_contents_are_equal(knowledge: KnowledgeBase, remote: RemoteKnowledgeBase) -> None:
    power = next(item for item in knowledge.documents("handbook") if item.title == "Power")
    for named in (power.document_id, power.uri, "handbook/power.md"):
        assert named is not None
        for options in ({}, {"passage": 0, "limit": 1}, {"collections": "handbook", "filters": {"kind": "file"}}):
            here, there = (each.similar(named, **options) for each in (knowledge, remote))
            assert untimed(there) == untimed(here)
        assert remote.diff(named, "old/seal.md") == knowledge.diff(named, "old/seal.md")
        for collection in (None, "handbook"):
            assert remote.show(named, collection) == knowledge.show(named, collection)
    assert remote.show("old/seal.md") == knowledge.show("old/seal.md")
    assert remote.collections() == knowledge.collections()
    for chosen in (None, "handbook", ["handbook", "personnel"]):
        assert remote.generations(chosen) == knowledge.generations(chosen)
        assert remote.status(chosen) == knowledge.status(chosen)
    remote.prewarm("handbook")


@pytest.mark.changes_files
def test_lists_of_documents_are_equal(
    base: Stages, knowledge: KnowledgeBase, remote: RemoteKnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.write("handbook/seal.md", "").unlink()
    base.collection = "handbook"
    base.run()
    first = knowledge.documents()[0]
    lists: list[dict[str, Any]] = [
        {},
        {"collections": "handbook"},
        {"failed": True},
        {"failure": "corrupt"},
        {"removed": True},
        {"processing": True},
        {"limit": 1},
        {"limit": 2, "offset": 1},
        {"offset": 2},
        {"after": (first.collection, first.uri)},
        {"states": ["ready", "removed"], "kinds": ["file"]},
        {"kinds": ["source"]},
        {"text": "seal"},
        {"text": "%\0_"},
    ]
    for page in (1_000, 1, 2):
        monkeypatch.setattr("sourcebook.client.document_requests._PAGE", page)
        for options in lists:
            assert remote.documents(**options) == knowledge.documents(**options), (page, options)
    assert {item.state for item in remote.documents(removed=True)} >= {"ready", "failed", "removed"}


def test_refusals_are_those_of_the_library(knowledge: KnowledgeBase, remote: RemoteKnowledgeBase) -> None:
    asked: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("search", ("",), {}),
        ("search", ("x" * 100_001,), {}),
        ("search", ("batteries",), {"limit": 0}),
        ("search", ("batteries",), {"mode": "psychic"}),
        ("search", ("batteries",), {"filters": {"colour": "red"}}),
        ("search", ("batteries",), {"collections": "nothing"}),
        ("search", ("batteries",), {"generation": 999_999}),
        ("similar", ("handbook/power.md",), {"passage": 999}),
        ("similar", ("nothing.md",), {}),
        ("diff", ("handbook/power.md", "nothing.md"), {}),
        ("show", ("nothing.md",), {}),
        ("show", (999_999,), {}),
        ("show", ("handbook/power.md", "nothing"), {}),
        ("show", ("handbook/power.md", "personnel"), {}),
        ("show", ("seal.md",), {}),
        ("documents", (), {"limit": 0}),
        ("documents", (), {"failure": "gremlins"}),
        ("documents", ("nothing",), {}),
        ("status", ("nothing",), {}),
        ("generations", ([],), {}),
    ]
    for method, arguments, options in asked:
        with pytest.raises((QueryError, UnknownDocumentError)) as here:
            getattr(knowledge, method)(*arguments, **options)
        with pytest.raises((QueryError, UnknownDocumentError)) as there:
            getattr(remote, method)(*arguments, **options)
        assert type(there.value) is type(here.value), (method, arguments, options, there.value)
    with pytest.raises(AmbiguousDocumentError):
        remote.show("seal.md")
    with pytest.raises(QueryError, match="does not rerank with that model"):
        remote.search("batteries", rerank="/tmp/model")


def test_a_key_decides_what_is_seen(base: Stages, knowledge: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    with base.connection() as connection:
        _, key = create_key(connection, "website", ("read",), ["handbook"], actor="test")
    with serving(knowledge, requires_key=True) as client:
        url = f"http://127.0.0.1:{client.port}"
        with RemoteKnowledgeBase(url) as stranger, pytest.raises(AccessError, match="send a key"):
            stranger.search("batteries")
        monkeypatch.setenv("SOURCEBOOK_KEY", f" {key}\n")
        with RemoteKnowledgeBase(url) as remote:
            assert [each.name for each in remote.collections()] == ["handbook"]
            assert {hit.collection for hit in remote.search("marmalade batteries", min_relevance=0)} == {"handbook"}
            with pytest.raises(UnknownDocumentError):
                remote.show("personnel/salaries.md")
            with pytest.raises(QueryError, match="no such collection"):
                remote.status("personnel")
        with RemoteKnowledgeBase(url, "sb_nonsense") as forger, pytest.raises(AccessError, match="not valid"):
            forger.collections()


def test_a_server_that_is_away_is_tried_again_and_named(knowledge: KnowledgeBase) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with (
        RemoteKnowledgeBase(f"http://127.0.0.1:{port}") as remote,
        pytest.raises(DatabaseUnavailableError, match=f"the server at http://127.0.0.1:{port} cannot be reached"),
    ):
        remote.search("batteries")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        remote = RemoteKnowledgeBase(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.05)
        with remote, pytest.raises(DatabaseUnavailableError, match="does not answer in time"):
            remote.collections()
        silent.setblocking(False)
        attempts = 0
        while attempts < 10:
            try:
                silent.accept()[0].close()
            except BlockingIOError:
                break
            attempts += 1
    assert attempts == 3
    with serving(knowledge, requires_key=False) as client:
        elsewhere = RemoteKnowledgeBase(f"http://127.0.0.1:{client.port}/documents")  # the page answers, not the API
        with elsewhere, pytest.raises((DatabaseError, QueryError)):
            elsewhere.collections()


def untimed(found: SearchResults) -> SearchResults:
    """Return results without times, which differ from search to search."""
    return replace(found, took_ms=0.0, explanation=None)
