"""The sensor `changed_files`: runs for collections whose sources differ from the ledger."""

import json

import dagster as dg

from resources.knowledge import Knowledge
from sensors.run_requests import look_at_collections, request_run
from sourcebook.admin.pending import find_pending
from sourcebook.database.database import Database


@dg.sensor(
    name="changed_files",
    job_name="ingest",
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Compares sources with the ledger by name, size and time; requests a run once two readings agree.",
)
def changed_files_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Request one run per collection and change set; the cursor contains the last reading of each collection."""
    before: dict[str, str] = json.loads(context.cursor or "{}")
    after: dict[str, str] = {}

    def look(database: Database, collection: str) -> dg.RunRequest | str:
        with database.connection() as connection:
            pending = find_pending(connection, collection)
        if not pending.work_beside_pages:
            return pending.unlisted[0] if pending.unlisted else "nothing changed"
        after[collection] = pending.fingerprint
        if pending.fingerprint != before.get(collection):
            return f"{pending.items_beside_pages} items changed; ingested when the next reading agrees"
        return request_run(context.instance, collection, pending.fingerprint)

    requests, reason = look_at_collections(context.instance, knowledge, look)
    return dg.SensorResult(run_requests=requests, skip_reason=reason, cursor=json.dumps(after))
