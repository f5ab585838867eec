"""A small change is worked on without Dagster; a process that outlives the command records it as a run."""

import json

import psutil
import psycopg
import pytest

from orchestration.small_change import ASSETS
from sourcebook.admin.pending import MOST_SMALL
from sourcebook.database.database import Database
from tests.acceptance.workplace import Json, Workplace, rows
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("model_was_exported")
RUNS = "SELECT run_id, status FROM runs ORDER BY id"
EVENTS = """
SELECT dagster_event_type, count(*) FROM event_logs
WHERE run_id = %s AND dagster_event_type IN ('ASSET_MATERIALIZATION', 'ASSET_CHECK_EVALUATION')
GROUP BY 1 ORDER BY 1
"""
SECONDS = 120.0
"""How long a process may take on a busy machine."""


@pytest.fixture
def handbook(workplace: Workplace) -> Workplace:
    """A workplace with an ingested collection of two files."""
    workplace.configure(handbook="docs")
    workplace.write("docs/a.md", "# Tides\n\nThe tide is high.\n")
    workplace.write("docs/b.md", "# Gauges\n\nThe gauge is low.\n")
    workplace.ingest()
    return workplace


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


def test_each_small_change_is_a_run_with_its_materializations_and_checks(handbook: Workplace) -> None:
    """Also where the next command begins before the last one's run is recorded."""
    handbook.write("docs/a.md", "# Tides\n\nThe tide is out.\n")
    edited = counts(handbook.ingest())
    assert (edited["documents"]["changed"], edited["embeddings"]["computed"]) == (1, 1)
    (handbook.docs / "b.md").unlink()
    assert counts(handbook.ingest())["documents"]["removed"] == 1
    assert counts(handbook.ingest())["documents"]["unchanged"] == 1
    with handbook.database() as database:
        wait_until(lambda: all_recorded(database, 3), seconds=SECONDS, what="three runs are recorded")
        for run, status in runs(database):
            assert status == "SUCCESS"
            found = events(database, run)
            assert found["ASSET_MATERIALIZATION"] == len(ASSETS)
            assert found["ASSET_CHECK_EVALUATION"] >= 5


def test_a_run_whose_recorder_was_ended_is_recorded_with_the_next_command(handbook: Workplace) -> None:
    """As in a container, whose processes end with the command."""
    handbook.write("docs/a.md", "# Tides\n\nThe tide is out.\n")
    with handbook.database() as database, database.own_connection() as connection:
        wait_until(lambda: all_recorded(database, 1), seconds=SECONDS, what="the first run is recorded")
        connection.execute("SELECT pg_advisory_lock(%s)", [0x50_0B00E])  # so that no process records it
        handbook.ingest()
        with database.connection() as library:
            library.execute("UPDATE finished_run SET finished_at = now() - interval '1 hour'")
        wait_until(lambda: not recorders(handbook), seconds=SECONDS, what="the recorder has given up")
        connection.execute("SELECT pg_advisory_unlock_all()")
        assert len(runs(database)) == 1
        assert counts(handbook.ingest())["documents"]["changed"] == 0
        assert all_recorded(database, 2)


def test_a_run_whose_recorder_was_killed_is_recorded_after_the_next_command(handbook: Workplace) -> None:
    """Also where that command has nothing to do, and at once."""
    handbook.write("docs/a.md", "# Tides\n\nThe tide is out.\n")
    with handbook.database() as database:
        wait_until(lambda: all_recorded(database, 1), seconds=SECONDS, what="the first run is recorded")
        handbook.ingest()
        for process in recorders(handbook):
            process.kill()
        assert rows(database, "SELECT FROM finished_run")
        assert counts(handbook.ingest())["documents"]["changed"] == 0
        wait_until(lambda: all_recorded(database, 2), seconds=SECONDS, what="the run is recorded")
        assert [status for _, status in runs(database)] == ["SUCCESS"] * 2


def test_a_small_change_whose_index_is_unsound_fails_as_a_run(handbook: Workplace) -> None:
    """The command ends with an error, as it does after every failed run."""
    with handbook.database() as database, database.connection() as connection:
        connection.execute("CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
        connection.execute("CREATE TRIGGER lose BEFORE INSERT ON search_entry FOR EACH ROW EXECUTE FUNCTION lose()")
        handbook.write("docs/a.md", "# Tides\n\nThe tide is out.\n")
        assert "every_live_document_is_searchable" in handbook.run("ingest", code=1)
        wait_until(lambda: all_recorded(database, 2), seconds=SECONDS, what="both runs are recorded")
        assert sorted(status for _, status in runs(database)) == ["FAILURE", "SUCCESS"]
        connection.execute("DROP FUNCTION lose CASCADE")


def test_a_small_change_follows_a_large_one_in_the_same_command(workplace: Workplace) -> None:
    """The large collection is a run of Dagster in the command's process, which the small one then leaves to another."""
    workplace.configure(archive="archive", handbook="docs")
    for number in range(MOST_SMALL + 1):
        workplace.write(f"archive/{number}.md", f"# Storm {number}\n\nThe wind had force {number}.\n")
    workplace.write("docs/a.md", "# Tides\n\nThe tide is high.\n")
    done = workplace.ingest()
    assert {name: assets["search_index"]["added"] for name, assets in done.items()} == {
        "archive": MOST_SMALL + 1,
        "handbook": 1,
    }
    with workplace.database() as database:
        wait_until(lambda: all_recorded(database, 2), seconds=SECONDS, what="both runs are recorded")
        assert {status for _, status in runs(database)} == {"SUCCESS"}


def test_the_first_failure_of_a_small_change_is_logged(handbook: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run that follows succeeds, and would otherwise hide it."""
    environment = {**handbook.environment, "SOURCEBOOK_LOG_LEVEL": "warning", "SOURCEBOOK_LOG_FORMAT": "json"}
    with handbook.database() as database, database.connection() as connection:
        connection.execute("CREATE SEQUENCE attempt")
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN IF nextval('sourcebook.attempt') = 1 THEN RAISE EXCEPTION 'not yet'; END IF; RETURN NEW; END $$"
        )
        connection.execute("CREATE TRIGGER refuse BEFORE INSERT ON search_entry FOR EACH ROW EXECUTE FUNCTION refuse()")
        handbook.write("docs/a.md", "# Tides\n\nThe tide is out.\n")
        monkeypatch.setattr(Workplace, "environment", environment)
        with handbook.start("ingest") as process:
            _, err = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, err
        (line,) = [json.loads(line) for line in err.splitlines() if '"sourcebook.ingest"' in line]
        assert (line["level"], line["collection"]) == ("warning", "handbook")
        assert "the small change failed with" in line["message"]
        assert "not yet" in line["message"]
        connection.execute("DROP FUNCTION refuse CASCADE")
        wait_until(lambda: all_recorded(database, 2), seconds=SECONDS, what="both runs are recorded")
