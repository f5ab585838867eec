"""A small change is worked on without Dagster; a process that outlives the command records it as a run.

The tests share a knowledge base; a test begins once all earlier runs are recorded.
"""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psutil
import psycopg
import pytest

from orchestration.direct_ingest import ASSETS
from sourcebook.admin.pending import MOST_SMALL
from sourcebook.database.database import Database
from tests.acceptance.workplace import Json, Workplace, rows
from tests.waiting import wait_until

RUNS = "SELECT run_id, status FROM runs ORDER BY id"
EVENTS = """
SELECT dagster_event_type, count(*) FROM event_logs
WHERE run_id = %s AND dagster_event_type IN ('ASSET_MATERIALIZATION', 'ASSET_CHECK_EVALUATION')
GROUP BY 1 ORDER BY 1
"""
SECONDS = 120.0
"""How long a process may take on a busy machine."""
_DAYS = count(1)


@pytest.fixture(scope="module")
def handbook(shared_workplace: Workplace, exported_model: Path) -> Workplace:
    """A workplace with an ingested collection of two files."""
    shared_workplace.begin_prepared(exported_model)
    shared_workplace.configure(handbook="docs")
    shared_workplace.write("docs/a.md", "# Tides\n\nThe tide is high.\n")
    shared_workplace.write("docs/b.md", "# Gauges\n\nThe gauge is low.\n")
    shared_workplace.ingest()
    return shared_workplace


@pytest.fixture(scope="module")
def database(handbook: Workplace) -> Iterator[Database]:
    """The database of the workplace."""
    with handbook.database() as database:
        yield database


@pytest.fixture
def before(database: Database) -> int:
    """The number of runs before the test, all of them recorded."""
    wait_until(lambda: not rows(database, "SELECT FROM finished_run"), seconds=SECONDS, what="the runs are recorded")
    return len(runs(database))


def edit(handbook: Workplace) -> None:
    """Change a file."""
    handbook.write("docs/a.md", f"# Tides\n\nThe tide of day {next(_DAYS)} is out.\n")


def runs(database: Database) -> list[tuple[str, str]]:
    with psycopg.connect(database.dagster_url()) as connection:
        return connection.execute(RUNS).fetchall()


def events(database: Database, run: str) -> dict[str, int]:
    with psycopg.connect(database.dagster_url()) as connection:
        return dict(connection.execute(EVENTS, [run]).fetchall())


def counts(collections: Json) -> Json:
    (found,) = collections.values()
    return dict(found)


def recorders(workplace: Workplace) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if "orchestration.recorder" in " ".join(process.info["cmdline"] or [])
        and str(workplace.home) in process.info["cmdline"]
    ]


def all_recorded(database: Database, number: int) -> bool:
    return not rows(database, "SELECT FROM finished_run") and len(runs(database)) == number


def test_each_small_change_is_a_run_with_its_materializations_and_checks(
    handbook: Workplace, database: Database, before: int
) -> None:
    """Also the first one, and where the next command begins before the last one's run is recorded."""
    edit(handbook)
    edited = counts(handbook.ingest())
    assert (edited["documents"]["changed"], edited["embeddings"]["computed"]) == (1, 1)
    (handbook.docs / "b.md").unlink()
    assert counts(handbook.ingest())["documents"]["removed"] == 1
    assert counts(handbook.ingest())["documents"]["unchanged"] == 1
    wait_until(lambda: all_recorded(database, before + 2), seconds=SECONDS, what="both runs are recorded")
    first, *_ = recorded = runs(database)
    for run, status in [first, *recorded[before:]]:
        assert status == "SUCCESS"
        found = events(database, run)
        assert found["ASSET_MATERIALIZATION"] == len(ASSETS)
        assert found["ASSET_CHECK_EVALUATION"] >= 5


