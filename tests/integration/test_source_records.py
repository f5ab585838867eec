"""Records of tables and programs as sources: real databases, and classes of this test."""

import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from resources.records import SourcebookRecords
from sensors.changed_records import changed_records_sensor
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import FailureClass, UnknownSourceError
from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.shard import Shard
from sourcebook.stages.raw_files import collection_sources
from sourcebook.stages.raw_files.pushed_records import push_records
from sourcebook.stages.raw_files.source_records import fetch_records
from sourcebook.transfer.export import export_collections
from sourcebook.transfer.importing import import_collections
from tests.integration.stages import Stages
from tests.integration.test_configuration_mistakes import tick

NOTES = {
    "name": "notes",
    "key": "id",
    "title": "heading",
    "text": "body",
    "url": "link",
    "updated": "changed",
    "metadata": ["status"],
    "tags": ["notes"],
}


class RecordStages:
    """One collection over records, beside a SQLite database and a module of programs."""

    def __init__(self, stages: Stages, folder: Path, *, made: bool = False) -> None:
        self.stages = stages
        self.folder = folder
        self.database = sqlite3.connect(folder / "notes.db", isolation_level=None)
        if not made:
            self.do("CREATE TABLE notes (id, heading, body, link, changed, status)")

    def do(self, statement: str, *values: Any) -> None:
        self.database.execute(statement, values)

    def note(self, key: Any, body: str | bytes | None, changed: Any = "2024-01-01", heading: str | None = None) -> None:
        link = f"https://notes.example.com/{key}"
        self.do("INSERT INTO notes VALUES (?, ?, ?, ?, ?, 'open')", key, heading or f"Note {key}", body, link, changed)

    def configure(self, beside: dict[str, Any] | None = None, **settings: Any) -> None:
        """Configure the notes with some settings, and others beside them; None takes one out."""
        table = {"table": {"url": "sqlite:///notes.db", "name": "notes"}}
        written = {**NOTES, **({} if {"python", "pushed"} & {*settings} else table), **settings}
        records = [{name: value for name, value in written.items() if value is not None}]
        text = json.dumps({"collections": {self.stages.collection: {"records": records, **(beside or {})}}})
        self.stages.configure(text)

    def look(self, selection: Selection = EVERYTHING) -> str | None:
        """Look at the sources, and return why one could not be read."""
        with self.stages.connection() as connection:
            fetch_records(connection, self.stages.collection, selection)
            sources = collection_sources(connection, self.stages.collection)
        return next((each.records.error for each in sources if each.records is not None), None)

    def run(self, selection: Selection = EVERYTHING) -> dict[str, StageReport]:
        self.look(selection)
        return self.stages.run(selection)

    def failures(self) -> dict[str, str]:
        rows = self.stages.rows("SELECT uri, failure FROM raw_file WHERE failure IS NOT NULL AND removed_at IS NULL")
        return {row["uri"].removeprefix("record://notes/"): row["failure"] for row in rows}


@pytest.fixture
def records(stages: Stages) -> Iterator[RecordStages]:
    found = RecordStages(stages, stages.root.parent)
    yield found
    found.database.close()


