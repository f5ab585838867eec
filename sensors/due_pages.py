"""The sensor `due_pages`: runs for collections with a due site or page."""

import dagster as dg

from resources.knowledge import Knowledge
from resources.run_uses import uses_of_sources
from resources.source_events import SITES
from sensors.run_requests import Before, Look, look_at_collections, request_run
from sourcebook.database.database import Database
from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard
from sourcebook.web.due import due_pages, next_due


@dg.sensor(
    name="due_pages",
    job_name="ingest",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Requests a run when the refresh interval of a site or the retry time of a page has passed.",
)
def due_pages_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Request one run per partition with due sites or pages, from the ledger alone."""

    def look(database: Database, partition: str, before: Before) -> Look:
        collection, shard = Shard.of_key(partition)
        with database.connection() as connection:
            due = due_pages(connection, collection, Selection(shard=shard))
            if due.urls:
                outcome = request_run(
                    context.instance,
                    connection,
                    partition,
                    due.fingerprint,
                    uses=uses_of_sources(connection, collection, sites=True),
                )
                return Look(outcome, due.fingerprint, {"due_urls": due.urls})
            again = next_due(connection, collection)
        return Look(f"no page is due before {again:%Y-%m-%d %H:%M} UTC" if again else "no web sites")

    return look_at_collections(context, knowledge, SITES, look)
