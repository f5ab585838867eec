"""Finished small changes become runs of a real Dagster instance, each once, whatever ends the process between."""

from contextlib import ExitStack, nullcontext
from pathlib import Path

import dagster as dg
import pytest

from orchestration.recorder import record_finished_runs
from sensors.abandoned_runs import IN_PROCESS, RECORDER, active_runs
from sourcebook.admin.checks import CheckOutcome
from sourcebook.admin.doctor.database import check_database
from sourcebook.admin.finished_runs import MOST_ATTEMPTS, keep, recorder_lock, runs_to_record
from sourcebook.errors import FailureClass
from sourcebook.model.report import StageReport
from tests.integration.stages import Stages


@pytest.fixture(autouse=True)
def handbook(stages: Stages, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configured collection, in the database that the runs open."""
    stages.configure()
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", stages.database.url)


def finish_a_change(stages: Stages) -> str:
    report = StageReport(changed=2, unchanged=5)
    report.note("Tides", "file:///docs/tides.md")
    report.fail("file:///docs/broken.pdf", "it is damaged", FailureClass.CORRUPT)
    with stages.database.connection() as connection:
        outcomes = [CheckOutcome("no_failed_items", 1, ("file:///docs/broken.pdf",))]
        return keep(connection, "handbook", {"documents": report.finish("0123")}, outcomes)


def record(stages: Stages, tmp_path: Path) -> int:
    return record_finished_runs(stages.database, tmp_path / "sourcebook.yaml", tmp_path / "home")


def test_a_finished_change_is_one_run_with_what_was_done(
    instance: dg.DagsterInstance, stages: Stages, tmp_path: Path
) -> None:
    run_id = finish_a_change(stages)
    assert record(stages, tmp_path) == 1
    assert record(stages, tmp_path) == 0
    (run,) = instance.get_runs()
    assert (run.run_id, run.status, run.tags[IN_PROCESS]) == (run_id, dg.DagsterRunStatus.SUCCESS, RECORDER)
    (made,) = instance.fetch_materializations(dg.AssetKey("documents"), limit=2).records
    metadata = made.asset_materialization.metadata if made.asset_materialization else {}
    assert (metadata["changed"].value, metadata["failed"].value, metadata["total"].value) == (2, 1, 7)
    assert "tides.md" in str(metadata["newest"].value)


def test_a_change_waits_while_another_process_records(
    instance: dg.DagsterInstance, stages: Stages, tmp_path: Path
) -> None:
    finish_a_change(stages)
    with recorder_lock(stages.database) as is_free:
        assert is_free
        assert record(stages, tmp_path) == 0
    assert record(stages, tmp_path) == 1


def test_the_lock_is_released_before_the_server_ends_the_session(
    stages: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that found it held by a session whose client has left would leave its run to the next command."""
    with ExitStack() as ended_later:
        opened = stages.database.own_connection
        monkeypatch.setattr(stages.database, "own_connection", lambda: nullcontext(ended_later.enter_context(opened())))
        for _ in range(2):
            with recorder_lock(stages.database) as is_free, recorder_lock(stages.database) as is_free_meanwhile:
                assert (is_free, is_free_meanwhile) == (True, False)


@pytest.mark.parametrize("status", [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.FAILURE])
def test_what_a_killed_recorder_has_left_is_recorded_anew(
    instance: dg.DagsterInstance, stages: Stages, tmp_path: Path, status: dg.DagsterRunStatus
) -> None:
    """Also where a sensor or another command has taken the killed run for a failed one: its work is done."""
    run_id = finish_a_change(stages)
    tags = {"dagster/partition": "handbook", IN_PROCESS: RECORDER}
    instance.add_run(dg.DagsterRun("ingest", run_id, tags=tags, status=status))
    assert record(stages, tmp_path) == 1
    (run,) = instance.get_runs()
    assert (run.run_id, run.status) == (run_id, dg.DagsterRunStatus.SUCCESS)


def test_checks_of_a_recorder_killed_in_its_middle_are_in_no_way(
    instance: dg.DagsterInstance, stages: Stages, tmp_path: Path
) -> None:
    """Dagster deletes a run without the checks that it planned, and plans none twice for one run."""
    run_id = finish_a_change(stages)
    with stages.database.connection() as connection:
        connection.execute("CREATE TABLE kept AS SELECT * FROM finished_run")
        assert record(stages, tmp_path) == 1
        connection.execute("INSERT INTO finished_run SELECT * FROM kept")
        connection.execute("UPDATE public.runs SET status = 'STARTED'")
    assert record(stages, tmp_path) == 1
    assert stages.rows("SELECT FROM finished_run") == []
    (run,) = instance.get_runs()
    assert (run.run_id, run.status) == (run_id, dg.DagsterRunStatus.SUCCESS)


def test_a_run_that_is_being_recorded_is_not_taken_for_a_dead_one(instance: dg.DagsterInstance, stages: Stages) -> None:
    """Not even by a command that holds the lock of the collection: the recorder holds none."""
    tags = {"dagster/partition": "handbook", IN_PROCESS: RECORDER}
    run = instance.add_run(dg.DagsterRun("ingest", tags=tags, status=dg.DagsterRunStatus.STARTED))
    with recorder_lock(stages.database):
        active = active_runs(instance, stages.database, "handbook", holding_lock=True)
        assert [each.run_id for each in active] == [run.run_id]
    assert active_runs(instance, stages.database, "handbook", holding_lock=True) == []


def test_a_change_that_cannot_be_recorded_is_tried_a_few_times_and_then_shown(
    instance: dg.DagsterInstance, stages: Stages, tmp_path: Path
) -> None:
    finish_a_change(stages)
    with stages.database.connection() as connection:
        connection.execute(
            "UPDATE finished_run SET reports = jsonb_set(reports, '{no_such_asset}', reports -> 'documents')"
        )
        for _ in range(MOST_ATTEMPTS):
            assert record(stages, tmp_path) == 1
        assert record(stages, tmp_path) == 0
        assert runs_to_record(connection) == []
    (check,) = [check for check in check_database(tmp_path / "home") if check.name == "runs"]
    assert "1 finished small changes are missing from the UI" in check.detail


def test_recording_a_run_begins_no_generation(instance: dg.DagsterInstance, stages: Stages, tmp_path: Path) -> None:
    """Settings that changed since are the next ingest's, which holds the lock of the collection."""
    stages.write("tides.md", "# Tides\n\nThe gauge stands in the harbour.\n")
    stages.run()
    settings = "chunking: {tokens: 64}"
    stages.configure(f"collections:\n  handbook:\n    files: [{{root: ./{stages.root.name}}}]\n    {settings}\n")
    with stages.connection() as connection:
        reports = {name: StageReport(changed=1).finish("0123") for name in ("chunks", "embeddings", "search_index")}
        keep(connection, "handbook", reports, [])
    assert record(stages, tmp_path) == 1
    assert [run.status for run in instance.get_runs()] == [dg.DagsterRunStatus.SUCCESS]
    assert stages.rows("SELECT id, building_generation_id FROM generation JOIN collection ON true") == [
        {"id": 1, "building_generation_id": None}
    ]