def test_rows_are_found_edited_deleted_and_returned(records: RecordStages) -> None:
    """A row is cited by its link; an edit embeds it alone, a deletion takes it out, and its return costs nothing."""
    for number, body in enumerate(("The barnacle marks high water.", "A bowline holds.", "A tern dives."), 1):
        records.note(number, body)
    records.configure()
    reports = records.run()
    assert (reports["documents"].added, reports["embeddings"].extra["computed"]) == (3, 3)
    (hit,) = records.stages.search("barnacle", mode="keyword")
    assert (hit.uri, hit.link, hit.title) == ("record://notes/1", "https://notes.example.com/1", "Note 1")
    assert (hit.tags, hit.metadata["status"], hit.metadata["updated"]) == (("notes",), "open", "2024-01-01")
    assert not records.stages.pending().work

    records.do("UPDATE notes SET body = 'The limpet sits.', changed = '2024-02-01' WHERE id = 1")
    records.look()
    assert records.stages.pending().is_small, "it is brought up to date without Dagster"
    reports = records.run()
    assert (reports["documents"].changed, reports["embeddings"].extra["computed"]) == (1, 1)
    assert records.stages.found("limpet") == {"1"}
    assert records.stages.found("barnacle") == set()

    records.do("UPDATE notes SET status = 'closed', changed = '2024-02-02' WHERE id = 2")
    reports = records.run()
    assert reports["embeddings"].extra["computed"] == 0
    (hit,) = records.stages.search("bowline", mode="keyword")
    assert (hit.metadata["status"], hit.version) == ("closed", 1)

    records.do("DELETE FROM notes WHERE id = 3")
    assert records.run()["raw_files"].removed == 1
    assert records.stages.found("tern") == set()
    records.note(3, "A tern dives.")
    reports = records.run()
    assert (reports["documents"].extra["returned"], reports["embeddings"].extra["computed"]) == (1, 0)
    assert records.stages.found("tern") == {"3"}
    records.stages.assert_sound()


def test_a_look_reads_only_rows_with_another_mark_until_it_is_settled(records: RecordStages) -> None:
    """A row with an older mark is not read again; one with the latest mark may be written once more in its second."""
    records.note(1, "The barnacle marks high water.", "2024-01-01")
    records.note(2, "A tern dives.", "2024-01-02")
    for number in range(3, 12):
        records.note(number, f"A bowline holds {number}.", "2024-01-01")
    records.configure()
    records.run()
    records.do("UPDATE notes SET body = 'The limpet sits.' WHERE id = 1")  # its mark says that nothing changed
    records.do("UPDATE notes SET body = 'The whelk sits.' WHERE id = 2")
    records.run()
    assert records.stages.found("limpet") == set()
    assert records.stages.found("whelk") == {"2"}
    records.run(Selection(deep=True))
    assert records.stages.found("limpet") == {"1"}


@pytest.mark.parametrize("updated", ["changed", None])
def test_a_complete_listing_that_forgets_half_of_its_records_is_held_back(
    records: RecordStages, updated: str | None
) -> None:
    """The records stay searchable, the source says so, and they are whole again after the next complete listing."""
    for number in range(20):
        records.note(number, f"The barnacle {number} marks high water.")
    records.configure(updated=updated)
    records.run()
    records.do("ALTER TABLE notes RENAME TO everything")
    records.do("CREATE VIEW notes AS SELECT * FROM everything WHERE id < 10")
    reports = records.run()
    assert reports["raw_files"].failures[0].failure_class is FailureClass.HELD
    assert len(records.stages.found("barnacle")) == 20
    records.do("DROP VIEW notes")
    records.do("ALTER TABLE everything RENAME TO notes")
    reports = records.run()
    assert (reports["raw_files"].removed, reports["raw_files"].failed) == (0, 0)
    assert not records.stages.pending().work


