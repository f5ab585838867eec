"""The schedule `nightly`: every collection once a night, whatever the sensors saw."""

import dagster as dg

from orchestration.jobs import ingest
from orchestration.partitions import COLLECTIONS


@dg.schedule(
    name="nightly",
    job=ingest,
    cron_schedule="0 2 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Every collection, at two in the morning.",
)
def nightly(context: dg.ScheduleEvaluationContext) -> dg.SkipReason | list[dg.RunRequest]:
    """Request a run for each collection."""
    collections = sorted(context.instance.get_dynamic_partitions(COLLECTIONS))
    if not collections:
        return dg.SkipReason("there is no collection yet: write sourcebook.yaml")
    night = context.scheduled_execution_time.date().isoformat()
    return [dg.RunRequest(run_key=f"{night}:{name}", partition_key=name) for name in collections]
