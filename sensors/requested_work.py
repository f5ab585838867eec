"""The sensor `requested_work`: runs for requests that wait, and the end of those whose run has ended."""

import time
from typing import Final

import dagster as dg
from psycopg import Connection

from resources.knowledge import Knowledge
from resources.partition import COLLECTIONS, WHOLE, collection_of, extent_tags
from resources.requested_run import WORK_ATTEMPT, WORK_REQUEST, is_repeated
from resources.run_uses import assets_of, configured_tags, queued_run_tags, uses_of_request
from sensors.abandoned_runs import UNFINISHED, active_runs, is_of_a_part, partitions_with_unfinished_runs
from sensors.run_failures import failure_of, show_as_cancelled
from sourcebook.admin.claimed_work import DAGSTER, MOST_ATTEMPTS, recover_work, selection_of
from sourcebook.admin.pending import is_small_part
from sourcebook.admin.work_requests import claim_work, end_work, waiting_work
from sourcebook.database.database import Database
from sourcebook.database.queries import queries

_SECONDS_FOR_THE_WATCH: Final = 3
"""Seconds that a request waits for the watch of `sourcebook up`, which does small ones at once."""
_SECONDS_FOR_A_SMALL_ONE: Final = 30.0
"""Seconds that a small one waits for the watch while that runs, and works on others: a run costs more than it does."""
_SECONDS_TO_GET_A_RUN: Final = 120.0
"""Seconds after which a claimed request without a run is claimed again: the daemon was killed in between."""
_SECONDS_FOR_DAGSTER: Final = 20.0
"""Seconds that Dagster's daemon gets to create a run, or to retry a killed one."""
_SECONDS_FOR_A_LATE_RUN: Final = 3600.0
"""Seconds in which a run is cancelled that comes after its cancelled request was given up."""


