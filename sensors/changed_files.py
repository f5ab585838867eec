"""The sensor `changed_files`: a run for every collection whose sources differ from the ledger."""

import json

import dagster as dg

from resources.abandoned_runs import active_runs
from resources.collection_partitions import COLLECTIONS
from resources.knowledge import Knowledge
from resources.run_requests import request_run
from sourcebook.database.database import Database
from sourcebook.pending import find_pending


@dg.sensor(
    name="changed_files",
    job_name="ingest",
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Compares sources with the ledger by name, size and time; takes a change once two readings agree.",
)
def changed_files_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Request one run for each collection and change set. The cursor holds the last reading of each collection."""
    before: dict[str, str] = json.loads(context.cursor or "{}")
    after: dict[str, str] = {}
    requests: list[dg.RunRequest] = []
    reasons: list[str] = []
    with knowledge.opened() as database:
        for collection in sorted(context.instance.get_dynamic_partitions(COLLECTIONS)):
            outcome = _look(context.instance, database, collection, before.get(collection), after)
            if isinstance(outcome, dg.RunRequest):
                requests.append(outcome)
            else:
                reasons.append(f"{collection}: {outcome}")
    return dg.SensorResult(
        run_requests=requests,
        skip_reason=None if requests else "; ".join(reasons) or "there is no collection yet",
        cursor=json.dumps(after),
    )


def _look(
    instance: dg.DagsterInstance, database: Database, collection: str, last_reading: str | None, after: dict[str, str]
) -> dg.RunRequest | str:
    """Return a request, or why there is none; note the reading for the next tick."""
    active = active_runs(instance, database, collection)
    if active:
        return f"run {active[0].run_id[:8]} works on it"
    with database.connection() as connection:
        pending = find_pending(connection, collection)
    if not pending.work_beside_pages:
        return pending.unlisted[0] if pending.unlisted else "nothing changed"
    after[collection] = pending.fingerprint
    if pending.fingerprint != last_reading:
        return f"{pending.items - pending.pages} items changed; taken when the next reading agrees"
    return request_run(instance, collection, pending.fingerprint)
