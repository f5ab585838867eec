"""Abandoned runs: their process was killed, so that Dagster still records them as running."""

import re
import time
from collections.abc import Sequence

import dagster as dg
import psutil

from resources.partition import IN_PROCESS as IN_PROCESS
from resources.partition import PART, PARTITION, WHOLE
from sourcebook.admin.finished_runs import is_recording
from sourcebook.database.database import Database
from sourcebook.database.lock import is_locked, is_shard_locked
from sourcebook.model.shard import Shard

_SECONDS_TO_TAKE_THE_LOCK = 120
"""Seconds from the start of a run to its lock at most, where its process is unknown."""
_SECONDS_TO_BE_SUBMITTED = 120
"""Seconds from the creation of a run to its submission at most."""
_SECONDS_TO_GET_A_PROCESS = 90
"""Seconds from the launch of a run to the start of its process at most; Dagster's daemon waits 60 s for it."""
_STARTED = re.compile(r"Started process for .* \(pid: (\d+)\)")
"""Dagster's message with the id of a run's process."""
UNFINISHED = (
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)

_LAUNCHED = (dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING)


RECORDER = "recorder"
"""Value of that tag on the runs of small changes that are done; their process holds the recorder's lock."""


def active_runs(
    instance: dg.DagsterInstance, database: Database, partition: str, *, holding_lock: bool = False
) -> list[dg.DagsterRun]:
    """Return the unfinished runs of a partition, after recording abandoned ones as failed.

    A run holds the lock of its collection or shard from start to end: a started run without the lock is abandoned. So
    is a run that is not submitted long after its creation, or has no process long after its launch: the daemon was
    killed meanwhile. Dagster's run monitoring takes six minutes for that, in which no other run of the partition
    starts.

    Args:
        instance: the Dagster instance.
        database: the database with the lock.
        partition: the key of the partition.
        holding_lock: whether the caller holds the lock of the partition.
    """
    records = [record for record in _unfinished(instance) if record.dagster_run.tags.get(PARTITION) == partition]
    if not records:
        return []
    with database.connection() as connection:
        collection, shard = Shard.of_key(partition)
        locked = not holding_lock and (
            is_locked(connection, collection)
            if shard is None or any(WHOLE in record.dagster_run.tags for record in records)
            else is_shard_locked(connection, shard)
        )
        recording = is_recording(connection)
    active = []
    for record in records:
        # The run may have finished and released the lock since the records were read.
        run = instance.get_run_by_id(record.dagster_run.run_id)
        if run is None or run.status not in UNFINISHED:
            continue
        if run.tags.get(IN_PROCESS) == RECORDER:
            is_dead = not recording
        else:
            is_dead = not locked and _is_dead(instance, run, record, holding_lock=holding_lock)
        if is_dead:
            instance.report_run_failed(run, "The process of the run was killed; the next run continues its work.")
        else:
            active.append(run)
    return active


def is_of_a_part(run: dg.DagsterRun) -> bool:
    """Return whether a run leaves changes of its partition to others, or records what is done."""
    return PART in run.tags or run.tags.get(IN_PROCESS) == RECORDER


def partitions_with_unfinished_runs(instance: dg.DagsterInstance) -> set[str]:
    """Return the partitions for which `active_runs` may find a run, in one query for all of them.

    The key is empty for runs of no collection; see `end_runs_of_no_collection`.
    """
    return {record.dagster_run.tags.get(PARTITION, "") for record in _unfinished(instance)}


def end_runs_of_no_collection(instance: dg.DagsterInstance) -> None:
    """Record the abandoned runs of jobs without a partition, such as the nightly one, as failed.

    They hold no lock, so that only what is known of their process tells.
    """
    for record in _unfinished(instance):
        run = instance.get_run_by_id(record.dagster_run.run_id)
        if run is None or PARTITION in run.tags or run.status not in _LAUNCHED:
            continue
        if _process_has_ended(instance, run, record):
            instance.report_run_failed(run, "The process of the run was killed; the next one does its work.")


def _unfinished(instance: dg.DagsterInstance) -> Sequence[dg.RunRecord]:
    # Not by tag: Dagster commits the row of a run before the rows of its tags, so a run killed in between has none; its
    # body has them. Unfinished runs are few, and their status is indexed.
    return instance.get_run_records(dg.RunsFilter(statuses=list(UNFINISHED)))


def _is_dead(instance: dg.DagsterInstance, run: dg.DagsterRun, record: dg.RunRecord, *, holding_lock: bool) -> bool:
    """Return whether an unfinished run whose lock no other process holds is abandoned."""
    if IN_PROCESS in run.tags:
        return True
    if run.status == dg.DagsterRunStatus.NOT_STARTED:
        return _is_apart(record.create_timestamp.timestamp(), _SECONDS_TO_BE_SUBMITTED)
    if holding_lock:  # the run may be waiting for the caller, who may be on another machine
        return False
    return _process_has_ended(instance, run, record) or (
        run.status in (dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING)
        and record.start_time is not None
        and _is_apart(record.start_time, _SECONDS_TO_TAKE_THE_LOCK)
    )


def _is_apart(moment: float, seconds: float) -> bool:
    """Return whether a moment is past for longer, or ahead by more: it was recorded by a clock that was wrong."""
    return abs(time.time() - moment) > seconds


def _process_has_ended(instance: dg.DagsterInstance, run: dg.DagsterRun, record: dg.RunRecord) -> bool:
    """Return whether the process of a run has ended or never began, where Dagster's default launcher starts it here."""
    if not isinstance(instance.run_launcher, dg.DefaultRunLauncher):
        return False
    started = [
        match
        for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
        if (match := _STARTED.search(entry.message))
    ]
    if not started:
        return record.dagster_run.status == run.status == dg.DagsterRunStatus.STARTING and _is_apart(
            record.update_timestamp.timestamp(), _SECONDS_TO_GET_A_PROCESS
        )
    try:
        return psutil.Process(int(started[-1][1])).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def free_abandoned_slots(instance: dg.DagsterInstance, database: Database, held: str) -> bool:
    """Free the pool slots of runs that have ended, and return whether other runs still hold slots.

    Args:
        instance: the Dagster instance.
        database: the database with the locks of the collections.
        held: the partition whose lock the caller holds.
    """
    storage = instance.event_log_storage
    taken = False
    for run_id in storage.get_concurrency_run_ids():
        run = instance.get_run_by_id(run_id)
        partition = run.tags.get(PARTITION) if run else None
        active = (
            active_runs(instance, database, partition, holding_lock=partition == held)
            if run is not None and partition is not None and run.status in UNFINISHED
            else []
        )
        if any(run.run_id == run_id for run in active):
            taken = True
        else:
            storage.free_concurrency_slots_for_run(run_id)
    return taken
