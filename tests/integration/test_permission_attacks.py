"""Attacks on permissions: odd principals, purges, generations beside, exports, writers at once, failures."""

import threading
from pathlib import Path

import pytest
from psycopg.types.json import Jsonb

from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import AccessError, DatabaseError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.operations import upkeep
from sourcebook.transfer.export import export_collections
from sourcebook.transfer.importing import import_collections
from tests.conftest import TEMPLATE, CreateDatabase
from tests.integration.record_stages import RecordStages
from tests.integration.stages import Stages
from tests.permissions.counts import wrong_counts


def allow(stages: Stages, *allowed: str, denied: tuple[str, ...] = ()) -> None:
    """Allow every document of the stages to some principals."""
    permissions = {"rules": [{"path": None, "allowed": allowed}], "denied": denied}
    with stages.connection() as connection:
        connection.execute("UPDATE source SET permissions = %s", [Jsonb(permissions)])


def wrong(stages: Stages) -> list[str]:
    """Return the kept counts that are wrong."""
    with stages.connection() as connection:
        return [*wrong_counts(connection)]


def fill(stages: Stages, number: int = 4) -> None:
    """Write and publish some documents."""
    for each in range(number):
        stages.write(f"d{each}.md", f"# D{each}\n\nThe barnacle {each} marks high water.")
    stages.configure()
    stages.run()


@pytest.mark.parametrize(
    "principal",
    ['user:"q"', "user:o'neil", "group:{a,b}", "group:a,b", "user:back\\slash", "group:🐚", "group:NULL", "group:%s",
     "user:" + "x" * 500, "group:a\u00a0b", "group:null", "user:é"],
)  # fmt: skip
def test_a_principal_with_odd_letters_is_one(stages: Stages, principal: str) -> None:
    """It is allowed as it is written, and no other one is."""
    fill(stages, 1)
    allow(stages, principal)
    assert stages.knowledge.seen_by([principal]).count_documents() == 1
    assert stages.knowledge.seen_by([f"{principal}.", "group:a", "group:b", "user:q"]).count_documents() == 0
    assert not wrong(stages)


@pytest.mark.parametrize("text", ["user:a\0b", "user:a\nb", "user:\ud800", "user:" + "x" * 508, "board", "user: x"])
def test_what_is_no_principal_is_refused(stages: Stages, text: str) -> None:
    """A sentence says why, before the database is asked."""
    with pytest.raises(AccessError, match="principal"):
        stages.knowledge.seen_by([text])


def test_a_document_allowed_to_nobody(stages: Stages) -> None:
    """An empty list of the allowed lets nobody see it; without principals it is there."""
    fill(stages, 2)
    allow(stages)
    assert stages.knowledge.seen_by(["user:anna", "group:board"]).count_documents() == 0
    assert stages.knowledge.count_documents() == 2
    assert not wrong(stages)


@pytest.mark.parametrize(
    "changes",
    [
        ("board", "hr"), ("board", "everyone", "board"), ("a", "b", "a"), ("a,b", "b,a"), ("a,b", "c,c"),
        ("a,b,b", "b,c,c"), ("a,b", "c,c", "a,b"), ("a", "b,c"), ("everyone,a", "a,everyone"),
        ("a,a", "everyone,b", "b,b"), ("a,b,c", "b,c,a"),
    ],
)  # fmt: skip
def test_counts_after_documents_got_other_groups(stages: Stages, changes: tuple[str, ...]) -> None:
    """All of a group get another one, or one that others have; they change places, part and come together."""
    fill(stages, 6)
    viewers = ("everyone", "group:a", "group:b", "group:c", "group:hr", "group:board")
    for change in changes:
        groups = [each if each == "everyone" else f"group:{each}" for each in change.split(",")]
        rules = [{"path": f"d{number}", "allowed": [groups[number % len(groups)]]} for number in range(6)]
        with stages.connection() as connection:
            connection.execute("UPDATE source SET permissions = %s", [Jsonb({"rules": rules, "denied": []})])
        assert not wrong(stages)
        for viewer in viewers:
            seen = stages.knowledge.seen_by([viewer])
            visible = {rule["path"] for rule in rules if {viewer, "everyone"} & {*rule["allowed"]}}
            assert len(seen.search("barnacle", mode="keyword", limit=9)) == len(visible)


