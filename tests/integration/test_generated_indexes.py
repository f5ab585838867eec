"""Generated indexes: documents like any other, but without vectors."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from psycopg import Connection

from sourcebook.admin.planning.plan import make_plans
from sourcebook.config.loading import load_configuration
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.indexing.damage import find_damage
from sourcebook.model.selection import Selection
from sourcebook.stages.embeddings import embed_missing
from tests.integration.stages import Stages

ON = "collections: {handbook: {files: [{root: ./docs}], embedding: {generated_indexes: true}}}"
WORDS = ("anchor", "barnacle", "capstan", "davit", "ensign", "fathom", "gunwale", "halyard", "jib", "keel")


def index(turns: int = 20) -> str:
    """Return an index of keywords: each entry is a link, and none is a sentence."""
    entries = [
        f"- [{word} {turn}](guide.html#{word}-{turn}) (in [part {turn}](guide.html))"
        for turn in range(turns)
        for word in WORDS
    ]
    return "# Index\n\n" + "\n".join(entries) + "\n"


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("guide.md", "# Guide\n\nThe capstan hauls the anchor, and three sailors turn it by its bars.\n")
    stages.write("index.md", index())
    stages.configure()
    return stages


def vectors(stages: Stages, name: str) -> tuple[int, int]:
    """Return how many passages of a document are searchable, and how many of them have a vector."""
    (row,) = stages.rows(
        "SELECT count(*) AS entries, count(vector) AS vectors FROM search_entry WHERE document_id = %(id)s",
        id=stages.document(name)["id"],
    )
    return row["entries"], row["vectors"]


def texts_of(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that every text comes to which the model embeds."""
    texts: list[str] = []
    submit = stages.embedder.submit

    def noted(batch: list[str]) -> object:
        texts.extend(batch)
        return submit(batch)

    monkeypatch.setattr(stages.embedder, "submit", noted)
    return texts


