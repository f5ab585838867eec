"""The schedules `nightly` and `weekly`: ingests of every collection that compare everything."""

from typing import Any

import dagster as dg

from orchestration.jobs import ingest
from orchestration.partitions import COLLECTIONS


def _looking(**closer: bool) -> dict[str, Any]:
    """Return the configuration of a run that takes all rows, not only those that changed."""
    return {"resources": {"selection": {"config": {"thorough": True, **closer}}}}


@dg.schedule(
    name="nightly",
    job=ingest,
    cron_schedule="0 2 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Ingests every collection at 02:00, and compares, counts and checks all of its rows.",
)
def nightly(context: dg.ScheduleEvaluationContext) -> dg.SkipReason | list[dg.RunRequest]:
    """Request one run per collection."""
    return _runs(context, "", _looking())


@dg.schedule(
    name="weekly",
    job=ingest,
    cron_schedule="0 4 * * 0",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Reconciles every collection on Sundays at 04:00: as nightly, and hashes every file.",
)
def weekly(context: dg.ScheduleEvaluationContext) -> dg.SkipReason | list[dg.RunRequest]:
    """Request one run per collection, as `sourcebook reconcile --deep` does."""
    return _runs(context, "deep:", _looking(deep=True))


def _runs(
    context: dg.ScheduleEvaluationContext, kind: str, configuration: dict[str, Any]
) -> dg.SkipReason | list[dg.RunRequest]:
    collections = sorted(context.instance.get_dynamic_partitions(COLLECTIONS))
    if not collections:
        return dg.SkipReason("there is no collection yet: create sourcebook.yaml")
    day = context.scheduled_execution_time.date().isoformat()
    return [
        dg.RunRequest(run_key=f"{kind}{day}:{name}", partition_key=name, run_config=configuration)
        for name in collections
    ]