def test_counts_after_purges(stages: Stages) -> None:
    """Removed documents, their source and their collection leave no count behind."""
    fill(stages)
    allow(stages, "group:board")
    (stages.root / "d0.md").unlink()
    stages.run()
    upkeep.purge(stages.knowledge)
    assert not wrong(stages)
    with stages.connection() as connection:
        connection.execute("DELETE FROM source")
    assert not wrong(stages)


def test_counts_after_a_source_is_deleted_beside_others(stages: Stages) -> None:
    """The only source with permissions goes with its documents; the generation stays."""
    stages.write("a.md", "# A\n\nThe barnacle A.")
    other = stages.root.parent / "other"
    other.mkdir()
    (other / "b.md").write_text("# B\n\nThe barnacle B.")
    stages.settle(other / "b.md")
    stages.configure(
        f"collections:\n  {stages.collection}:\n    files:\n"
        f"      - {{root: {stages.root}, allowed: [group:board]}}\n      - {{root: {other}}}\n"
    )
    stages.run()
    assert stages.rows("SELECT FROM lexeme_audience WHERE entries > 0")
    with stages.connection() as connection:
        connection.execute("DELETE FROM source WHERE permissions IS NOT NULL")
    assert not wrong(stages)


def test_counts_of_a_generation_beside(stages: Stages) -> None:
    """The second generation is counted as it is filled, and after a change of permissions; the first is left."""
    fill(stages, 6)
    allow(stages, "group:board")
    stages.configure(
        f"collections:\n  {stages.collection}:\n    files: [{{root: {stages.root}, allowed: [group:board]}}]\n"
        "    chunking: {tokens: 64}\n"
    )
    stages.chunks()
    stages.embeddings()
    assert not wrong(stages)
    stages.search_index()
    assert len(stages.rows("SELECT DISTINCT generation_id FROM lexeme_audience WHERE entries > 0")) == 2
    assert not wrong(stages)
    allow(stages, "group:hr")
    assert not wrong(stages)
    stages.finish()
    assert not wrong(stages)
    assert len(stages.knowledge.seen_by(["group:hr"]).search("barnacle", mode="keyword", limit=9)) == 6


def test_permissions_survive_an_export(records: RecordStages, create_database: CreateDatabase, tmp_path: Path) -> None:
    """An import has the audiences of sources and of records, whatever numbers these have in the other base."""
    stages = records.stages
    for key in range(3):
        records.note(key, f"The barnacle {key} marks high water.", heading=f"N{key}")
    records.do("ALTER TABLE notes ADD COLUMN readers TEXT")
    for key, group in enumerate(("board", "hr", "everyone")):
        records.do("UPDATE notes SET readers = ? WHERE id = ?", group, key)
    records.configure(allowed="readers")
    records.run()
    export_collections(stages.database, tmp_path / "export", [stages.collection])
    with Database(DatabaseLocation(tmp_path / "home", create_database(TEMPLATE))) as database:
        with database.connection() as connection:
            connection.execute("SELECT audience_of(ARRAY['group:z' || each], '{}') FROM generate_series(1, 9) AS each")
            connection.execute("SELECT audience_of('{group:hr}', '{}')")
        import_collections(database, tmp_path / "export")
        with KnowledgeBase(database, query_embedder=stages.embedder) as knowledge, database.connection() as connection:
            for viewer, titles in ((), {"N2"}), (["group:board"], {"N0", "N2"}), (["group:hr"], {"N1", "N2"}):
                seen = knowledge.seen_by(viewer)
                assert {item.title for item in seen.documents()} == titles
                assert {hit.title for hit in seen.search("barnacle", mode="keyword")} == titles
            assert not [*wrong_counts(connection)]


