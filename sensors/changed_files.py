"""The sensor `changed_files`: runs for collections whose sources differ from the ledger."""

import dagster as dg

from resources.knowledge import Knowledge
from resources.run_uses import uses_of
from resources.source_events import FOLDERS
from sensors.run_requests import Look, look_at_collections, request_run
from sourcebook.admin.collections import givers
from sourcebook.admin.freshness import record_comparison
from sourcebook.admin.pending import find_pending
from sourcebook.admin.planning.plan import plan_collection
from sourcebook.database.database import Database
from sourcebook.database.lock import is_locked
from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard
from sourcebook.stages.raw_files import Difference


@dg.sensor(
    name="changed_files",
    job_name="ingest",
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Compares sources with the ledger by name, size and time; requests a run once two readings agree.",
)
def changed_files_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Request one run per partition and change set; the cursor contains the last reading of each partition."""
    compared: dict[str, dict[int, Difference]] = {}
    behind: set[str] = set()

    def look(database: Database, partition: str, before: str | None) -> Look:
        collection, shard = Shard.of_key(partition)
        with database.connection() as connection:
            seen = None if shard is None else compared.setdefault(collection, {})  # listed once for all of its shards
            pending = find_pending(connection, collection, Selection(shard=shard), compared=seen)
            settled = None if is_locked(connection, collection) else pending.settled_parsers
            if pending.work_beside_pages:
                behind.add(collection)
            is_behind = collection in behind
            # Of shards, once for all of them; what an active run of another shard leaves is not known yet.
            if shard is None or (shard.number == shard.of and (is_behind or not is_locked(connection, collection))):
                record_comparison(connection, collection, behind=is_behind, settled_parsers=settled)
            if not pending.work_beside_pages:
                return Look(pending.unlisted[0] if pending.unlisted else "nothing changed")
            counts = {
                "new_or_changed_files": pending.changed_files,
                "gone_files": pending.gone_files,
                "stale_documents": max(pending.documents, pending.index),
            }
            at_work = [giver for giver in givers(connection, collection) if is_locked(connection, giver)]
            if at_work and not (pending.changed_files or pending.gone_files):
                reason = f"waiting for the run of {' and '.join(at_work)}, whose documents it takes"
                return Look(reason, pending.fingerprint, counts)
            if pending.fingerprint != before:
                reason = f"waiting for a second reading that agrees ({pending.items_beside_pages:,} items changed)"
                return Look(reason, pending.fingerprint, counts)
            outcome = request_run(
                context.instance,
                connection,
                partition,
                pending.fingerprint,
                lambda: plan_collection(connection, collection, pending).summary,
                uses=uses_of(connection, collection, pending),
            )
        return Look(outcome, pending.fingerprint, counts)

    return look_at_collections(context, knowledge, FOLDERS, look)
