"""Tags and metadata given by hand lie over the document's own, and stay whatever its source does."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sourcebook.admin.audit import audit_events
from sourcebook.contract.documents import Document
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError, UnknownDocumentError
from sourcebook.indexing.damage import find_every_damage
from tests.conftest import CreateDatabase
from tests.integration.membership import hits, live, page, run, take, take_policies
from tests.integration.stages import Stages

TEXT = "---\ntags: [ships]\nauthor: Hansen\ndate: 2024-03-01\n---\n# Flags\n\nThe flag is green.\n"


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("flags.md", TEXT)
    stages.write("seals.md", "# Seals\n\nThe flag of the seals is white.")
    stages.configure("collections: {handbook: {files: [{root: ./docs, tags: [source]}]}}")
    stages.run()
    return stages


@pytest.fixture
def other(base: Stages, create_database: CreateDatabase, tmp_path: Path) -> Iterator[Stages]:
    """An empty knowledge base over the same folder."""
    with Database(DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))) as database:
        other = Stages(database, base.embedder, base.parsers, base.root, base.settle, base.speech_home)
        yield other
        other.close()


def shown(base: Stages, name: str = "flags.md") -> Document:
    return base.knowledge.show(base.uri(name))


def found(base: Stages, **filters: Any) -> set[str]:
    results = base.search("flag", mode="keyword", filters=filters)
    return {Path(hit.uri).name for hit in results}


def assert_settled(base: Stages) -> None:
    """Assert that nothing waits, nothing is damaged, and an ingest has nothing to do."""
    assert not base.pending().work
    assert not any(report.worked for report in base.run().values())
    with base.connection() as connection:
        assert find_every_damage(connection, base.collection) == []
    base.assert_sound()


def test_given_tags_and_metadata_are_searched_at_once(base: Stages) -> None:
    assert found(base, tags=["winter"]) == set()
    changed = base.knowledge.change_document(
        base.uri("flags.md"), tags=["winter", "ships", " winter "], metadata={"owner": "Jansen", "author": "Olsen"}
    )
    assert changed == shown(base)
    assert changed.tags == ["source", "ships", "winter"]
    assert (changed.given_tags, changed.given_metadata) == (
        ["winter", "ships"],
        {"owner": "Jansen", "author": "Olsen"},
    )
    assert {name: changed.metadata[name] for name in ("author", "owner")} == {"author": "Olsen", "owner": "Jansen"}
    assert found(base, tags=["winter"]) == found(base, metadata={"owner": "Jansen"}) == {"flags.md"}
    assert found(base, metadata={"author": "Hansen"}) == set()
    facets = base.search("flag", mode="keyword", facets=True).facets
    assert facets is not None
    assert facets["tag"] == {"source": 2, "ships": 1, "winter": 1}
    assert_settled(base)


def test_only_what_was_given_is_taken_back(base: Stages) -> None:
    before = shown(base)
    change = base.knowledge.change_document
    change(base.uri("flags.md"), tags=["winter"], metadata={"author": "Olsen", "at": {"shelf": 1, "row": 2}})
    change(base.uri("flags.md"), metadata={"at": {"row": None}})
    assert shown(base).given_metadata == {"author": "Olsen", "at": {"shelf": 1}}
    change(base.uri("flags.md"), metadata={"author": None, "nothing": None, "date": "2020-01-01"})
    assert shown(base).metadata["author"] == "Hansen"
    assert base.document("flags.md")["dated_at"].year == 2020
    change(base.uri("flags.md"), tags=[], metadata={"date": None, "at": None})
    after = shown(base)
    assert replace(after, item=replace(after.item, updated_at=before.item.updated_at)) == before
    row = base.document("flags.md")
    assert [row[name] for name in ("given_tags", "given_metadata", "own_tags", "own_metadata")] == [None] * 4
    assert_settled(base)
    with base.connection() as connection:
        assert [event.action for event in audit_events(connection)].count("document.change") == 4


def test_they_survive_other_versions_renames_failures_removal_and_other_tags_of_the_source(base: Stages) -> None:
    base.knowledge.change_document(base.uri("flags.md"), tags=["winter"], metadata={"owner": "Jansen"})

    base.write("flags.md", TEXT.replace("ships", "boats").replace("green", "blue").replace("Hansen", "Berg"))
    base.run()
    assert shown(base).tags == ["source", "boats", "winter"]
    assert (shown(base).metadata["author"], shown(base).metadata["owner"]) == ("Berg", "Jansen")
    assert shown(base).item.version == 2

    (base.root / "flags.md").rename(base.root / "banners.md")
    base.run()
    assert shown(base, "banners.md").tags == ["source", "boats", "winter"]
    assert shown(base, "banners.md").metadata["owner"] == "Jansen"

    base.configure("collections: {handbook: {files: [{root: ./docs, tags: [other, winter]}]}}")
    assert not base.run()["documents"].failed
    assert shown(base, "banners.md").tags == ["other", "winter", "boats"], "its source gives one of them now"
    base.configure("collections: {handbook: {files: [{root: ./docs, tags: [other]}]}}")
    base.run()
    assert shown(base, "banners.md").tags == ["other", "boats", "winter"]
    assert_settled(base)

    base.write("banners.md", b"\xff\xfe\x00broken \x00\x00" * 3)
    base.run()
    base.write("banners.md", TEXT)
    base.due_now()
    base.run()
    base.knowledge.remove_document(base.uri("banners.md"))
    base.run()
    base.knowledge.restore_document(base.uri("banners.md"))
    base.run()
    assert shown(base, "banners.md").tags == ["other", "ships", "winter"]
    assert shown(base, "banners.md").metadata["owner"] == "Jansen"
    assert found(base, tags=["winter"], metadata={"owner": "Jansen"}) == {"banners.md"}
    assert_settled(base)


def test_a_failed_document_keeps_its_own_metadata_below_the_given_ones(base: Stages) -> None:
    """A failure writes the tags again, from the metadata of the last success."""
    base.knowledge.change_document(base.uri("flags.md"), tags=["winter"], metadata={"author": "Olsen"})
    base.write("flags.md", TEXT + "Blue.\n")
    base.raw_files()
    with base.connection() as connection, connection.transaction():
        row = connection.execute(
            "SELECT source_id, sha256 FROM raw_file WHERE uri = %s", [base.uri("flags.md")]
        ).fetchone()
        assert row is not None
        values = {
            "collection": "handbook",
            "source_id": row[0],
            "uri": base.uri("flags.md"),
            "kind": "file",
            "media_type": "text/markdown",
            "tags": ["source"],
            "title": "Flags",
            "sha256": row[1],
            "parser": "p",
            "failure": "it crashed",
            "failure_class": "crash",
            "most_attempts": 3,
        }
        connection.execute(queries["record_document_failure"], values)
    failed = base.document("flags.md")
    assert failed["tags"] == ["source", "ships", "winter"]
    assert (failed["metadata"]["author"], failed["own_metadata"]["author"]) == ("Olsen", "Hansen")
    base.due_now()
    base.run()
    base.knowledge.change_document(base.uri("flags.md"), tags=[], metadata={"author": None})
    assert (shown(base).tags, shown(base).metadata["author"]) == (["source", "ships"], "Hansen")


def test_a_collection_takes_documents_by_tags_given_by_hand(stages: Stages) -> None:
    base = take_policies(stages)
    number = live(base, "handbook")["c.md"]["id"]
    base.knowledge.change_document(number, tags=["policy"], metadata={"owner": "Jansen"})
    base.collection = "policies"
    assert base.pending().documents == 1
    take(base)
    assert hits(base, "green") == {"a.md", "b.md", "c.md"}
    assert hits(base, "green", metadata={"owner": "Jansen"}) == {"c.md"}
    (taken,) = [item for item in base.knowledge.documents("policies") if item.uri.endswith("c.md")]
    base.knowledge.change_document(taken.document_id or 0, tags=["mine"])
    take(base)
    base.write("c.md", page("gamma", "hr", "new"))
    run(base, "handbook")
    run(base, "policies")
    assert live(base)["c.md"]["tags"] == ["hr", "new", "policy", "mine"]
    base.knowledge.change_document(number, tags=[], metadata={"owner": None})
    take(base)
    assert hits(base, "green") == {"a.md", "b.md"}


def test_a_change_of_them_by_sql_is_noticed(base: Stages) -> None:
    base.knowledge.change_document(base.uri("flags.md"), tags=["winter"])
    with psycopg.connect(base.database.url, autocommit=True) as connection:
        connection.execute("UPDATE sourcebook.document SET given_tags = '{summer}' WHERE given_tags IS NOT NULL")
    with base.connection() as connection:
        (damage,) = find_every_damage(connection, base.collection)
    assert "the record of the document was changed" in str(damage)


def test_an_import_has_them(base: Stages, other: Stages, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from sourcebook.transfer.importing import import_collections
    from tests.integration.moved_base import export

    base.knowledge.change_document(base.uri("flags.md"), tags=["winter"], metadata={"author": "Olsen"})
    export(base, tmp_path / "export")
    (exported,) = (tmp_path / "export" / "handbook" / "documents").glob("flags*")
    assert 'tags: ["source", "ships", "winter"]' in exported.read_text("utf-8")
    import_collections(other.database, tmp_path / "export")
    uri = base.uri("flags.md")
    assert other.knowledge.show(uri).given_tags == ["winter"]
    assert found(other, tags=["winter"]) == {"flags.md"}
    with other.connection() as connection:
        assert find_every_damage(connection, "handbook") == []
    restored = other.knowledge.change_document(uri, tags=[], metadata={"author": None})
    assert (restored.tags, restored.metadata["author"]) == (["source", "ships"], "Hansen")


NESTED: dict[str, Any] = {}
for _ in range(22):
    NESTED = {"a": NESTED}


@pytest.mark.parametrize(
    ("tags", "metadata"),
    [
        ([""], None),
        (["a" * 101], None),
        (["two\nlines"], None),
        (["half \ud800"], None),
        (["nul \0"], None),
        ([f"tag {number}" for number in range(51)], None),
        ("word", None),
        (None, {"tags": ["a"]}),
        (None, {"keywords": "a"}),
        (None, {"": 1}),
        (None, {"a": "\0"}),
        (None, {"a": ["\ud800"]}),
        (None, {"a": float("nan")}),
        (None, {"a": 10**18}),
        (None, {"a": {1, 2}}),
        (None, {"a": "ü" * 10_000}),
        (None, NESTED),
    ],
)
def test_what_cannot_be_kept_is_refused_and_changes_nothing(base: Stages, tags: Any, metadata: Any) -> None:
    base.knowledge.change_document(base.uri("flags.md"), tags=["winter"], metadata={"b": 1})
    before = shown(base)
    with pytest.raises(QueryError):
        base.knowledge.change_document(base.uri("flags.md"), tags=tags, metadata=metadata)
    assert shown(base) == before


def test_there_must_be_such_a_document(base: Stages) -> None:
    with pytest.raises(UnknownDocumentError):
        base.knowledge.change_document("nowhere.md", tags=["a"])
    with pytest.raises(UnknownDocumentError):
        base.knowledge.change_document(999_999, tags=["a"])
