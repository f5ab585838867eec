"""A collection takes documents of other collections by their tags: nothing is parsed or embedded twice."""

from typing import Any

import psycopg
import pytest

from sourcebook.indexing.damage import find_every_damage
from sourcebook.model.selection import Selection
from sourcebook.parsing.parser_pool import ParserPool
from tests.integration.membership import (
    Untouched,
    configure,
    hits,
    live,
    nothing_parsed_or_embedded,
    page,
    run,
    take,
    take_policies,
)
from tests.integration.stages import Stages
from tests.integration.test_attachments import message


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Two policies and another page; `policies` takes the two."""
    return take_policies(stages)


def test_documents_are_taken_by_tags_with_everything_that_they_are(base: Stages) -> None:
    assert set(live(base)) == {"a.md", "b.md"}
    assert hits(base, "green") == {"a.md", "b.md"}
    assert hits(base, "green", tags=["hr"]) == {"b.md"}
    assert hits(base, "green", sources="handbook") == {"a.md", "b.md"}
    own = live(base, "handbook")
    for name, taken in live(base).items():
        same = ("uri", "title", "language", "tags", "metadata", "kind", "media_type", "content_hash", "content_sha256")
        assert {key: taken[key] for key in same} == {key: own[name][key] for key in same}
    (counts,) = base.rows(
        "SELECT count(*) AS chunks, count(DISTINCT embedding_hash) AS texts, "
        "(SELECT count(*) FROM embedding) AS vectors, (SELECT count(*) FROM parsed_content) AS parses FROM chunk"
    )
    assert counts["texts"] == counts["vectors"] < counts["chunks"]
    assert counts["parses"] == 3
    with nothing_parsed_or_embedded(base):
        assert not any(report.worked for report in base.run().values())


def test_a_changed_tag_moves_a_document_in_or_out_at_the_next_ingest(base: Stages) -> None:
    number = live(base)["a.md"]["id"]
    base.write("a.md", page("alpha", "hr"))
    base.write("c.md", page("gamma", "hr", "policy"))
    run(base, "handbook")
    assert set(live(base)) == {"a.md", "b.md"}, "it is not ingested yet"
    base.collection = "policies"
    assert base.pending().documents == 2
    assert base.pending().taken_documents == 1
    reports = take(base)
    assert (reports["documents"].added, reports["documents"].removed) == (1, 1)
    assert set(live(base)) == hits(base, "green") == {"b.md", "c.md"}
    base.write("a.md", page("alpha", "policy"))
    run(base, "handbook")
    assert take(base)["documents"].extra["returned"] == 1
    assert live(base)["a.md"]["id"] == number


def test_tags_of_a_source_count_and_a_rule_may_ask_for_all_of_several(stages: Stages) -> None:
    stages.write("a.md", page("alpha", "policy"))
    stages.write("b.md", page("beta", "hr"))
    rule = "{from: {collection: handbook, tags: [hr, other], tags_all: [signed]}}"
    configure(stages, rule)
    run(stages, "handbook")
    take(stages)
    assert live(stages) == {}
    text = f"collections:\n  handbook: {{files: [{{root: ./docs, tags: [signed]}}]}}\n  policies: {rule}\n"
    stages.configure(text)
    stages.collection = "handbook"
    with nothing_parsed_or_embedded(stages):
        stages.run()
    take(stages)
    assert {name: row["tags"] for name, row in live(stages).items()} == {"b.md": ["signed", "hr"]}


def test_edits_renames_removals_and_returns_follow_as_in_a_folder(base: Stages) -> None:
    number = live(base)["a.md"]["id"]
    base.write("a.md", page("alpha", "policy") + "\nThe anchor is blue.\n")
    run(base, "handbook")
    assert take(base)["documents"].changed == 1
    assert (live(base)["a.md"]["version"], hits(base, "anchor")) == (2, {"a.md"})
    (base.root / "a.md").rename(base.root / "named.md")
    run(base, "handbook")
    assert take(base)["documents"].extra["renamed"] == 1
    assert live(base)["named.md"]["id"] == number
    content = (base.root / "named.md").read_text()
    (base.root / "named.md").unlink()
    run(base, "handbook")
    assert take(base)["documents"].removed == 1
    assert set(live(base)) == hits(base, "green") == {"b.md"}
    base.write("named.md", content)
    run(base, "handbook")
    assert take(base)["documents"].extra["returned"] == 1
    assert live(base)["named.md"]["id"] == number


def test_a_change_of_other_documents_marks_nothing_and_an_unchanged_pass_has_nothing_to_do(base: Stages) -> None:
    """A collection that takes documents pays for those that it takes, not for the one that it takes them from."""
    base.write("c.md", page("gamma", "hr") + "\nThe anchor is blue.\n")
    base.write("d.md", page("delta"))
    base.collection = "handbook"
    base.run()
    assert base.rows("SELECT * FROM changed_item WHERE collection = 'policies'") == []
    base.collection = "policies"
    assert not base.pending().work


def test_other_chunks_share_the_parses_and_vectors_of_equal_texts(stages: Stages) -> None:
    stages.write("a.md", page("alpha", "policy"))
    stages.write("short.md", "---\ntags: [policy]\n---\nThe anchor is blue.\n")
    configure(stages, "{from: {collection: handbook}, chunking: {tokens: 32}}")
    embedded = run(stages, "handbook")["embeddings"].extra["computed"]
    stages.parsers, parsers = Untouched(), stages.parsers  # type: ignore[assignment]
    reports = run(stages, "policies")
    stages.parsers = parsers
    (texts,) = stages.rows("SELECT count(DISTINCT embedding_hash) AS texts FROM chunk")
    assert reports["embeddings"].extra["reused"] >= 1, "the short page is one passage in both"
    assert embedded + reports["embeddings"].extra["computed"] == texts["texts"]
    assert len(stages.rows("SELECT FROM parsed_content")) == 2


def test_a_document_of_its_own_comes_before_the_same_one_of_another_collection(base: Stages) -> None:
    (base.root / "inner").mkdir()
    (base.root / "a.md").rename(base.root / "inner" / "a.md")
    run(base, "handbook")
    configure(base, "{files: [{root: ./docs/inner, tags: [own]}], from: {collection: handbook, tags: [policy]}}")
    take(base)
    tags = {name: row["tags"] for name, row in live(base).items()}
    assert tags == {"a.md": ["own", "policy"], "b.md": ["hr", "policy"]}
    number = live(base)["a.md"]["id"]
    configure(base)
    take(base)
    assert (live(base)["a.md"]["id"], live(base)["a.md"]["tags"]) == (number, ["policy"])


def test_a_chain_hands_documents_on(base: Stages) -> None:
    configure(base, leaflets="{from: [{collection: policies, tags: [hr]}]}")
    take(base, "policies")
    take(base, "leaflets")
    assert set(live(base, "leaflets")) == {"b.md"}
    base.write("b.md", page("beta", "hr"))
    run(base, "handbook")
    take(base, "policies")
    take(base, "leaflets")
    assert live(base, "leaflets") == {}


def test_a_forced_ingest_parses_nothing_again(base: Stages) -> None:
    base.collection = "policies"
    with nothing_parsed_or_embedded(base):
        reports = base.run(Selection(force=True))
    assert reports["documents"].extra["reused"] == 2


def test_one_source_is_named_by_its_collection(base: Stages) -> None:
    base.write("a.md", page("alpha"))
    run(base, "handbook")
    reports = take(base, selection=Selection(sources=("handbook",)))
    assert reports["documents"].removed == 1


def test_a_damaged_content_is_made_again_where_it_is_parsed(base: Stages) -> None:
    """The ledger proves itself in both: the collection that takes the document waits, and takes the mended content."""
    with psycopg.connect(base.database.url, autocommit=True) as foreign:
        foreign.execute("UPDATE sourcebook.parsed_content SET markdown = 'lost'")
    base.collection = "policies"
    with base.connection() as connection:
        damaged = [finding for finding in find_every_damage(connection, "policies") if finding.uri]
        assert len(damaged) == 2
    with nothing_parsed_or_embedded(base):
        reports = base.run()
    assert [failure.failure_class for failure in reports["documents"].failures] == ["missing", "missing"]
    assert hits(base, "green") == {"a.md", "b.md"}, "what is published stays"
    base.collection = "handbook"
    base.run()
    base.due_now()
    base.collection = "policies"
    base.run()
    base.assert_sound()
    with base.connection() as connection:
        assert [each for name in ("handbook", "policies") for each in find_every_damage(connection, name)] == []
    assert not base.pending().work


class OtherReading:
    """The parsers on another day: in the same bytes they read another word."""

    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers

    def start(self, content: bytes, *, name: str, **options: Any) -> Any:
        return self._parsers.start(content.replace(b"green", b"golden"), name=name, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parsers, name)


def test_a_parse_that_is_replaced_reaches_every_collection_with_that_content(base: Stages) -> None:
    """Those that take the document, and those that have a file of the same bytes."""
    configure(base, copies="{files: [{root: ./docs}]}")
    take(base, "copies")
    base.collection, parsers = "handbook", base.parsers
    base.parsers = OtherReading(parsers)  # type: ignore[assignment]
    base.run(Selection(force=True))
    base.parsers = parsers
    for name, changed in {"policies": {"a.md", "b.md"}, "copies": {"a.md", "b.md", "c.md"}}.items():
        base.collection = name
        assert base.pending().documents == len(changed)
        reports = take(base, name)
        assert (reports["documents"].changed, reports["documents"].removed) == (len(changed), 0)
        assert {own for own, row in live(base, name).items() if row["version"] == 2} == changed
        assert (hits(base, "golden", name), hits(base, "green", name)) == (changed, set())
    run(base, "handbook")
    assert base.rows("SELECT * FROM changed_item") == []


def test_a_replaced_parse_of_an_attachment_is_noticed_with_its_message(base: Stages) -> None:
    """A mark of an attachment alone would look as if its message were gone."""
    base.write("minutes.eml", message("The mast is brown.", {"note.md": "The anchor is green."}))
    run(base, "handbook")
    number = live(base, "handbook")["note.md"]["id"]
    base.rows(
        "UPDATE parsed_content SET content_hash = sha256(parsed_content.content_hash) FROM document "
        "WHERE document.id = %(id)s AND sha256 = content_sha256 AND parser = content_parser RETURNING 1",
        id=number,
    )
    assert base.pending().documents == 1
    reports = take(base, "handbook")
    assert (reports["documents"].changed, reports["documents"].removed) == (1, 0)
    assert (live(base, "handbook")["note.md"]["id"], live(base, "handbook")["note.md"]["version"]) == (number, 2)
