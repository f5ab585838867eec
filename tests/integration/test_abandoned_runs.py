"""Runs whose process was killed, in a real Dagster instance: at whatever point, their end is recorded."""

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import dagster as dg
import psycopg
import pytest

from sensors.abandoned_runs import (
    IN_PROCESS,
    active_runs,
    end_runs_of_no_collection,
    partitions_with_unfinished_runs,
)
from sensors.changed_files import changed_files_sensor
from sourcebook.database.database import Database
from sourcebook.database.lock import collection_lock
from tests.integration.stages import Stages
from tests.integration.test_configuration_mistakes import tick

_OF_HANDBOOK = {"dagster/partition": "handbook"}


def made_run(instance: dg.DagsterInstance, collection: str, **tags: str) -> dg.DagsterRun:
    """Make a run that never gets further."""
    tags = {"dagster/partition": collection, **tags}
    return instance.add_run(dg.DagsterRun("ingest", tags=tags, status=dg.DagsterRunStatus.NOT_STARTED))


def status(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dg.DagsterRunStatus:
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    return found.status


def test_a_run_killed_before_its_tags_were_stored(instance: dg.DagsterInstance, database: Database) -> None:
    """A kill between the row of a run and those of its tags leaves a run that is recorded as failed all the same."""
    run, of_another = (made_run(instance, name, **{IN_PROCESS: "ingest"}) for name in ("handbook", "boat"))
    with psycopg.connect(database.url) as connection:
        assert connection.execute("DELETE FROM run_tags").rowcount == 4
    assert not instance.get_runs(dg.RunsFilter(tags={"dagster/partition": "handbook"})), "Dagster knows no tag of it"

    assert active_runs(instance, database, "handbook", holding_lock=True) == []
    assert status(instance, run) == dg.DagsterRunStatus.FAILURE
    assert status(instance, of_another) == dg.DagsterRunStatus.NOT_STARTED, "it may be going on in its own collection"


def test_a_run_of_a_command_that_holds_its_lock_is_going_on(instance: dg.DagsterInstance, database: Database) -> None:
    """A run whose command still holds the collection's lock is left alone; when it has let go, it is dead."""
    run = made_run(instance, "handbook", **{IN_PROCESS: "ingest"})
    with collection_lock(database, "handbook"):
        assert [each.run_id for each in active_runs(instance, database, "handbook")] == [run.run_id]
    assert active_runs(instance, database, "handbook") == []
    assert status(instance, run) == dg.DagsterRunStatus.FAILURE


def test_a_run_that_was_never_submitted_does_not_block_its_collection(
    instance: dg.DagsterInstance, database: Database
) -> None:
    """A run that a daemon made and, being killed, never submitted counts as active for minutes, not for ever."""
    run = made_run(instance, "handbook")
    assert [each.run_id for each in active_runs(instance, database, "handbook")] == [run.run_id]
    minutes_pass(database, 3)
    assert active_runs(instance, database, "handbook") == []
    assert status(instance, run) == dg.DagsterRunStatus.FAILURE


def test_a_launched_run_without_a_process_does_not_block_its_collection(
    instance: dg.DagsterInstance, database: Database
) -> None:
    """A daemon that is killed in the middle of a launch leaves a run that is STARTING for ever, and others QUEUED."""
    run = launched_run(instance)
    assert [each.run_id for each in active_runs(instance, database, "handbook")] == [run.run_id]
    minutes_pass(database, 2)
    assert active_runs(instance, database, "handbook") == []
    assert status(instance, run) == dg.DagsterRunStatus.FAILURE


def test_a_launched_run_whose_process_loads_for_minutes_is_going_on(
    instance: dg.DagsterInstance, database: Database
) -> None:
    """A run that has a process gets the time that it needs."""
    run = launched_run(instance)
    instance.report_engine_event(f"Started process for run (pid: {os.getpid()}).", run)
    minutes_pass(database, 5)
    assert [each.run_id for each in active_runs(instance, database, "handbook")] == [run.run_id]


def test_a_killed_run_of_no_collection_ends(instance: dg.DagsterInstance, database: Database) -> None:
    """The nightly run holds no lock and has no partition: its process alone tells whether it goes on."""
    going_on, killed, early = (launched_run(instance, "retention", {}) for _ in range(3))
    of_a_collection = launched_run(instance)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    instance.report_engine_event(f"Started process for run (pid: {os.getpid()}).", going_on)
    for run in (killed, of_a_collection):
        instance.report_engine_event(f"Started process for run (pid: {ended.pid}).", run)
    assert partitions_with_unfinished_runs(instance) == {"", "handbook"}
    end_runs_of_no_collection(instance)
    assert status(instance, killed) == dg.DagsterRunStatus.FAILURE
    assert {status(instance, run) for run in (going_on, early, of_a_collection)} == {dg.DagsterRunStatus.STARTING}
    minutes_pass(database, 2)
    end_runs_of_no_collection(instance)
    assert status(instance, early) == dg.DagsterRunStatus.FAILURE, "it never got a process"
    assert status(instance, going_on) == dg.DagsterRunStatus.STARTING


def test_a_sensor_ends_a_killed_nightly_run(
    stages: Stages, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next tick does it, whatever it finds in the sources."""
    monkeypatch.setenv("SOURCEBOOK_HOME", str(stages.root.parent / "home"))
    stages.configure()
    run = launched_run(instance, "retention", {})
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    instance.report_engine_event(f"Started process for run (pid: {ended.pid}).", run)
    tick(changed_files_sensor, instance)
    assert status(instance, run) == dg.DagsterRunStatus.FAILURE


def launched_run(
    instance: dg.DagsterInstance, job: str = "ingest", tags: Mapping[str, str] = _OF_HANDBOOK
) -> dg.DagsterRun:
    """Make a run that the daemon has just taken from its queue."""
    return instance.add_run(dg.DagsterRun(job, tags=tags, status=dg.DagsterRunStatus.STARTING))


def minutes_pass(database: Database, minutes: int) -> None:
    """Let runs be older."""
    with psycopg.connect(database.url) as connection:
        earlier = datetime.now(UTC).replace(tzinfo=None) - timedelta(minutes=minutes)
        connection.execute("UPDATE runs SET create_timestamp = %(at)s, update_timestamp = %(at)s", {"at": earlier})
