"""Failed runs: infrastructure failures are retried at once and then less often, others wait for a change."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import psycopg
import pytest

from orchestration.retention import delete_runs, forget_runless_events, nightly_retention
from resources.partition import COLLECTIONS, PARTITION
from resources.source_events import FOLDERS, observation
from sensors.abandoned_runs import IN_PROCESS, active_runs
from sensors.run_failures import failure_of, seconds_to_wait
from sensors.run_requests import CHANGES, request_run
from sourcebook.database.database import Database
from sourcebook.errors import DatabaseError, ModelError
from tests.integration.stages import Stages
from tests.integration.test_configuration_mistakes import tick

READING = "0123456789abcdef"


def asked(stages: Stages, instance: dg.DagsterInstance, reading: str = READING) -> str | dg.RunRequest:
    """Ask for a run of the changes of one reading."""
    with stages.connection() as connection:
        return request_run(instance, connection, "handbook", reading)


def killed(instance: dg.DagsterInstance, request: str | dg.RunRequest, **tags: str) -> dg.DagsterRun:
    """Record the run of a request whose process was killed."""
    assert isinstance(request, dg.RunRequest), request
    all_tags = {**request.tags, PARTITION: "handbook", **tags}
    run = instance.add_run(dg.DagsterRun("ingest", tags=all_tags, status=dg.DagsterRunStatus.STARTED))
    instance.report_run_failed(run, "The process of the run was killed; the next run continues its work.")
    return run


def failed(instance: dg.DagsterInstance, error: Exception, tags: dict[str, str]) -> str:
    """Run an asset that raises an error, and return the id of the run."""

    @dg.asset
    def broken() -> None:
        raise error

    done = dg.materialize([broken], instance=instance, raise_on_error=False, tags=tags)
    return done.run_id


def succeeded(instance: dg.DagsterInstance, tags: dict[str, str]) -> None:
    """Run an asset that does nothing."""

    @dg.asset
    def idle() -> None:
        pass

    assert dg.materialize([idle], instance=instance, tags=tags).success


def test_a_killed_run_is_retried_at_once_and_then_after_twice_the_time(
    stages: Stages, instance: dg.DagsterInstance
) -> None:
    """No five minutes: the first retry of a killed run starts with the next tick, the next ones after 30, 60, … s."""
    stages.configure()
    killed(instance, asked(stages, instance), **{IN_PROCESS: "ingest", "dagster/max_retries": "0"})
    second = asked(stages, instance)
    assert isinstance(second, dg.RunRequest), second
    killed(instance, second, **{IN_PROCESS: "ingest", "dagster/max_retries": "0"})
    reason = asked(stages, instance)
    assert isinstance(reason, str)
    assert "is retried within" in reason
    assert "its process was killed" in reason
    assert [seconds_to_wait(failures) for failures in (1, 2, 3, 4, 30, 5_000)] == [0, 30, 60, 120, 3600, 3600]


def test_dagster_itself_retries_a_killed_run_of_the_daemon(stages: Stages, instance: dg.DagsterInstance) -> None:
    """Dagster's run retries take a killed run; the sensor leaves it to them for some seconds."""
    stages.configure()
    run = killed(instance, asked(stages, instance))
    record = instance.get_run_by_id(run.run_id)
    assert record is not None
    assert record.tags["dagster/will_retry"] == "true"
    assert instance.run_retries_max_retries == 1
    assert not instance.run_retries_retry_on_asset_or_op_failure
    reason = asked(stages, instance)
    assert isinstance(reason, str)
    assert "is retried within" in reason


def test_a_deterministic_failure_waits_for_a_change(stages: Stages, instance: dg.DagsterInstance) -> None:
    """A model that does not exist is no reason to try again, until content or settings change."""
    stages.configure()
    request = asked(stages, instance)
    assert isinstance(request, dg.RunRequest)
    tags = {**request.tags, PARTITION: "handbook"}
    failed(instance, ModelError("there is no such model"), tags)
    reason = asked(stages, instance)
    assert isinstance(reason, str)
    assert reason.startswith("the last run failed and waits for a change of content or settings")
    assert "there is no such model" in reason
    assert isinstance(asked(stages, instance, "another reading"), dg.RunRequest)
    stages.configure("collections: {handbook: {files: [{root: ./docs}], parsing: {ocr: false}}}")
    assert isinstance(asked(stages, instance), dg.RunRequest)


