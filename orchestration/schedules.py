"""The schedule `nightly`: an ingest of every collection once a night."""

import dagster as dg

from orchestration.jobs import ingest
from orchestration.partitions import COLLECTIONS

_THOROUGH = {"resources": {"selection": {"config": {"thorough": True}}}}
"""Configuration of a run that takes all rows, not only those that changed."""


@dg.schedule(
    name="nightly",
    job=ingest,
    cron_schedule="0 2 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Ingests every collection at 02:00, and compares, counts and checks all of its rows.",
)
def nightly(context: dg.ScheduleEvaluationContext) -> dg.SkipReason | list[dg.RunRequest]:
    """Request one run per collection."""
    collections = sorted(context.instance.get_dynamic_partitions(COLLECTIONS))
    if not collections:
        return dg.SkipReason("there is no collection yet: create sourcebook.yaml")
    night = context.scheduled_execution_time.date().isoformat()
    return [dg.RunRequest(run_key=f"{night}:{name}", partition_key=name, run_config=_THOROUGH) for name in collections]