def test_a_run_whose_recorder_was_ended_is_recorded_with_the_next_command(
    handbook: Workplace, database: Database, before: int
) -> None:
    """As in a container, whose processes end with the command."""
    edit(handbook)
    with database.own_connection() as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [0x50_0B00E])  # so that no process records it
        handbook.ingest()
        with database.connection() as library:
            library.execute("UPDATE finished_run SET finished_at = now() - interval '1 hour'")
        wait_until(lambda: not recorders(handbook), seconds=SECONDS, what="the recorder has given up")
        connection.execute("SELECT pg_advisory_unlock_all()")
        assert len(runs(database)) == before
        assert counts(handbook.ingest())["documents"]["changed"] == 0
        assert all_recorded(database, before + 1)


def test_a_run_whose_recorder_was_killed_is_recorded_after_the_next_command(
    handbook: Workplace, database: Database, before: int
) -> None:
    """Also where that command has nothing to do, and at once."""
    edit(handbook)
    handbook.ingest()
    for process in recorders(handbook):
        process.kill()
    assert rows(database, "SELECT FROM finished_run")
    assert counts(handbook.ingest())["documents"]["changed"] == 0
    wait_until(lambda: all_recorded(database, before + 1), seconds=SECONDS, what="the run is recorded")
    assert runs(database)[-1][1] == "SUCCESS"


def test_the_first_failure_of_a_small_change_is_logged(
    handbook: Workplace, database: Database, before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that follows succeeds, and would otherwise hide it."""
    environment = {**handbook.environment, "SOURCEBOOK_LOG_LEVEL": "warning", "SOURCEBOOK_LOG_FORMAT": "json"}
    with database.connection() as connection:
        connection.execute("CREATE SEQUENCE attempt")
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN IF nextval('sourcebook.attempt') = 1 THEN RAISE EXCEPTION 'not yet'; END IF; RETURN NEW; END $$"
        )
        connection.execute("CREATE TRIGGER refuse BEFORE INSERT ON search_entry FOR EACH ROW EXECUTE FUNCTION refuse()")
        edit(handbook)
        monkeypatch.setattr(Workplace, "environment", environment)
        with handbook.start("ingest") as process:
            _, err = process.communicate(timeout=SECONDS)
        connection.execute("DROP FUNCTION refuse CASCADE")
    assert process.returncode == 0, err
    (line,) = [json.loads(line) for line in err.splitlines() if '"sourcebook.ingest"' in line]
    assert (line["level"], line["collection"]) == ("warning", "handbook")
    assert "the small change failed with" in line["message"]
    assert "not yet" in line["message"]
    wait_until(lambda: all_recorded(database, before + 1), seconds=SECONDS, what="the run is recorded")


def test_a_small_change_follows_a_large_one_in_the_same_command(
    handbook: Workplace, database: Database, before: int
) -> None:
    """The large collection is a run of Dagster in the command's process, which the small one then leaves to another."""
    handbook.configure(archive="archive", handbook="docs")
    for number in range(MOST_SMALL + 1):
        handbook.write(f"archive/{number}.md", f"# Storm {number}\n\nThe wind had force {number}.\n")
    edit(handbook)
    done = handbook.ingest()
    assert {name: assets["search_index"]["added"] for name, assets in done.items()} == {
        "archive": MOST_SMALL + 1,
        "handbook": 1,
    }
    wait_until(lambda: all_recorded(database, before + 2), seconds=SECONDS, what="both runs are recorded")
    assert {status for _, status in runs(database)[before:]} == {"SUCCESS"}


def test_a_small_change_whose_index_is_unsound_fails_as_a_run(
    handbook: Workplace, database: Database, before: int
) -> None:
    """The command ends with an error, as it does after every failed run."""
    with database.connection() as connection:
        connection.execute("CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
        connection.execute("CREATE TRIGGER lose BEFORE INSERT ON search_entry FOR EACH ROW EXECUTE FUNCTION lose()")
        edit(handbook)
        assert "every_live_document_is_searchable" in handbook.run("ingest", code=1)
    wait_until(lambda: all_recorded(database, before + 1), seconds=SECONDS, what="the run is recorded")
    assert runs(database)[-1][1] == "FAILURE"
