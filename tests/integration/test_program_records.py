"""Records that programs yield and assets hand over, and their way through exports and shards."""

import json
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from resources.records import SourcebookRecords
from sensors.changed_records import changed_records_sensor
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import UnknownSourceError
from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard
from sourcebook.records import tables
from sourcebook.stages.raw_files.pushed_records import push_records
from sourcebook.transfer.export import export_collections
from sourcebook.transfer.importing import import_collections
from tests.integration.record_stages import RecordStages
from tests.integration.stages import Stages
from tests.integration.test_configuration_mistakes import tick

_LARGE_AFTER_SMALL = (
    "SELECT n AS id, repeat('limpet ', CASE WHEN n < 1500 THEN 1 ELSE 750000 END) AS body, NULL AS labels"
    " FROM generate_series(1, 1540) AS n"
)
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
    say({"end": True})
    assert records.look() is None, "a program that says it listed everything is believed, also where that is nothing"


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
    """PostgreSQL gives times, also infinite ones, numbers and JSON; a write or a lock is refused; memory is bounded."""
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
        connection.execute(
            "INSERT INTO team.notes (body, points, changed) VALUES ('The limpet stays.', 'Infinity', 'infinity')"
        )
    place = f"?host={info.host}&port={info.port}&user={info.user}"
    monkeypatch.setenv("NOTES_URL", f"postgresql:///{info.dbname}{place}")
    monkeypatch.setenv("PGPASSWORD", info.password or "")
    fields: dict[str, Any] = {"title": None, "url": None, "metadata": ["points"], "labels": "labels"}
    records.configure(table={"url": "${NOTES_URL}", "schema": "team", "name": "notes"}, **fields)
    records.run()
    (hit,) = records.stages.search("barnacle", mode="keyword")
    assert (hit.metadata["points"], set(hit.tags)) == (3.5, {"notes", "sea", "rock"})
    (hit,) = records.stages.search("limpet", mode="keyword")
    assert (hit.metadata["updated"], "points" in hit.metadata) == ("infinity", False)
    monkeypatch.setattr(tables, "LOCK_SECONDS", 1)
    with records.stages.connection() as connection, connection.transaction():
        connection.execute("LOCK team.notes IN ACCESS EXCLUSIVE MODE")
        assert "lock timeout" in str(records.look())
    query = "SELECT * FROM team.notes WHERE set_config('x.y', nextval('team.counter')::text, false) IS NULL"
    with records.stages.connection() as connection:
        connection.execute("CREATE SEQUENCE team.counter")
    records.configure(table={"url": "${NOTES_URL}", "query": query}, **fields)
    assert "read-only transaction" in str(records.look())
    records.configure(
        table={"url": "${NOTES_URL}", "query": _LARGE_AFTER_SMALL}, title=None, url=None, updated=None, metadata=None
    )
    tracemalloc.start()
    assert records.look() is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    (kept,) = records.stages.rows("SELECT sum(octet_length(content)) AS bytes FROM source_record WHERE mark IS NULL")
    assert kept["bytes"] > 200_000_000
    assert peak < 80_000_000, f"{peak:,} bytes"


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
