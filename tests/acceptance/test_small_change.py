"""A small change is worked on without Dagster, and is recorded as a run when the command ends."""

from pathlib import Path

import psutil
import psycopg
import pytest

from orchestration.recorder import RecorderError, Recording, RunRecorder
from orchestration.small_change import ASSETS
from sourcebook.database.database import Database
from tests.acceptance.workplace import Json, Workplace

RUNS = "SELECT run_id, status FROM runs ORDER BY id"
EVENTS = """
SELECT dagster_event_type, count(*) FROM event_logs
WHERE run_id = %s AND dagster_event_type IN ('ASSET_MATERIALIZATION', 'ASSET_CHECK_EVALUATION')
GROUP BY 1 ORDER BY 1
"""
SECONDS = 120.0
"""How long a process may take on a busy machine."""


def runs(database: Database) -> list[tuple[str, str]]:
    with psycopg.connect(database.dagster_url()) as connection:
        return connection.execute(RUNS).fetchall()


def events(database: Database, run: str) -> dict[str, int]:
    with psycopg.connect(database.dagster_url()) as connection:
        return dict(connection.execute(EVENTS, [run]).fetchall())


def test_each_small_change_is_a_run_with_its_materializations_and_checks(workplace: Workplace) -> None:
    workplace.configure(handbook="docs")
    workplace.write("docs/a.md", "# Tides\n\nThe tide is high.\n")
    workplace.write("docs/b.md", "# Gauges\n\nThe gauge is low.\n")
    workplace.ingest()
    workplace.write("docs/a.md", "# Tides\n\nThe tide is out.\n")
    edited = counts(workplace.ingest())
    assert (edited["documents"]["changed"], edited["embeddings"]["computed"]) == (1, 1)
    (workplace.docs / "b.md").unlink()
    assert counts(workplace.ingest())["documents"]["removed"] == 1
    assert counts(workplace.ingest())["documents"]["unchanged"] == 1
    with workplace.database() as database:
        recorded = runs(database)
        assert [status for _, status in recorded] == ["SUCCESS"] * 3
        for run, _ in recorded:
            found = events(database, run)
            assert found["ASSET_MATERIALIZATION"] == len(ASSETS)
            assert found["ASSET_CHECK_EVALUATION"] >= 5


def counts(collections: Json) -> Json:
    (found,) = collections.values()
    return dict(found)


def test_the_process_that_records_ends_with_its_recorder() -> None:
    recorder = RunRecorder()
    recorder.start()
    assert recorder.is_started
    (process,) = [child for child in psutil.Process().children() if "orchestration" in " ".join(child.cmdline())]
    recorder.close()
    assert not process.is_running()
    assert not recorder.is_started


def test_a_run_that_cannot_be_recorded_is_an_error_and_ends_the_process_for_no_other(tmp_path: Path) -> None:
    """The ordinary run follows such an error."""
    nowhere = "postgresql://nobody@127.0.0.1:1/nothing"
    recording = Recording(tmp_path / "sourcebook.yaml", tmp_path, nowhere, nowhere, "handbook", ASSETS)
    with RunRecorder() as recorder:
        recorder.start()
        for _ in range(2):
            recorder.begin(recording)
            with pytest.raises(RecorderError):
                recorder.finish({})
