"""The job `retention`: deletes old runs with their events, and rows that were removed long ago."""

import os
from datetime import UTC, datetime, timedelta

import dagster as dg
import psycopg
from pydantic import Field

from orchestration.jobs import ASSETS
from orchestration.schedules import TIME_ZONE, moment_of
from resources.knowledge import Knowledge
from resources.partition import COLLECTIONS
from sourcebook.admin.idempotent_answers import delete_old_answers
from sourcebook.admin.readings import delete_old_readings
from sourcebook.admin.retention import forget_removed
from sourcebook.admin.work_requests import forget_work
from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.database.query_log import delete_old_queries
from sourcebook.database.stage_runs import forget_stage_runs
from sourcebook.errors import ConfigurationError

RUN_DAYS, REMOVED_DAYS, REQUEST_DAYS = 30, 90, 90
MOST_RUNS = 5_000
"""Finished runs that are kept: under constant changes thirty days would be hundreds of thousands."""
_CONNECT_SECONDS = 10
_FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
_AT_ONCE = 20_000
"""Runs that one run of the job deletes at most."""


class RetentionConfig(dg.Config):
    """Ages in days; 0 keeps everything."""

    run_days: int = Field(default=RUN_DAYS, ge=0, description="Days that a finished run and its events are kept.")
    most_runs: int = Field(default=MOST_RUNS, ge=0, description="Finished runs that are kept; 0: those of all days.")
    removed_days: int = Field(
        default=REMOVED_DAYS, ge=0, description="Days that removed documents, files, pages and collections are kept."
    )


@dg.op
def delete_old_runs(context: dg.OpExecutionContext, config: RetentionConfig) -> None:
    """Delete finished runs with events and output; the run of the newest materialization of a partition stays."""
    deleted = delete_runs(context.instance, config.run_days, most=config.most_runs)
    context.log.info(
        f"deleted {deleted:,} runs that are older than {config.run_days} days, or not among the newest "
        f"{config.most_runs:,}"
    )


@dg.op(ins={"after": dg.In(dg.Nothing)})
def delete_removed_rows(context: dg.OpExecutionContext, config: RetentionConfig, knowledge: Knowledge) -> None:
    """Delete old entries of logs, old requests, and rows that were removed long ago unless an ingest is running."""
    from sourcebook.answering.kept_sessions import delete_old_turns
    from sourcebook.answering.logged_calls import delete_old_calls

    with knowledge.database.connection() as connection:
        if config.run_days:
            forget_runless_events(knowledge.database, config.run_days)
        forget_stage_runs(connection)
        delete_old_queries(connection)
        delete_old_readings(connection)
        delete_old_calls(connection)
        delete_old_turns(connection)
        forget_work(connection, timedelta(days=REQUEST_DAYS))
        while delete_old_answers(connection):
            pass
    age = timedelta(days=config.removed_days) if config.removed_days else None
    counts = forget_removed(knowledge.database, age)
    if counts is None:
        context.log.info("an ingest is running; removed rows wait for the next night")
        return
    listed = ", ".join(f"{number:,} {kind}" for kind, number in counts.items() if number) or "nothing"
    context.log.info(
        f"deleted {listed} that was removed more than {config.removed_days or 'endless'} days ago or, where a "
        "collection has one, longer ago than its setting retention.removed"
    )


@dg.job(
    executor_def=dg.in_process_executor,
    description="Delete old runs with their events, and rows of the knowledge base that were removed long ago.",
)
def retention() -> None:
    """Delete what is old."""
    delete_removed_rows(after=delete_old_runs())


@dg.schedule(
    name="nightly_retention",
    job=retention,
    cron_schedule="30 3 * * *",
    execution_timezone=TIME_ZONE,
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Deletes old runs and rows at 03:30 of the time zone; SOURCEBOOK_RUN_DAYS and SOURCEBOOK_REMOVED_DAYS "
    "set the ages.",
)
def nightly_retention(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
    """Request one run with the ages of the environment; nothing is deleted where one of them is no number of days."""
    try:
        config = RetentionConfig(
            run_days=_days("SOURCEBOOK_RUN_DAYS", RUN_DAYS),
            most_runs=most_runs(),
            removed_days=_days("SOURCEBOOK_REMOVED_DAYS", REMOVED_DAYS),
        )
    except ConfigurationError as error:
        return dg.SkipReason(f"nothing is deleted: {error}")
    ops = {"delete_old_runs": config, "delete_removed_rows": config}
    return dg.RunRequest(run_key=moment_of(context.scheduled_execution_time), run_config=dg.RunConfig(ops=ops))


def most_runs() -> int:
    """Return the number of finished runs that are kept; 0: all.

    Raises:
        ConfigurationError: SOURCEBOOK_MOST_RUNS is not a whole number from 0 on.
    """
    return _days("SOURCEBOOK_MOST_RUNS", MOST_RUNS)


def _days(variable: str, default: int) -> int:
    """Return the days that a variable of the environment sets.

    Raises:
        ConfigurationError: it is not a whole number from 0 on.
    """
    text = os.environ.get(variable, "").strip()
    if text and not (text.isascii() and text.isdigit()):
        kind = "runs, or 0 for all" if variable.endswith("RUNS") else "days, or 0 for ever"
        raise ConfigurationError(f"{variable} is {text!r}; it must be a whole number of {kind}")
    return int(text or default)


def forget_runless_events(database: Database, days: int) -> None:
    """Delete old observations and evaluations that sensors have reported, which belong to no run."""
    with psycopg.connect(database.dagster_url(), connect_timeout=_CONNECT_SECONDS) as connection:
        connection.execute(queries["forget_runless_events"], {"days": days})


def delete_runs(
    instance: dg.DagsterInstance, days: int, *, most: int = 0, at_once: int = _AT_ONCE, now: datetime | None = None
) -> int:
    """Delete finished runs with their events and their captured output.

    The run of the newest materialization of each asset and collection stays: it says that the partition is made.

    Args:
        instance: the Dagster instance.
        days: age in days from which runs are deleted; 0 deletes none for its age.
        most: number of runs that are kept; 0 keeps all.
        at_once: number of runs that are deleted at most.
        now: the present; by default the time of the system.

    Returns:
        The number of deleted runs.
    """
    found: list[str] = []
    if days:
        before = (now or datetime.now(UTC)) - timedelta(days=days)
        found += instance.get_run_ids(dg.RunsFilter(statuses=_FINISHED, created_before=before), limit=at_once)
    if most:
        found += instance.get_run_ids(dg.RunsFilter(statuses=_FINISHED), limit=most + at_once)[most:]
    kept = _newest_runs(instance) if found else set()
    doomed = [run_id for run_id in dict.fromkeys(found) if run_id not in kept][:at_once]
    for run_id in doomed:
        instance.compute_log_manager.delete_logs(prefix=[run_id])
        instance.delete_run(run_id)
    return len(doomed)


def _newest_runs(instance: dg.DagsterInstance) -> set[str]:
    """Return the runs of the newest materialization of each asset and collection."""
    found: set[str] = set()
    for asset in ASSETS:
        for collection in instance.get_dynamic_partitions(COLLECTIONS):
            newest = instance.fetch_materializations(
                dg.AssetRecordsFilter(asset_key=asset.key, asset_partitions=[collection]), limit=1
            )
            found.update(record.run_id for record in newest.records)
    return found