def test_runs_that_succeed_and_settle_nothing_become_rare(stages: Stages, instance: dg.DagsterInstance) -> None:
    """A difference that survives a run is tried once more at once, and then after 30, 60, … s."""
    stages.configure()
    for _ in range(2):
        request = asked(stages, instance)
        assert isinstance(request, dg.RunRequest), request
        succeeded(instance, {**request.tags, PARTITION: "handbook"})
    reason = asked(stages, instance)
    assert isinstance(reason, str)
    assert reason.startswith("the last 2 runs succeeded and left the changes as they were; the next one starts within ")
    assert isinstance(asked(stages, instance, "another reading"), dg.RunRequest)


def test_the_class_of_a_failure_is_in_its_chain_of_errors(instance: dg.DagsterInstance) -> None:
    """A database that is gone and a lack of memory are infrastructure; so is a model's process that was killed."""
    lost = ModelError("the model's process was ended")
    lost.__cause__ = MemoryError()
    for error in (DatabaseError("the database cannot be reached"), MemoryError(), lost, OSError("no space left")):
        assert not failure_of(instance, failed(instance, error, {})).is_deterministic
    assert failure_of(instance, failed(instance, ModelError("none"), {})).is_deterministic


def test_a_run_whose_process_has_ended_is_abandoned_at_once(stages: Stages, instance: dg.DagsterInstance) -> None:
    """The process of a run is known from its events: a killed one need not keep its collection waiting for minutes."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    alive = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        runs = []
        for process in (ended, alive):
            run = instance.add_run(
                dg.DagsterRun("ingest", tags={PARTITION: "handbook"}, status=dg.DagsterRunStatus.STARTED)
            )
            instance.report_engine_event(f"Started process for run (pid: {process.pid}).", run)
            runs.append(run)
        active = active_runs(instance, stages.database, "handbook")
        assert [run.run_id for run in active] == [runs[1].run_id]
    finally:
        alive.kill()
        alive.wait()


def test_old_runs_go_and_the_newest_materialization_stays(instance: dg.DagsterInstance, database: Database) -> None:
    """Runs older than the limit are deleted with their events, except the one that made a partition last."""

    @dg.asset(partitions_def=dg.DynamicPartitionsDefinition(name=COLLECTIONS))
    def raw_files() -> None:
        """Stand in for the asset of this name."""

    runs = [dg.materialize([raw_files], instance=instance, partition_key="handbook").run_id for _ in range(3)]
    now = datetime.now(UTC)
    assert delete_runs(instance, 30, now=now) == 0
    assert delete_runs(instance, 0, now=now + timedelta(days=400)) == 0
    assert delete_runs(instance, 0, most=2, at_once=5) == 1, "under constant changes there are too many long before"
    assert delete_runs(instance, 0, most=3) == 0
    assert delete_runs(instance, 30, now=now + timedelta(days=31)) == 1
    assert [run.run_id for run in instance.get_runs()] == runs[-1:]
    with psycopg.connect(database.url) as connection:
        rows = connection.execute("SELECT DISTINCT run_id FROM event_logs WHERE run_id <> ''").fetchall()
    assert rows == [(runs[-1],)]
    newest = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=dg.AssetKey("raw_files"), asset_partitions=["handbook"]), limit=5
    )
    assert [record.run_id for record in newest.records] == runs[-1:]


@pytest.mark.parametrize(("variable", "text"), [("SOURCEBOOK_RUN_DAYS", "30d"), ("SOURCEBOOK_REMOVED_DAYS", "-1")])
def test_an_age_that_is_no_number_of_days_skips_the_night(
    variable: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason names the variable; nothing is deleted by an age that nobody has meant."""
    night = datetime(2026, 11, 23, 3, 30, tzinfo=UTC)
    with dg.build_schedule_context(scheduled_execution_time=night) as context:
        assert isinstance(nightly_retention(context), dg.RunRequest)
        monkeypatch.setenv(variable, text)
        skipped = nightly_retention(context)
    assert isinstance(skipped, dg.SkipReason)
    assert f"{variable} is '{text}'; it must be a whole number of days" in str(skipped.skip_message)


def test_what_sensors_have_reported_is_forgotten(database: Database, instance: dg.DagsterInstance) -> None:
    """Their observations belong to no run; the newest of each asset stays."""
    for number in range(3):
        instance.report_runless_asset_event(observation(FOLDERS, "handbook", str(number), {}))
    forget_runless_events(database, 30)
    with psycopg.connect(database.url) as connection:
        connection.execute("UPDATE event_logs SET timestamp = timestamp - interval '31 days' WHERE run_id = ''")
        connection.commit()
        forget_runless_events(database, 30)
        assert connection.execute("SELECT count(*) FROM event_logs WHERE run_id = ''").fetchone() == (1,)


