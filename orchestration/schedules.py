"""The schedules `nightly` and `weekly`: ingests of every collection that compare everything."""

from datetime import UTC, datetime
from typing import Any, Final

import dagster as dg
from psycopg import Connection

from orchestration.jobs import ingest
from resources.knowledge import Knowledge
from resources.partition import COLLECTIONS, collection_of
from resources.run_uses import Use, assets_of, queued_run_tags, uses_of_everything
from sourcebook.config.loading import configured_time_zone
from sourcebook.errors import GoneCollectionError

TIME_ZONE: Final = configured_time_zone()
"""Time zone of the schedules, by `time_zone` of the configuration when the code location is loaded."""


def _looking(**closer: bool) -> dict[str, Any]:
    """Return the configuration of a run that takes all rows, not only those that changed."""
    return {"resources": {"selection": {"config": {"thorough": True, **closer}}}}


@dg.schedule(
    name="nightly",
    job=ingest,
    cron_schedule="0 2 * * *",
    execution_timezone=TIME_ZONE,
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Ingests every collection at 02:00 of the time zone, and compares, counts and checks all of its rows.",
)
def nightly(context: dg.ScheduleEvaluationContext, knowledge: Knowledge) -> dg.SkipReason | list[dg.RunRequest]:
    """Request one run per collection."""
    return _runs(context, knowledge, "", _looking())


@dg.schedule(
    name="weekly",
    job=ingest,
    cron_schedule="0 4 * * 0",
    execution_timezone=TIME_ZONE,
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Reconciles every collection on Sundays at 04:00 of the time zone: as nightly, and hashes every file.",
)
def weekly(context: dg.ScheduleEvaluationContext, knowledge: Knowledge) -> dg.SkipReason | list[dg.RunRequest]:
    """Request one run per collection, as `sourcebook reconcile --deep` does."""
    return _runs(context, knowledge, "deep:", _looking(deep=True))


def _runs(
    context: dg.ScheduleEvaluationContext, knowledge: Knowledge, kind: str, configuration: dict[str, Any]
) -> dg.SkipReason | list[dg.RunRequest]:
    partitions = sorted(context.instance.get_dynamic_partitions(COLLECTIONS))
    if not partitions:
        return dg.SkipReason("there is no collection yet: create sourcebook.yaml")
    moment = moment_of(context.scheduled_execution_time)
    with knowledge.opened() as database, database.connection() as connection:
        uses = {name: _uses(connection, name) for name in {collection_of(partition) for partition in partitions}}
    return [
        dg.RunRequest(
            run_key=f"{kind}{moment}:{partition}",
            partition_key=partition,
            asset_selection=assets_of(uses[collection_of(partition)]),
            run_config=configuration,
            tags=queued_run_tags(uses[collection_of(partition)]),
        )
        for partition in partitions
    ]


def _uses(connection: Connection, collection: str) -> frozenset[Use]:
    """Return what the run of a collection uses; all of it where the collection is not known yet."""
    try:
        return uses_of_everything(connection, collection)
    except GoneCollectionError:
        return frozenset(Use)


def moment_of(scheduled: datetime) -> str:
    """Return the moment of a tick for the key of its run.

    Two nights in a row can have one date in UTC: in Athens 02:00 is 00:00 UTC in winter and 23:00 UTC in summer.
    """
    return f"{scheduled.astimezone(UTC):%Y-%m-%dT%H:%MZ}"
