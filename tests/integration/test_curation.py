"""Documents that are hidden from search, or boosted, by hand: in every face, with who, when and why, and undone."""

import json
from pathlib import Path
from typing import Literal

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.client.remote_knowledge_base import RemoteKnowledgeBase
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import QueryError, TakenDocumentError, UnknownDocumentError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.search.ranking.curation import by_boost
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.transfer.export import export_collections
from sourcebook.transfer.importing import import_collections
from tests.conftest import CreateDatabase
from tests.integration.http_server import serving
from tests.integration.mcp_client import Agent, over_http
from tests.integration.stages import Stages

CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook, tags: [shared], allowed: [everyone]}]}
  all: {from: [{collection: handbook, tags: [shared]}]}
  most: {from: [{collection: all, tags: [shared]}]}
"""
NAMES = ("a", "b", "c", "d", "e", "f")
TEXTS = (
    "is kept in glass jars that stand in the cellar of the harbour office.",
    "was given to the crew of the tender on the first Monday of the month.",
    "stains the charts, so nobody eats at the table where soundings are drawn.",
    "came with the supply boat, twelve boxes, together with rope and paint.",
    "for the lighthouse keeper is ordered in March and paid by the district.",
    "cannot be declared as ballast, whatever the purser of the barge believes.",
)


def fill(stages: Stages) -> None:
    for number, name in enumerate(NAMES):
        stages.write(
            f"handbook/{name}.md", f"# Part {name}\n\n{'Marmalade. ' * (8 - number)} It is {name}, kept in jars."
        )
    stages.configure(CONFIGURATION)
    stages.run_all("handbook", "all", "most")


@pytest.fixture
def base(filled: Stages) -> Stages:
    """A handbook whose documents another collection takes, and a third takes from that one."""
    return filled


def found(knowledge: KnowledgeBase, collection: str = "handbook", **options: object) -> list[str]:
    asked = {"min_relevance": 0, "limit": 10, **options}
    hits = knowledge.search("marmalade", collection, **asked)  # type: ignore[arg-type]
    return [hit.uri.rpartition("/")[2].removesuffix(".md") for hit in hits]


def number_of(base: Stages, name: str, collection: str = "handbook") -> int:
    (item,) = base.knowledge.documents(collection, text=f"/{name}.md")
    return item.document_id or 0


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
def test_a_hidden_document_is_found_by_no_search_and_comes_back(
    base: Stages, mode: Literal["hybrid", "keyword", "vector"]
) -> None:
    number = number_of(base, "c")
    before = {name: found(base.knowledge, name, mode=mode) for name in ("handbook", "all", "most")}
    base.knowledge.curate_document(number, boost=0, reason=" withdrawn in May ", actor="anna")
    for name, names in before.items():
        assert found(base.knowledge, name, mode=mode) == [each for each in names if each != "c"]
    seen = base.knowledge.seen_by(["user:anna"])
    assert found(seen, mode=mode) == found(base.knowledge, mode=mode)
    assert found(base.knowledge, filters={"documents": [number]}, mode=mode) == []
    assert number not in {hit.document_id for hit in base.knowledge.similar(number_of(base, "a"))}
    facets = base.knowledge.search("marmalade", "handbook", min_relevance=0, facets=True, mode=mode).facets or {}
    assert facets["collection"] == {"handbook": 5}
    base.knowledge.curate_document(number, boost=1, actor="ben")
    for name, names in before.items():
        assert found(base.knowledge, name, mode=mode) == names
    with base.connection() as connection:
        events = [each for each in audit_events(connection) if each.action == "document.curate"]
    assert sorted((each.actor, each.details["boost"], each.details["reason"]) for each in events) == [
        ("anna", 0, "withdrawn in May"),
        ("ben", 1, None),
    ]


@pytest.mark.changes_files
def test_it_is_kept_and_listed_with_who_when_and_why_also_where_others_take_it(base: Stages) -> None:
    base.knowledge.curate_document(number_of(base, "b"), boost=0, reason="old", actor="anna")
    for name in ("handbook", "all", "most"):
        (item,) = base.knowledge.documents(name, curated=True)
        assert (item.boost, item.curated_by, item.curated_because, item.state) == (0, "anna", "old", "ready")
        assert item.curated_at is not None
        assert base.knowledge.count_documents(name, curated=True) == 1
        assert base.knowledge.count_documents(name) == 6
    assert "Marmalade" in base.knowledge.show(number_of(base, "b")).text
    base.write("handbook/b.md", "# Part b\n\nMarmalade, changed.")
    base.run_all("handbook", "all", "most")
    assert "b" not in found(base.knowledge) + found(base.knowledge, "most")
    with pytest.raises(TakenDocumentError):
        base.knowledge.curate_document(number_of(base, "b", "all"), boost=1)


@pytest.mark.changes_files
def test_a_new_copy_of_a_hidden_document_is_hidden_from_the_first_moment(base: Stages) -> None:
    base.knowledge.curate_document(number_of(base, "d"), boost=0, reason="old")
    base.configure(CONFIGURATION + "  late: {from: [{collection: handbook, tags: [shared]}]}\n")
    base.run_all("late")
    assert sorted(found(base.knowledge, "late")) == ["a", "b", "c", "e", "f"]


def test_a_boost_moves_places_by_its_factor_whatever_the_page(base: Stages) -> None:
    plain = found(base.knowledge)
    third, last = plain[2], plain[5]
    base.knowledge.curate_document(number_of(base, third), boost=4, reason="read this first")
    base.knowledge.curate_document(number_of(base, plain[0]), boost=0.5, reason="too general")
    moved = found(base.knowledge)
    assert moved[:3] == [third, plain[1], plain[0]]
    assert moved[5] == last
    assert found(base.knowledge) == moved
    pages = [found(base.knowledge, limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [name for page in pages for name in page] == moved
    notes = base.knowledge.search("marmalade", "handbook", min_relevance=0).notes
    assert "documents that stand elsewhere, as somebody has boosted them: 2" in notes
    assert found(base.knowledge, "most")[0] == third


def test_places_are_divided_by_the_factor_and_ties_go_to_the_greater_one() -> None:
    candidates = [Candidate(chunk, 1.0, 100) for chunk in range(120)]
    documents = {chunk: chunk for chunk in range(120)}
    order, moved = by_boost(candidates, documents, {5: 2.0, 1: 0.5, 110: 4.0, 99: 1.0})
    assert [each.chunk_id for each in order[:6]] == [0, 5, 2, 3, 1, 4]
    assert moved == 2
    assert [each.chunk_id for each in order[100:]] == list(range(100, 120))
    assert by_boost(candidates, {}, {5: 4.0}) == (candidates, 0)


def test_what_is_not_allowed_is_refused(base: Stages) -> None:
    number = number_of(base, "a")
    for boost, reason, said in (
        (0.0, None, "say why"),
        (2.0, "  ", "say why"),
        (5.0, "x", "boost is 0"),
        (0.1, "x", "boost is 0"),
        (-1.0, "x", "boost is 0"),
        (float("nan"), "x", "boost is 0"),
        (0.0, "x" * 501, "at most 500"),
        (0.0, "a\nb", "one line"),
    ):
        with pytest.raises(QueryError, match=said):
            base.knowledge.curate_document(number, boost=boost, reason=reason)
    with pytest.raises(UnknownDocumentError):
        base.knowledge.curate_document(99_999, boost=1)
    assert base.knowledge.documents(curated=True) == []


def test_over_rest_and_for_agents_it_is_the_same(base: Stages) -> None:
    number, hidden = number_of(base, "a"), number_of(base, "a", "all")
    with base.connection() as connection:
        keys = {
            "write": create_key(connection, "write", ("write",), None, actor="test")[1],
            "read": create_key(connection, "read", ("read",), None, actor="test")[1],
            "limited": create_key(connection, "limited", ("read",), ["all"], actor="test")[1],
            "writer": create_key(connection, "writer", ("write",), ["all"], actor="test")[1],
        }
    with serving(base.knowledge, requires_key=True) as client:
        with RemoteKnowledgeBase(f"http://127.0.0.1:{client.port}", keys["write"]) as remote:
            changed = remote.curate_document(number, boost=0, reason="old")
            assert (changed.item.boost, changed.item.curated_by) == (0, "key write")
            assert [each.document_id for each in remote.documents("handbook", curated=True)] == [number]
        for name, status in (("read", 403), ("limited", 403), ("writer", 404)):
            body, bearer = json.dumps({"boost": 1}).encode(), {"Authorization": f"Bearer {keys[name]}"}
            sent = {"Content-Type": "application/json", **bearer}
            assert client.request("PUT", f"/v1/documents/{number}/curation", body, sent).status == status
        sent = {"Content-Type": "application/json", "Authorization": f"Bearer {keys['writer']}"}
        assert client.request("PUT", f"/v1/documents/{hidden}/curation", b'{"boost": 1}', sent).status == 400
        sent["Authorization"] = f"Bearer {keys['write']}"
        for wrong in (b'{"boost": 9}', b'{"boost": "x"}', b"{}", b'{"boost": 0}', b'{"boost": 0.1, "reason": "x"}'):
            assert client.request("PUT", f"/v1/documents/{number}/curation", wrong, sent).status in {400, 422}
        limited = client.get(f"/v1/documents/{hidden}", Authorization=f"Bearer {keys['limited']}").json
        assert (limited["document"]["curated_by"], limited["document"]["curated_because"]) == ("somebody else", "old")

        async def work(agent: Agent) -> str:
            return json.dumps(await agent.ask("search_documents", query="marmalade"))

        said = over_http(client.port, work, key=keys["read"])
        assert ("a.md" in said, "b.md" in said) == (False, True)


def test_an_export_takes_it_along(base: Stages, create_database: CreateDatabase, tmp_path: Path) -> None:
    base.knowledge.curate_document(number_of(base, "a"), boost=0, reason="old", actor="anna")
    base.knowledge.curate_document(number_of(base, "b"), boost=2, reason="good", actor="ben")
    export_collections(base.database, tmp_path / "out", ["handbook"])
    with Database(DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))) as other:
        import_collections(other, tmp_path / "out")
        with other.connection() as connection:
            rows = connection.execute(
                "SELECT boost, curated_by, curated_because FROM document WHERE boost <> 1 ORDER BY uri"
            ).fetchall()
    assert rows == [(0.0, "anna", "old"), (2.0, "ben", "good")]
