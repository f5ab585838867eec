"""Runs whose process was killed: nobody reported their end, so they would seem to run for ever."""

import time

import dagster as dg

from sourcebook.database.database import Database
from sourcebook.database.lock import is_locked

_SECONDS_TO_TAKE_THE_LOCK = 120
_SECONDS_TO_BE_SUBMITTED = 600
_PARTITION = "dagster/partition"

UNFINISHED = (
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


IN_PROCESS = "sourcebook/command"
"""Tag of runs that `sourcebook ingest` executes itself; it takes the lock before it makes the run."""


def active_runs(
    instance: dg.DagsterInstance, database: Database, collection: str, *, holding_lock: bool = False
) -> list[dg.DagsterRun]:
    """Return the unfinished runs of a collection; one that died in the middle is recorded as failed first.

    A run holds its collection's lock from its start to its end. One that has started, and does not, is dead. So is one
    that nobody has submitted long after making it.

    Args:
        instance: Dagster's.
        database: where the lock is.
        collection: the partition.
        holding_lock: whether the caller holds the collection's lock, so that nobody else does.
    """
    # Not by tag: Dagster commits a run's row before the rows of its tags, so a run killed in between has none. Its body
    # has them all the same. Unfinished runs are few, and their status is indexed.
    unfinished = instance.get_run_records(dg.RunsFilter(statuses=list(UNFINISHED)))
    records = [record for record in unfinished if record.dagster_run.tags.get(_PARTITION) == collection]
    if not records:
        return []
    with database.connection() as connection:
        locked = not holding_lock and is_locked(connection, collection)
    active = []
    for record in records:
        # It may have finished, and let go of the lock, since the records were read.
        run = instance.get_run_by_id(record.dagster_run.run_id)
        if run is None or run.status not in UNFINISHED:
            continue
        if not locked and _is_dead(run, record, holding_lock=holding_lock):
            instance.report_run_failed(run, "The run's process ended without a word; the next run goes on from there.")
        else:
            active.append(run)
    return active


def _is_dead(run: dg.DagsterRun, record: dg.RunRecord, *, holding_lock: bool) -> bool:
    """Return whether an unfinished run, of which nobody else holds the lock, will never go on."""
    if IN_PROCESS in run.tags:
        return True
    if run.status == dg.DagsterRunStatus.NOT_STARTED:
        return time.time() - record.create_timestamp.timestamp() > _SECONDS_TO_BE_SUBMITTED
    return (
        not holding_lock  # it may be waiting for the caller
        and run.status in (dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING)
        and record.start_time is not None
        and time.time() - record.start_time > _SECONDS_TO_TAKE_THE_LOCK
    )


def free_abandoned_slots(instance: dg.DagsterInstance, database: Database, held: str) -> bool:
    """Give back the places in pools of runs that have ended; return whether others still hold some.

    Args:
        instance: Dagster's.
        database: where the collections' locks are.
        held: the collection of which the caller holds the lock.
    """
    storage = instance.event_log_storage
    taken = False
    for run_id in storage.get_concurrency_run_ids():
        run = instance.get_run_by_id(run_id)
        collection = run.tags.get(_PARTITION) if run else None
        active = (
            active_runs(instance, database, collection, holding_lock=collection == held)
            if run is not None and collection is not None and run.status in UNFINISHED
            else []
        )
        if any(run.run_id == run_id for run in active):
            taken = True
        else:
            storage.free_concurrency_slots_for_run(run_id)
    return taken
