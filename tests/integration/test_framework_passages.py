"""Passages for frameworks: ids that last, plain metadata, one meaning over every kind of knowledge base."""

import asyncio
import json
from collections.abc import Iterator

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.errors import AccessError, DatabaseUnavailableError, QueryError, UnknownCollectionError
from sourcebook.frameworks.passages import Passage, passages_of
from sourcebook.frameworks.searching import Contexts, Knowledge, Searching, shown, sources_of
from sourcebook.knowledge_base import KnowledgeBase
from tests.integration.http_server import serving
from tests.integration.stages import Stages

CANARY = "harbour.master@example.org"
CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook, tags: [manual]}], redaction: {categories: [email]}}
  personnel: {files: [{root: ./docs/personnel}]}
"""
POWER = f"# Power\n\nThe batteries of the tide gauge last fourteen months. Ask {CANARY}.\n"
LONG = "The lantern of the lighthouse turns by clockwork, which is wound at dusk by the keeper of the light. " * 12


def section(title: str, text: str) -> str:
    return f"\n## {title}\n\n{text}\n"


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("handbook/power.md", POWER)
    stages.write("handbook/light.md", "# Light\n" + section("Clockwork", LONG) + section("Lamp", "The lamp burns oil."))
    stages.write("personnel/salaries.md", "---\nreview: {by: Ada}\n---\n# Salaries\n\nThe batteries engineer earns.\n")
    stages.configure(CONFIGURATION)
    stages.run_all("personnel", "handbook")
    return stages


@pytest.fixture
def kinds(base: Stages) -> Iterator[dict[str, Knowledge]]:
    """The knowledge base, the same for asyncio, and the same behind a server with a key that sees one collection."""
    with base.connection() as connection:
        _, key = create_key(connection, "reader", ("read",), ["handbook"], actor="test")
    with (
        serving(base.knowledge, requires_key=True) as client,
        RemoteKnowledgeBase(f"http://127.0.0.1:{client.port}", key) as remote,
    ):
        yield {"blocking": base.knowledge, "awaited": AsyncKnowledgeBase(base.knowledge), "remote": remote}


def passages(knowledge: Knowledge, query: str, **options: object) -> list[Passage]:
    """Return what a blocking and an awaited search return."""
    searching = Searching(knowledge, {"min_relevance": 0, **options})
    found = searching.passages(query)
    assert asyncio.run(searching.passages_async(query)) == found
    return found


def ids(base: Stages) -> dict[str, str]:
    """Return the id of each passage of the handbook by its text."""
    found = passages(base.knowledge, "the lantern, the lamp, the batteries", collections="handbook", limit=50)
    assert len({each.id for each in found}) == len(found)
    return {each.text: each.id for each in found}


def test_ids_last_as_long_as_the_text(base: Stages) -> None:
    """A passage keeps its id where others come before it, where it is indexed anew, and where it comes back."""
    before = ids(base)
    base.write("handbook/light.md", "# Light\n" + section("First", "A preface. " * 90) + section("Clockwork", LONG))
    base.run()
    after = ids(base)
    same = {text for text in before.keys() & after.keys() if "clockwork" in text}
    assert same
    assert all(before[text] == after[text] for text in same)
    assert not set(before.values()) & {after[text] for text in after.keys() - before.keys()}
    path = base.root / "handbook/light.md"
    away = path.rename(base.root.parent / "away")
    base.run()
    assert not same & ids(base).keys()
    away.rename(path)
    base.run()
    with base.connection() as connection:
        connection.execute("UPDATE indexed_document SET config_hash = 'older', published_config = 'older'")
    base.run()
    assert ids(base) == after


def test_equal_passages_of_a_document_are_told_apart(base: Stages) -> None:
    """As nothing else differs, the first one in reading order has the bare id, whichever comes first in the search."""
    base.write("handbook/rounds.md", "# Rounds\n" + section("Round", LONG) * 3)
    base.run()
    found = base.search("lantern clockwork", collections="handbook", limit=50)
    twins = [each for each in found if each.uri.endswith("rounds.md")]
    assert len(twins) > len({each.text for each in twins})
    made = {each.ordinal: passage.id for each, passage in zip(twins, passages_of(twins), strict=True)}
    turned = {each.ordinal: passage.id for each, passage in zip(twins[::-1], passages_of(twins[::-1]), strict=True)}
    assert made == turned
    assert len(set(made.values())) == len(twins)
    first = made[min(made)]
    assert "-" not in first


def test_a_passage_is_the_same_whatever_the_query_was(base: Stages) -> None:
    """Frameworks join the passages of several queries by comparing them."""
    asked = ("Who winds the clockwork?", "the lamp burns oil")
    found = [{each.id: each for each in passages(base.knowledge, query, limit=50)} for query in asked]
    common = found[0].keys() & found[1].keys()
    assert len(common) >= 2
    for number in common:
        first, second = found[0][number], found[1][number]
        assert (first.text, first.metadata, first.document) == (second.text, second.metadata, second.document)
        assert json.loads(json.dumps(first.metadata, allow_nan=False)) == first.metadata


def test_every_kind_of_knowledge_base_finds_the_same(kinds: dict[str, Knowledge]) -> None:
    """Over the same collections; a key sees its own, and what is redacted is so in the text and in the metadata."""
    for options in ({}, {"limit": 1}, {"filters": {"tags": ["manual"]}}, {"neighbours": 1, "mode": "keyword"}):
        here, awaited, there = (
            passages(each, "batteries", collections="handbook", **options) for each in kinds.values()
        )
        assert here == awaited == there
        assert here[0].text.count("[EMAIL_1]") == 1
        assert CANARY not in repr(here)
    everywhere = {each.metadata["collection"] for each in passages(kinds["blocking"], "batteries", limit=50)}
    assert everywhere == {"handbook", "personnel"}
    assert {each.metadata["collection"] for each in passages(kinds["remote"], "batteries", limit=50)} == {"handbook"}
    (own,) = passages(kinds["awaited"], "batteries engineer", collections="personnel")
    assert own.metadata["metadata"]["review"] == {"by": "Ada"}
    assert Searching(kinds["blocking"]).passages("the orbit of Saturn's moons in quantum chess") == []


def test_errors_are_those_of_a_search(kinds: dict[str, Knowledge]) -> None:
    for name, knowledge in kinds.items():
        for query, options in (("", {}), ("batteries", {"collections": "nowhere"}), ("x", {"filters": {"no": 1}})):
            with pytest.raises(QueryError):
                Searching(knowledge).passages(query, **options)
            with pytest.raises(QueryError):
                asyncio.run(Searching(knowledge).passages_async(query, **options))
        with pytest.raises(UnknownCollectionError if name != "remote" else QueryError):
            Searching(knowledge, {"collections": ["nowhere"]}).passages("batteries")
    assert isinstance(kinds["remote"], RemoteKnowledgeBase)
    with pytest.raises(QueryError, match="there is no such collection"):
        Searching(kinds["remote"]).passages("batteries", collections="personnel")
    url = f"http://127.0.0.1:{kinds['remote'].server.url.rpartition(':')[2]}"
    with RemoteKnowledgeBase(url, "sb_none") as stranger, pytest.raises(AccessError):
        Searching(stranger).passages("batteries")
    with RemoteKnowledgeBase("http://127.0.0.1:9") as away, pytest.raises(DatabaseUnavailableError):
        Searching(away).passages("batteries")


def test_contexts_of_a_tool(kinds: dict[str, Knowledge]) -> None:
    """The text is fenced and within its budget, the sources are plain JSON, and nothing found is a sentence."""
    for knowledge in kinds.values():
        contexts = Contexts(knowledge, {"collections": "handbook", "max_tokens": 300, "tokenizer": "bound"})
        for context in (contexts.context("batteries"), asyncio.run(contexts.context_async("batteries"))):
            assert "fourteen months" in shown(context)
            assert CANARY not in repr(context)
            told = sources_of(context)
            assert json.loads(json.dumps(told, allow_nan=False)) == told
            assert told["tokens"] <= 300
            assert told["sources"][0]["title"] == "Power"
        assert shown(contexts.context("the orbit of Saturn's moons in quantum chess")) == "Nothing relevant was found."


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"colections": ["handbook"]}, "there is no option colections; there are"),
        ({"limit": 0}, "the limit is 0"),
        ({"filters": {"operator": "AND", "conditions": []}}, "operator"),
        ({"mode": "fuzzy"}, "the mode is 'fuzzy'"),
    ],
)
def test_arguments_are_checked_before_the_first_query(options: dict[str, object], said: str) -> None:
    remote = RemoteKnowledgeBase("http://127.0.0.1:9")
    with pytest.raises(QueryError, match=said):
        Searching(remote, options)
    with pytest.raises(QueryError, match="the knowledge base is str; it must be a KnowledgeBase"):
        Searching("http://127.0.0.1:9")  # type: ignore[arg-type] # what a program gets wrong
    with pytest.raises(QueryError, match="there is no option limit"):
        Contexts(remote, {"limit": 3})


def test_none_is_not_given(base: Stages) -> None:
    """Frameworks pass None for what a caller leaves out: the retriever's own value holds."""
    searching = Searching(base.knowledge, {"limit": 1, "collections": None, "min_relevance": 0})
    assert len(searching.passages("batteries", limit=None, filters=None)) == 1
    assert len(searching.passages("batteries", limit=2)) == 2
    assert isinstance(base.knowledge, KnowledgeBase)