def test_the_output_of_old_runs_goes_with_them(tmp_path: Path) -> None:
    """What runs have printed lies in a folder for each of them, which nothing else deletes."""

    @dg.asset
    def said() -> None:
        print("done")

    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        run = dg.materialize([said], instance=instance).run_id
        assert list(tmp_path.rglob(f"{run}/**/*.out"))
        assert delete_runs(instance, 30, now=datetime.now(UTC) + timedelta(days=31)) == 1
    assert not list(tmp_path.rglob(run))


def seven_nights(stages: Stages) -> None:
    """Let retention have looked on each of the last seven nights."""
    stages.rows("INSERT INTO retention_night SELECT current_date - nth FROM generate_series(1, 7) AS nth RETURNING 1")


def test_rows_removed_long_ago_are_deleted(stages: Stages) -> None:
    """A document that was removed before the limit goes with its text; one that was removed since stays."""
    from sourcebook.admin.retention import forget_removed

    stages.configure()
    for name in ("old.md", "new.md", "live.md"):
        stages.write(name, f"# {name}\n\nThe text of {name}.\n")
    stages.run()
    for name in ("old.md", "new.md"):
        (stages.root / name).unlink()
    stages.run()
    for table in ("document", "raw_file"):
        stages.rows(
            f"UPDATE {table} SET removed_at = now() - interval '100 days' WHERE uri LIKE '%%old.md' RETURNING 1"
        )
    seven_nights(stages)
    counts = forget_removed(stages.database, timedelta(days=90))
    assert counts is not None
    assert (counts["documents"], counts["files"], counts["contents"]) == (1, 1, 1)
    uris = {row["uri"].rpartition("/")[2] for row in stages.rows("SELECT uri FROM document")}
    assert uris == {"new.md", "live.md"}


def test_a_collection_removed_long_ago_leaves_no_marks_and_counts(stages: Stages) -> None:
    """A collection of the same name begins at nothing."""
    from sourcebook.admin.retention import forget_removed

    stages.configure()
    stages.write("tides.md", "# Tides\n\nThe gauge stands in the harbour.\n")
    stages.raw_files()
    stages.rows("UPDATE collection SET removed_at = now() - interval '100 days' RETURNING 1")
    seven_nights(stages)
    counts = forget_removed(stages.database, timedelta(days=90))
    assert counts is not None
    assert counts["collections"] == 1
    for table in ("tally", "changed_item", "changed_document"):
        assert stages.rows(f"SELECT FROM {table}") == [], table


def test_sensors_give_the_reason_first_and_report_on_sources(
    stages: Stages, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The skip reason begins with the reason; a new reading is an observation, an old listing a failed check."""
    from sensors.changed_files import changed_files_sensor

    monkeypatch.setenv("SOURCEBOOK_HOME", str(stages.root.parent / "home"))
    stages.configure()
    stages.write("tides.md", "# Tides\n\nThe gauge stands in the harbour.\n")
    first = tick(changed_files_sensor, instance)
    assert str(first.skip_reason).startswith("SkipReason(skip_message='waiting for a second reading")
    observed = [event for event in first.asset_events if isinstance(event, dg.AssetObservation)]
    assert [(event.asset_key, event.partition) for event in observed] == [(FOLDERS, "handbook")]
    assert observed[0].metadata["new_or_changed_files"].value == 1
    (fresh,) = [event for event in first.asset_events if isinstance(event, dg.AssetCheckEvaluation)]
    assert (fresh.passed, fresh.partition, fresh.check_name) == (True, None, "folders_are_fresh")
    stages.run()
    stages.rows("UPDATE source SET listed_at = now() - interval '3 days' RETURNING 1")
    second = tick(changed_files_sensor, instance, first.cursor)
    assert "nothing changed: handbook" in str(second.skip_reason)
    (late,) = second.asset_events
    assert isinstance(late, dg.AssetCheckEvaluation)
    assert not late.passed
    assert "was last read completely on" in str(late.description)
    assert not tick(changed_files_sensor, instance, second.cursor).asset_events
    for event in (*first.asset_events, *second.asset_events):  # as the daemon stores them
        instance.report_runless_asset_event(event)


def test_the_tag_of_a_run_is_short(stages: Stages, instance: dg.DagsterInstance) -> None:
    stages.configure()
    request = asked(stages, instance)
    assert isinstance(request, dg.RunRequest)
    assert len(request.tags[CHANGES]) == 12