def test_a_denied_principal_of_records_is_denied_at_once(records: RecordStages) -> None:
    """The settings deny; no look at the records is needed for that, nor for the way back."""
    records.note(1, "The barnacle marks high water.", heading="N1")
    records.do("ALTER TABLE notes ADD COLUMN readers TEXT")
    records.do("UPDATE notes SET readers = 'board'")
    records.configure(allowed="readers")
    records.run()
    eve = records.stages.knowledge.seen_by(["group:board", "user:eve"])
    assert eve.count_documents() == 1
    records.configure(allowed="readers", denied=["user:eve"])
    assert eve.count_documents() == 0
    records.configure(allowed="readers")
    assert eve.count_documents() == 1


def test_a_filled_collection_is_searched_by_principals(stages: Stages) -> None:
    """While passages wait for their vectors, and no number of documents is told."""
    fill(stages, 2)
    allow(stages, "group:board")
    stages.rows("UPDATE generation SET prepared_with = NULL RETURNING 1")
    stages.rows("DELETE FROM indexed_document WHERE document_id = (SELECT min(id) FROM document) RETURNING 1")
    whole = stages.knowledge.search("barnacle", mode="keyword")
    assert whole.filling
    found = stages.knowledge.seen_by(["group:board"]).search("barnacle", mode="keyword")
    assert (found.results, found.filling) == (whole.results, ())


def test_two_writers_at_once(stages: Stages) -> None:
    """Documents are published while permissions change: nobody waits for ever, and what is kept is right."""
    fill(stages, 3)
    allow(stages, "group:board")
    done, failures = threading.Event(), []

    def change() -> None:
        number = 0
        while not done.is_set():
            number += 1
            try:
                allow(stages, *([f"group:g{number % 3}"] if number % 4 else ["everyone"]))
            except Exception as error:  # noqa: BLE001 - every failure fails the test
                failures.append(repr(error))

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for turn in range(6):
            for each in range(12):
                stages.write(f"d{each}.md", f"# D{each} {turn}\n\nThe barnacle {each} of turn {turn} {each * turn}.")
            stages.run()
    finally:
        done.set()
        thread.join()
    assert failures == []
    assert not wrong(stages)
    stages.assert_sound()


def test_a_connection_that_fails_halfway_serves_nobody_else(stages: Stages) -> None:
    """After a failed statement, a broken session or an error of the caller the next one sees its own rows alone."""
    fill(stages, 2)
    allow(stages, "group:board")
    board = stages.knowledge.seen_by(["group:board"])._seen.seen
    other = stages.knowledge.seen_by(["user:anna"])._seen.seen
    count = "SELECT count(*) FROM document"

    def statement_fails() -> None:
        with board.connection() as connection:
            connection.execute("SELECT 1/0")

    def transaction_fails() -> None:
        with board.connection() as connection, connection.transaction():
            connection.execute("SELECT 1/0")

    def caller_fails() -> None:
        with board.connection() as connection:
            connection.execute("BEGIN")
            raise ValueError

    def session_ends() -> None:
        with board.connection() as connection:
            pid = connection.info.backend_pid
            stages.rows(f"SELECT pg_terminate_backend({pid}, 5000)")
            connection.execute("SELECT 1")

    for failing in (statement_fails, transaction_fails, caller_fails, session_ends):
        with pytest.raises((DatabaseError, ValueError, Exception)):
            failing()
        for _ in range(3):
            with other.connection() as connection:
                assert connection.execute(count).fetchone() == (0,)
            with stages.database.readers().connection() as connection:
                assert connection.execute(count).fetchone() == (0,)


def test_a_role_that_may_not_be_the_reader_is_told(stages: Stages) -> None:
    """Neither an error of PostgreSQL nor a session that sees more: the answer is no, and a sentence says what to do."""
    stages.knowledge.seen_by([]).count_documents()
    with stages.connection() as connection:
        connection.execute(
            "DROP ROLE IF EXISTS plain_of_a_test; CREATE ROLE plain_of_a_test;"
            "GRANT USAGE ON SCHEMA sourcebook TO plain_of_a_test; SET ROLE plain_of_a_test"
        )
        try:
            assert connection.execute("SELECT prepare_reader()").fetchone() == (False,)
        finally:
            connection.execute("RESET ROLE; DROP OWNED BY plain_of_a_test; DROP ROLE plain_of_a_test")
