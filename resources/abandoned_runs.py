"""Runs whose process was killed: nobody reported their end, so they would seem to run for ever."""

import time

import dagster as dg

from sourcebook.database.database import Database
from sourcebook.database.lock import is_locked

_SECONDS_TO_TAKE_THE_LOCK = 120

UNFINISHED = (
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
)


def active_runs(instance: dg.DagsterInstance, database: Database, collection: str) -> list[dg.DagsterRun]:
    """Return the unfinished runs of a collection; one that died in the middle is recorded as failed first.

    A run holds its collection's lock from its start to its end. One that has started, and does not, is dead.
    """
    records = instance.get_run_records(dg.RunsFilter(tags={"dagster/partition": collection}, statuses=list(UNFINISHED)))
    if not records:
        return []
    with database.connection() as connection:
        locked = is_locked(connection, collection)
    active = []
    for record in records:
        run = record.dagster_run
        started = record.start_time
        dead = (
            run.status in (dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING)
            and not locked
            and started is not None
            and time.time() - started > (0 if IN_PROCESS in run.tags else _SECONDS_TO_TAKE_THE_LOCK)
        )
        if dead:
            instance.report_run_failed(run, "The run's process ended without a word; the next run goes on from there.")
        else:
            active.append(run)
    return active


IN_PROCESS = "sourcebook/command"
"""Tag of runs that `sourcebook ingest` executes itself; it takes the lock before it makes the run."""
