"""The sensor `due_pages`: runs for collections with a due site or page."""

import dagster as dg

from resources.knowledge import Knowledge
from sensors.run_requests import look_at_collections, request_run
from sourcebook.database.database import Database
from sourcebook.web.due import due_pages, next_due


@dg.sensor(
    name="due_pages",
    job_name="ingest",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Requests a run when the refresh interval of a site or the retry time of a page has passed.",
)
def due_pages_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Request one run per collection with due sites or pages, from the ledger alone."""

    def look(database: Database, collection: str) -> dg.RunRequest | str:
        with database.connection() as connection:
            due = due_pages(connection, collection)
            again = None if due.urls else next_due(connection, collection)
        if not due.urls:
            return f"the next page is due at {again:%Y-%m-%d %H:%M} UTC" if again else "it has no web sites"
        return request_run(context.instance, collection, due.fingerprint)

    requests, reason = look_at_collections(context.instance, knowledge, look)
    return dg.SensorResult(run_requests=requests, skip_reason=reason)