def test_a_table_that_cannot_be_read_removes_nothing(records: RecordStages, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dropped table, a column that is gone, a missing file and a missing variable are said, without a secret."""
    records.note(1, "The barnacle marks high water.")
    records.configure()
    records.run()
    records.do("ALTER TABLE notes RENAME COLUMN body TO text")
    assert "text: the table has no column body; it has id, heading" in str(records.look())
    records.do("DROP TABLE notes")
    assert records.look() == "the table cannot be read: no such table: notes"
    reports = records.run()
    assert (reports["raw_files"].removed, reports["raw_files"].failed) == (0, 1)
    assert records.stages.found("barnacle") == {"1"}
    records.configure(table={"url": "sqlite:///nowhere.db", "name": "notes"})
    assert "nowhere.db does not exist" in str(records.look())
    assert not (records.folder / "nowhere.db").exists()
    records.configure(table={"url": "${NOTES_URL}", "name": "notes"})
    assert "the environment variable NOTES_URL of the source's settings is not set" in str(records.look())
    monkeypatch.setenv("NOTES_URL", "postgresql://reader:s3cret-w0rd@127.0.0.1:1/notes")
    said = str(records.look())
    assert "the table cannot be read" in said
    assert "s3cret" not in said
    monkeypatch.setenv("NOTES_URL", "s3cret-w0rd:no url")
    assert "s3cret" not in str(records.look())


@pytest.mark.parametrize(
    "query", ["DELETE FROM notes RETURNING *", "SELECT 1) AS q; DELETE FROM notes; --", "DROP TABLE notes"]
)
def test_a_query_that_writes_writes_nothing(records: RecordStages, query: str) -> None:
    """It is an error of the source; the table is as it was."""
    records.note(1, "The barnacle marks high water.")
    records.configure(table={"url": "sqlite:///notes.db", "query": query})
    assert "cannot be read" in str(records.look())
    assert records.database.execute("SELECT count(*) FROM notes").fetchone() == (1,)


def test_odd_rows_fail_alone(records: RecordStages) -> None:
    """Equal keys, no key, a key of 10 KB, too long a text: each says so, the other rows are documents."""
    records.note("good", "The barnacle marks high water.")
    records.note("twice", "One")
    records.note("twice", "Two")
    records.note(None, "Keyless")
    records.note("k" * 10_000, "Long")
    records.note("large", "word " * 50_000)
    records.note("empty", None)
    records.note("a/b c?#%", "The limpet sits\0 here.", heading="Rock\npool")
    records.configure(max_bytes="100KB")
    records.run()
    failures = records.failures()
    assert failures.keys() == {"twice", "?without-key"}
    assert "several records have this key" in failures["twice"]
    assert "no key" in failures["?without-key"]
    records.run()
    assert records.failures() == failures, "they are failures as long as they are there"
    skipped = records.stages.rows("SELECT uri, skip_reason FROM raw_file WHERE skip_reason IS NOT NULL ORDER BY uri")
    assert ["shorten the names" in row["skip_reason"] or "max_bytes" in row["skip_reason"] for row in skipped] == [
        True
    ] * 2
    assert records.stages.found("barnacle") == {"good"}
    (hit,) = records.stages.search("limpet", mode="keyword")
    assert (hit.uri, hit.title) == ("record://notes/a%2Fb%20c%3F%23%25", "Rock pool")
    records.do("DELETE FROM notes WHERE body = 'Two'")
    records.do("DELETE FROM notes WHERE id IS NULL")
    records.run()
    assert records.failures() == {}
    records.stages.assert_sound()


def test_files_and_attachments_of_records_are_read_below_one_place(
    records: RecordStages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path is read by the readers of files; an attachment is a document with its record's link, and goes with it."""
    folder = records.folder / "kept"
    folder.mkdir()
    (folder / "tides.html").write_text("<h1>Tides</h1><p>The barnacle marks high water.</p>")
    (folder / "odd.bin").write_bytes(b"\0\1\2")
    (folder / "limpet.csv").write_text("name,depth\nlimpet,3\n")
    records.configure(
        table=None,
        pushed=True,
        text=None,
        file="path",
        files={"root": str(folder)},
        updated=None,
        metadata=None,
        url="link",
        title=None,
        attachments={"field": "files", "name": "called", "url": "path"},
    )
    records.run()
    row = {"id": 1, "path": "tides.html", "link": "https://notes.example.com/1"}
    sheet, broken = {"called": "limpet.csv", "path": "limpet.csv"}, {"called": "odd.bin", "path": "odd.bin"}

    def push(*attached: dict[str, str], deleted: tuple[object, ...] = (), **fields: object) -> dict[str, StageReport]:
        rows = [] if deleted else [{**row, "files": list(attached), **fields}]
        with records.stages.connection() as connection:
            push_records(connection, records.stages.collection, records=rows, deleted=deleted)
        return records.run()

    push(sheet, {"called": "passwd", "path": "../../../../etc/passwd"})
    assert records.stages.found("barnacle") == {"1"}
    (hit,) = records.stages.search("limpet", mode="keyword")
    assert (hit.uri, hit.link, hit.title) == ("record://notes/1/limpet.csv", row["link"], "limpet.csv")
    assert "is not below" in records.failures()["1/passwd"]
    push(broken)
    assert records.stages.found("limpet") == set(), "an attachment goes where its record does not have it"
    push(sheet)
    assert records.stages.found("limpet") == {"limpet.csv"}
    push(path="nowhere.html")
    assert "nowhere.html cannot be read" in records.failures()["1"]
    assert records.stages.found("limpet barnacle") == {"1", "limpet.csv"}, "a record that fails keeps what it had"
    assert push(deleted=(1,))["raw_files"].removed == 2
    records.stages.assert_sound()


def test_marks_may_change_their_type(records: RecordStages) -> None:
    """Keys and marks that become numbers, or texts, are the same records; equal texts are not embedded again."""
    records.note("1", "The barnacle marks high water.", "5")
    records.configure(metadata=None)
    records.run()
    records.do("UPDATE notes SET id = 1, changed = 5.0")
    reports = records.run()
    assert (reports["raw_files"].removed, reports["embeddings"].extra["computed"]) == (0, 0)
    assert records.stages.found("barnacle") == {"1"}


def test_other_settings_make_the_documents_again(records: RecordStages) -> None:
    """A template takes the place of a field; a field marks deleted rows; texts that stay as they are embed nothing."""
    for number in range(3):
        records.note(number, f"The barnacle {number} marks high water.")
    records.configure()
    records.run()
    records.configure(text=None, template="{{ body }}{% if id == 2 %}\n\nSeen by {{ heading }} at low tide.{% endif %}")
    reports = records.run()
    assert (reports["documents"].changed, reports["embeddings"].extra["computed"]) == (1, 1)
    assert records.stages.found("tide") == {"2"}
    records.do("UPDATE notes SET status = NULL WHERE id < 2")
    records.configure(deleted="status", updated=None)
    assert records.run()["raw_files"].removed == 1
    assert records.stages.found("barnacle") == {"0", "1"}


def test_html_and_files_in_columns_are_read_by_the_readers_of_files(records: RecordStages) -> None:
    """HTML becomes text; bytes are read by their type or the name of a file."""
    records.note("page", "<h1>Tides</h1><p>The <b>barnacle</b> marks high water.</p>")
    records.configure(format="html")
    records.run()
    assert records.stages.search("barnacle", mode="keyword")[0].text == "# Tides\n\nThe **barnacle** marks high water."
    records.do("DELETE FROM notes")
    records.note("sheet", b"name,depth\nlimpet,3\n", heading="pools.csv")
    records.note("odd", b"\0\1\2", heading="thing.bin")
    records.configure(media_type="heading", title=None)
    records.run()
    assert records.stages.found("limpet") == {"sheet"}


PROGRAM = '''
import json
import random
from pathlib import Path
from sourcebook.records import Checkpoint, Deleted

class Board:
    """Changes that a file lists, one a line."""

    def __init__(self, path, token=""):
        self.path, self.token = Path(path), token

    def changes(self, cursor):
        start = cursor or 0
        lines = self.path.read_text().splitlines()
        for number, line in enumerate(lines[start:], start + 1):
            change = json.loads(line)
            match change:
                case {"fail": word}:
                    raise RuntimeError(f"{word} {self.token}")
                case {"gone": key}:
                    yield Deleted(key)
                case {"end": complete}:
                    yield Checkpoint(number, complete=complete)
                case _:
                    yield change

class Forever:
    def changes(self, cursor):
        number = 0
        while True:
            number += 1
            yield {"id": number, "body": "The barnacle marks high water."}
'''


def test_a_program_yields_changes_and_says_what_it_listed(
    records: RecordStages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what it yields anew is read; a key it deletes is gone, and what a complete listing lacks; else nothing."""
    monkeypatch.setenv("BOARD_TOKEN", "s3cret-w0rd")
    (records.folder / "board_of_tests.py").write_text(PROGRAM)
    path = records.folder / "changes.jsonl"

    def say(*changes: dict[str, Any]) -> None:
        with path.open("a") as file:
            file.writelines(json.dumps(change) + "\n" for change in changes)

    arguments = {"path": str(path), "token": "${BOARD_TOKEN}"}
    records.configure(
        python={"use": "board_of_tests:Board", "arguments": arguments},
        **dict.fromkeys(("title", "url", "updated", "metadata", "tags")),
    )
    say(*({"id": name, "body": f"The {name} sits."} for name in ("barnacle", "limpet", "whelk")), {"end": False})
    assert records.run()["documents"].added == 3
    say({"id": "whelk", "body": "The whelk walks."}, {"gone": "limpet"}, {"end": False})
    reports = records.run()
    assert (reports["documents"].changed, reports["documents"].removed) == (1, 1)
    assert records.stages.found("walks") == {"whelk"}

    say({"id": "tern", "body": "The tern dives."}, {"end": False}, {"id": "lost", "body": "x"}, {"fail": "no"})
    assert records.look() == "board_of_tests:Board fails: RuntimeError: no ***"
    records.stages.run()
    assert records.stages.found("tern") == {"tern"}, "what came before a checkpoint is kept"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    say({"id": "barnacle", "body": "The barnacle sits."}, {"id": "whelk", "body": "The whelk walks."}, {"end": True})
    reports = records.run()
    assert records.stages.found("tern") == set(), "a complete listing since the last checkpoint has no tern"
    records.stages.assert_sound()


def test_a_program_that_yields_for_ever_is_left(records: RecordStages) -> None:
    """Its records are kept up to a number, and nothing is removed."""
    (records.folder / "endless_of_tests.py").write_text(PROGRAM)
    records.configure(
        python="endless_of_tests:Forever",
        max_records=100,
        **dict.fromkeys(("title", "url", "updated", "metadata", "tags")),
    )
    assert "more than 100 records" in str(records.look())


def test_a_plan_reads_records_and_changes_nothing(records: RecordStages) -> None:
    """The plan names new rows; afterwards the ledger has none of them."""
    from sourcebook.admin.planning.plan import make_plans
    from sourcebook.config.loading import load_configuration

    records.note(1, "The barnacle marks high water.")
    records.configure()
    with records.stages.connection() as connection:
        (plan,) = make_plans(connection, load_configuration(records.folder / "sourcebook.yaml"))
        assert [item.uri for item in plan.items] == ["record://notes/1"]
    assert records.stages.rows("SELECT uri FROM source_record") == []


def test_records_that_are_handed_over_are_published_once(records: RecordStages) -> None:
    """The same records again change nothing; others replace them; a deleted key is gone; a wrong name is named."""
    records.configure(pushed=True, url=None, updated=None, metadata=None)
    records.run()

    def push(*bodies: str, deleted: tuple[object, ...] = ()) -> None:
        rows = [{"id": number, "body": body} for number, body in enumerate(bodies)]
        with records.stages.connection() as connection:
            push_records(connection, records.stages.collection, records=rows, deleted=deleted)

    push("The barnacle marks high water.", "A bowline holds.")
    assert records.run()["documents"].added == 2
    push("The barnacle marks high water.", "A bowline holds.")
    assert not records.stages.pending().work
    push("The limpet sits.", deleted=(1, 99))
    reports = records.run()
    assert (reports["documents"].changed, reports["documents"].removed) == (1, 1)
    assert records.stages.found("limpet") == {"0"}
    with records.stages.connection() as connection, pytest.raises(UnknownSourceError, match="there is notes"):
        push_records(connection, records.stages.collection, "nots", records=[])


def test_a_materialization_upstream_starts_a_run(
    records: RecordStages, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sensor leaves the first look to a run; within `refresh` it looks where an asset upstream has an event."""
    monkeypatch.setenv("SOURCEBOOK_HOME", str(records.folder / "home"))
    monkeypatch.setenv("SOURCEBOOK_CONFIG", str(records.folder / "sourcebook.yaml"))
    records.note(1, "The barnacle marks high water.")
    records.configure(refresh="1d", depends_on=["warehouse/notes"])
    assert not tick(changed_records_sensor, instance).run_requests
    assert records.stages.rows("SELECT uri FROM source_record") == []
    records.run()
    records.note(2, "The limpet sits.", "2024-01-02")
    first = tick(changed_records_sensor, instance)
    assert not first.run_requests

    @dg.asset(key=["warehouse", "notes"])
    def notes() -> None:
        """Load the table."""

    assert dg.materialize([notes], instance=instance).success
    found = tick(changed_records_sensor, instance, first.cursor)
    assert [request.partition_key for request in found.run_requests or ()] == ["handbook"]
    assert records.run()["documents"].added == 1
    assert not tick(changed_records_sensor, instance, found.cursor).run_requests


def test_an_asset_hands_records_over(
    records: RecordStages, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the run of a team's own asset, with the resource; the sensor then asks for a run."""
    monkeypatch.setenv("SOURCEBOOK_HOME", str(records.folder / "home"))
    records.configure(pushed=True, url=None, updated=None, metadata=None)
    configuration = str(records.folder / "sourcebook.yaml")
    monkeypatch.setenv("SOURCEBOOK_CONFIG", configuration)

    @dg.asset
    def tickets(sourcebook: SourcebookRecords) -> None:
        """Hand three records over, and take one back."""
        rows = [{"id": number, "body": f"The barnacle {number} marks high water."} for number in range(3)]
        assert sourcebook.upsert("handbook", rows) == 3
        sourcebook.delete("handbook", [2])

    resources = {"sourcebook": SourcebookRecords(config_path=configuration)}
    assert dg.materialize([tickets], instance=instance, resources=resources).success
    assert len(tick(changed_records_sensor, instance).run_requests or ()) == 1
    assert records.run()["documents"].added == 2
    assert records.stages.found("barnacle") == {"0", "1"}


def test_a_table_of_the_same_server_is_read_without_a_right_to_write(
    records: RecordStages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL gives times, numbers and JSON; a function in a query that would write is refused."""
    with records.stages.connection() as connection:
        info = connection.info
        connection.execute("CREATE SCHEMA team")
        connection.execute(
            "CREATE TABLE team.notes (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), body text, points numeric,"
            " labels jsonb, changed timestamptz DEFAULT now())"
        )
        connection.execute(
            "INSERT INTO team.notes (body, points, labels) VALUES"
            " ('The barnacle, says ada@example.com, marks high water.', 3.5, '[\"sea\", \"rock\"]')"
        )
    place = f"?host={info.host}&port={info.port}&user={info.user}"
    monkeypatch.setenv("NOTES_URL", f"postgresql:///{info.dbname}{place}")
    monkeypatch.setenv("PGPASSWORD", info.password or "")
    fields: dict[str, Any] = {"title": None, "url": None, "metadata": ["points"], "labels": "labels"}
    records.configure(table={"url": "${NOTES_URL}", "schema": "team", "name": "notes"}, **fields)
    records.run()
    (hit,) = records.stages.search("barnacle", mode="keyword")
    assert (hit.metadata["points"], set(hit.tags)) == (3.5, {"notes", "sea", "rock"})
    query = "SELECT * FROM team.notes WHERE set_config('x.y', nextval('team.counter')::text, false) IS NULL"
    with records.stages.connection() as connection:
        connection.execute("CREATE SEQUENCE team.counter")
    records.configure(table={"url": "${NOTES_URL}", "query": query}, **fields)
    assert "read-only transaction" in str(records.look())


def test_random_changes_leave_no_record_lost_doubled_or_stale(records: RecordStages) -> None:
    """After edits, deletions, returns, clocks that go back and broken looks the ledger has the rows of the table."""
    chance = random.Random(46)
    records.configure(title=None, url=None, metadata=None)
    for turn in range(60):
        for _ in range(chance.randrange(4)):
            key, mark = chance.randrange(12), chance.choice([turn, -turn, turn * 1000])
            records.do("DELETE FROM notes WHERE id = ?", key)
            if chance.random() < 0.7:
                records.note(key, f"Text {turn} of {chance.random()}", f"{mark} {chance.random()}")
        if chance.random() < 0.2:
            records.do("ALTER TABLE notes RENAME TO away")
            assert "no such table" in str(records.look())
            records.do("ALTER TABLE away RENAME TO notes")
        assert records.look() is None
        kept = records.stages.rows(
            "SELECT uri, convert_from(content, 'UTF8')::jsonb ->> 'text' AS text FROM source_record"
            " WHERE removed_at IS NULL"
        )
        rows = records.database.execute("SELECT id, body FROM notes").fetchall()
        assert {row["uri"]: row["text"] for row in kept} == {f"record://notes/{key}": body for key, body in rows}


def test_records_move_with_an_export_and_are_redacted_before_they_are_kept(
    records: RecordStages, create_database: Callable[[str], str], tmp_path: Path
) -> None:
    """Nothing that is kept has the address of a person; after an import a look finds every row unchanged."""
    records.note(1, "The barnacle, says ada@example.com, marks high water.", heading="From ada@example.com")
    redaction = {"at": "ingest", "categories": ["email"]}
    records.configure(beside={"redaction": redaction}, metadata=["body"])
    records.run()
    assert records.stages.found("barnacle") == {"1"}
    (kept,) = records.stages.rows("SELECT convert_from(content, 'UTF8') AS content FROM source_record")
    assert "ada@" not in kept["content"]
    export_collections(
        records.stages.database, tmp_path / "export", [records.stages.collection], ("parquet",), unredacted=True
    )
    with Database(DatabaseLocation(tmp_path / "other", create_database("sourcebook_template"))) as database:
        import_collections(database, tmp_path / "export")
        stages = records.stages
        other = Stages(database, stages.embedder, stages.parsers, stages.root, stages.settle, stages.speech_home)
        moved = RecordStages(other, records.folder, made=True)
        moved.configure(beside={"redaction": redaction}, metadata=["body"])
        reports = moved.run()
        assert (reports["raw_files"].unchanged, reports["embeddings"].extra["computed"]) == (1, 0)
        assert other.found("barnacle") == {"1"}
        moved.database.close()
        other.close()


def test_shards_share_the_records_of_a_source(records: RecordStages) -> None:
    """One look serves all shards: each makes its own records, and none is lost by an edit or a deletion."""
    for number in range(12):
        records.note(number, f"The barnacle {number} marks high water.")
    records.configure(beside={"shards": 2})
    shards = [Selection(shard=Shard(records.stages.collection, number, 2)) for number in (1, 2)]

    def run() -> list[int]:
        records.look()
        done = [records.stages.run(selection)["documents"] for selection in shards]
        return [report.added + report.changed + report.removed for report in done]

    first = run()
    assert (sum(first), min(first) > 0) == (12, True)
    assert len(records.stages.found("barnacle")) == 12
    records.do("DELETE FROM notes WHERE id = 3")
    records.do("UPDATE notes SET body = 'The limpet sits.', changed = '2024-02-01' WHERE id = 4")
    assert sum(run()) == 2
    assert records.stages.found("limpet") == {"4"}
    assert len(records.stages.found("barnacle")) == 10
    assert run() == [0, 0]