@dg.sensor(
    name="requested_work",
    job_name="ingest",
    minimum_interval_seconds=5,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Requests a run for work that was asked for over the API, by an agent or with `ingest --ask`.",
)
def requested_work_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Request one run per collection with waiting work, for all requests that differ in their documents alone.

    It waits for a run of the whole collection, after which there may be less to do, but not for one that is queued:
    they take turns. Nor does it wait for runs of parts, of which there may always be one.
    """
    requests: list[dg.RunRequest] = []
    reasons: list[str] = []
    with knowledge.opened() as database, database.connection() as connection:
        recover_work(connection)
        at_work = _follow_runs(context.instance, connection)
        known: dict[str, list[str]] = {}
        for key in sorted(context.instance.get_dynamic_partitions(COLLECTIONS)):
            known.setdefault(collection_of(key), []).append(key)
        values = {"seconds": _SECONDS_FOR_THE_WATCH}
        waiting = dict(connection.execute(queries["collections_with_waiting_work"], values).fetchall())
        has_watch = connection.execute(queries["watch_runs"]).fetchone() == (True,)
        busy = partitions_with_unfinished_runs(context.instance) if waiting else set()
        if waiting:
            configured_tags()  # a mistake in them is no reason to claim a request
        for name, seconds in waiting.items():
            if name not in known:
                reasons.append(f"{name} has no partition yet")
            elif has_watch and seconds < _SECONDS_FOR_A_SMALL_ONE and _is_small(connection, name):
                reasons.append(f"the work of {name} is left to the watch")
            elif name in at_work or any(
                key in busy and _is_taken(context.instance, database, key) for key in known[name]
            ):
                reasons.append(f"{name} has a run in progress")
            else:
                requests += _claimed(connection, name, known[name][0])
    reason = "; ".join(reasons) or "no request waits"
    return dg.SensorResult(run_requests=requests, skip_reason=None if requests else reason)


def _is_small(connection: Connection, collection: str) -> bool:
    """Return whether the oldest waiting work of a collection is for the watch."""
    for request in waiting_work(connection):
        if request.collection == collection:
            selection = selection_of(connection, request)
            return selection is None or is_small_part(connection, collection, selection)
    return True


def _is_taken(instance: dg.DagsterInstance, database: Database, partition: str) -> bool:
    """Return whether a run of all of a partition has left the queue."""
    return any(
        run.status != dg.DagsterRunStatus.QUEUED and not is_of_a_part(run)
        for run in active_runs(instance, database, partition)
    )


def _claimed(connection: Connection, collection: str, partition: str) -> list[dg.RunRequest]:
    """Claim the oldest request of a collection and those that its run can do, and return a request for the run.

    Where the collection has several shards, one run works on all of it, in the partition of one of them.
    """
    request = claim_work(connection, worker=DAGSTER, collection=collection)
    if request is None:  # another worker was faster
        return []
    selection = selection_of(connection, request)
    if selection is None:
        end_work(connection, request.id, "succeeded")
        return []
    uses = uses_of_request(connection, collection, selection)
    chosen = {
        "documents": list(selection.documents),
        "sources": list(selection.sources),
        "only_failed": selection.only_failed,
        "force": selection.force,
        "accept": selection.accept,
    }
    return [
        dg.RunRequest(
            run_key=f"work:{request.id}:{request.attempts}",
            partition_key=partition,
            asset_selection=assets_of(uses),
            run_config={"resources": {"selection": {"config": chosen}}},
            tags={
                WORK_REQUEST: str(request.id),
                WORK_ATTEMPT: str(request.attempts),
                **extent_tags(selection),
                **({} if partition == collection else {WHOLE: "true"}),
                **queued_run_tags(uses),
            },
        )
    ]


def _follow_runs(instance: dg.DagsterInstance, connection: Connection) -> set[str]:
    """Cancel runs whose request was cancelled, end requests whose run has ended; return the collections of the others.

    Dagster's daemon may need longer to create a run than a cancelled request waits for it.
    """
    values = {"seconds": _SECONDS_FOR_A_LATE_RUN}
    for (number,) in connection.execute(queries["cancelled_work_without_run"], values).fetchall():
        statuses = [*UNFINISHED, dg.DagsterRunStatus.FAILURE]
        for run in instance.get_runs(dg.RunsFilter(tags={WORK_REQUEST: str(number)}, statuses=statuses)):
            if not is_repeated(run):
                _cancel(instance, run)
    at_work: set[str] = set()
    rows = connection.execute(queries["work_of_dagster"], {"worker": DAGSTER}).fetchall()
    for number, attempt, is_cancelled, seconds, collection in rows:
        tags = {WORK_REQUEST: str(number), WORK_ATTEMPT: str(attempt)}
        records = instance.get_run_records(dg.RunsFilter(tags=tags), limit=1)
        if not records:
            if seconds > (_SECONDS_FOR_DAGSTER if is_cancelled else _SECONDS_TO_GET_A_RUN):
                values = {"id": number, "most": MOST_ATTEMPTS}
                connection.execute(queries["recover_dagster_work"], values)
            else:
                at_work.add(collection)
            continue
        run = records[0].dagster_run
        if run.status in UNFINISHED:
            at_work.add(collection)
            if is_cancelled:
                _cancel(instance, run)
        elif run.status == dg.DagsterRunStatus.SUCCESS:
            end_work(connection, number, "succeeded", attempt=attempt)
        elif run.status == dg.DagsterRunStatus.CANCELED or is_cancelled:
            _cancel(instance, run)
            end_work(connection, number, "cancelled", attempt=attempt)
        elif not _may_be_retried(records[0]):
            failure = failure_of(instance, run.run_id)
            if failure.is_deterministic or attempt >= MOST_ATTEMPTS:
                end_work(connection, number, "failed", failure.reason, attempt=attempt)
            else:
                connection.execute(queries["wait_again"], {"id": number, "attempt": attempt})
        else:
            at_work.add(collection)
    return at_work


def _cancel(instance: dg.DagsterInstance, run: dg.DagsterRun) -> None:
    """Cancel a run that is unfinished, once; show one as cancelled that failed as its process was ended so early."""
    if run.status == dg.DagsterRunStatus.FAILURE:
        show_as_cancelled(instance, run.run_id)
    elif run.status in UNFINISHED and run.status != dg.DagsterRunStatus.CANCELING:
        instance.run_coordinator.cancel_run(run.run_id)


def _may_be_retried(record: dg.RunRecord) -> bool:
    """Return whether Dagster is about to start a failed run again."""
    will = record.dagster_run.tags.get("dagster/will_retry") == "true"
    return will and time.time() - (record.end_time or 0) < _SECONDS_FOR_DAGSTER