def test_it_is_a_document_that_keywords_find_and_nothing_of_it_is_embedded(
    base: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is listed, shown and ready; the vector leg has it in neither of its statements."""
    texts = texts_of(base, monkeypatch)
    reports = base.run()
    assert reports["embeddings"].extra == {"computed": 1, "reused": 0}
    assert len(texts) == 1
    entries, embedded = vectors(base, "index.md")
    assert entries > 5
    assert embedded == 0
    assert base.item("index.md")["state"] == "ready"
    assert base.found("gunwale") == {"index.md"}
    assert {Path(hit.uri).name for hit in base.search("capstan")} == {"guide.md", "index.md"}
    hits = base.search("capstan", mode="vector", limit=50)
    assert [Path(hit.uri).name for hit in hits] == ["guide.md"]
    filtered = base.search("capstan", mode="vector", limit=50, filters={"uri_prefix": base.uri("")})
    assert [Path(hit.uri).name for hit in filtered] == ["guide.md"]
    assert len(base.search("capstan", diversity=0.5)) > 1
    status = base.status()
    assert (status.generated_indexes, status.passages_without_vector) == (1, entries)
    assert (status.chunks, status.embeddings, status.stale) == (entries + 1, 1, 0)
    base.assert_sound()
    assert base.run()["embeddings"].extra == {"computed": 0, "reused": 0}


def test_the_ledger_knows_that_they_have_no_vector_on_purpose(base: Stages) -> None:
    """Nothing is damaged, however closely it is looked at; a vector that is taken away or added is."""
    base.run()
    generation = base.generation

    def damage(connection: Connection) -> list[str]:
        return [str(finding) for finding in find_damage(connection, generation, deep=True).findings()]

    with base.connection() as connection:
        assert damage(connection) == []
    (vector,) = base.rows("SELECT vector FROM search_entry WHERE vector IS NOT NULL")
    for name, changed in (("index.md", vector["vector"]), ("guide.md", None)):
        base.rows(
            "UPDATE search_entry SET vector = %(vector)s WHERE document_id = %(id)s RETURNING 1",
            id=base.document(name)["id"],
            vector=changed,
        )
        with base.connection() as connection:
            (found,) = damage(connection)
            assert name in found
            assert "vectors are missing, unwanted or of the wrong length" in found
        base.run(Selection(thorough=True))
        with base.connection() as connection:
            assert damage(connection) == []
    assert vectors(base, "index.md")[1] == 0
    assert vectors(base, "guide.md") == (1, 1)
    base.assert_sound()


def test_an_edit_makes_an_index_of_a_document_and_the_other_way(base: Stages) -> None:
    """The passages that stay get their vectors, or lose them."""
    base.run()
    prose = " ".join(f"Sentence {number} tells what a sailor has to know about the sails." for number in range(300))
    base.write("index.md", f"{index()}\n## Notes\n\n{prose}\n")
    base.run()
    entries, embedded = vectors(base, "index.md")
    assert entries == embedded > 10
    base.assert_sound()
    base.write("index.md", index())
    base.run()
    assert vectors(base, "index.md")[1] == 0
    assert base.status().generated_indexes == 1
    base.assert_sound()
    base.write("index.md", index(1))
    base.run()
    entries, embedded = vectors(base, "index.md")
    assert entries == embedded > 0, "a short list is no index"
    base.assert_sound()


def test_the_setting_embeds_them_in_another_generation(base: Stages) -> None:
    """The plan says how many texts that are, before one of them is computed; the way back computes none."""
    base.run()
    entries, _ = vectors(base, "index.md")
    file = base.root.parent / "sourcebook.yaml"
    file.write_text(ON)
    with base.connection() as connection:
        (plan,) = make_plans(connection, load_configuration(file))
    assert plan.texts_to_embed == entries
    base.configure(ON)
    assert base.run()["embeddings"].extra["computed"] == entries
    base.finish()
    assert base.status().generated_indexes == 0
    assert len(base.search("capstan", mode="vector", limit=50)) == entries + 1
    base.configure()
    base.run()
    base.finish()
    assert base.status().generated_indexes == 1
    base.assert_sound()


def test_a_changed_index_is_planned_without_texts(base: Stages) -> None:
    base.run()
    base.write("index.md", index(19))
    base.raw_files()
    with base.connection() as connection:
        (plan,) = make_plans(connection, None)
    assert (plan.counts, plan.texts_to_embed) == ({"content changed": 1}, 0)


def test_no_vector_is_computed_where_there_are_only_indexes(stages: Stages) -> None:
    stages.write("index.md", index())
    stages.configure()
    stages.run()

    def refuse(_: int) -> None:
        raise AssertionError("a model was started")

    with stages.connection() as reader, stages.connection() as writer:
        report = embed_missing(reader, writer, stages.generation, refuse)  # type: ignore[arg-type]
    assert report.extra == {"computed": 0, "reused": 0}
    assert len(stages.search("capstan", mode="vector")) == 0
    assert {hit.vector_rank for hit in stages.search("capstan")} == {None}


def test_an_export_keeps_them_without_vectors(
    base: Stages, create_database: Callable[[str], str], tmp_path: Path
) -> None:
    """An import gives the same base; a vector that is missing beside a hash is damage, as before."""
    pytest.importorskip("pyarrow")
    from sourcebook.transfer.export import export_collections
    from sourcebook.transfer.importing import import_collections

    base.run()
    exported = export_collections(base.database, tmp_path / "export", ["handbook"], ("markdown", "parquet", "jsonl"))
    (lines,) = (tmp_path / "export").rglob("passages.jsonl")
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    assert sum(row["vector"] is None for row in rows) == sum(row["embedding_hash"] is None for row in rows)
    assert sum(row["vector"] is not None for row in rows) == 1
    with Database(DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))) as database:
        other = Stages(database, base.embedder, base.parsers, base.root, base.settle)
        assert import_collections(database, tmp_path / "export").passages == exported.passages
        assert vectors(other, "index.md") == vectors(base, "index.md")
        assert vectors(other, "guide.md") == (1, 1)
        assert [hit.uri for hit in other.search("capstan")] == [hit.uri for hit in base.search("capstan")]
        with other.connection() as connection:
            assert not find_damage(connection, other.generation, deep=True)
        other.assert_sound()
        other.close()
