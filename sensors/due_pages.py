"""The sensor `due_pages`: a run for every collection of which a site or a page is due."""

import dagster as dg

from resources.abandoned_runs import active_runs
from resources.collection_partitions import COLLECTIONS
from resources.knowledge import Knowledge
from resources.run_requests import request_run
from sourcebook.database.database import Database
from sourcebook.web.due import due_pages, next_due


@dg.sensor(
    name="due_pages",
    job_name="ingest",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Asks for a run when a site's refresh interval, or the time to try a page again, has come.",
)
def due_pages_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Request one run for each collection that has something due; the ledger alone tells."""
    requests: list[dg.RunRequest] = []
    reasons: list[str] = []
    with knowledge.opened() as database:
        for collection in sorted(context.instance.get_dynamic_partitions(COLLECTIONS)):
            outcome = _look(context.instance, database, collection)
            if isinstance(outcome, dg.RunRequest):
                requests.append(outcome)
            else:
                reasons.append(f"{collection}: {outcome}")
    return dg.SensorResult(
        run_requests=requests,
        skip_reason=None if requests else "; ".join(reasons) or "there is no collection yet",
    )


def _look(instance: dg.DagsterInstance, database: Database, collection: str) -> dg.RunRequest | str:
    """Return a request, or why there is none."""
    with database.connection() as connection:
        due = due_pages(connection, collection)
        again = None if due.urls else next_due(connection, collection)
    if not due.urls:
        return f"the next page is due at {again:%Y-%m-%d %H:%M} UTC" if again else "it has no web sites"
    active = active_runs(instance, database, collection)
    if active:
        return f"run {active[0].run_id[:8]} works on it"
    return request_run(instance, collection, due.fingerprint)
