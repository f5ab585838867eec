"""The sensor `changed_records`: runs for collections whose tables and programs have other records."""

import hashlib

import dagster as dg
from psycopg import Connection

from resources.knowledge import Knowledge
from resources.run_uses import uses_of_sources
from resources.source_events import FOLDERS
from sensors.run_requests import Before, Look, look_at_collections, request_run
from sourcebook.database.database import Database
from sourcebook.database.lock import is_locked
from sourcebook.model.shard import Shard
from sourcebook.stages.raw_files import collection_sources, compare
from sourcebook.stages.raw_files.source_records import awaited_assets, fetch_records, wake_records


@dg.sensor(
    name="changed_records",
    job_name="ingest",
    minimum_interval_seconds=5,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Looks at tables and programs whose interval has passed, or whose assets upstream were materialized; "
    "requests a run where records differ.",
)
def changed_records_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Request one run per collection with other records; a source is read for the first time by its run."""

    def look(database: Database, partition: str, before: Before) -> Look:
        collection, shard = Shard.of_key(partition)
        if shard is not None and shard.number > 1:
            return Look("the first shard of a collection looks at its records")
        with database.connection() as connection:
            _wake(context.instance, connection, collection)
            if is_locked(connection, collection):
                return Look("a process works on the collection")
            fetch_records(connection, collection, only_due=True, only_known=True)
            sources = [each for each in collection_sources(connection, collection) if each.records is not None]
            differences = [compare(connection, source) for source in sources]
            changed = [f"{entry.uri} {entry.modified}" for each in differences for entry in each.to_read]
            changed += [f"{uri} gone" for each in differences for uri in each.gone]
            if not changed:
                return Look("no records are due, or none has changed")
            reading = hashlib.sha256("\n".join(sorted(changed)).encode()).hexdigest()[:32]
            uses = uses_of_sources(connection, collection, sites=False)
            outcome = request_run(context.instance, connection, partition, reading, uses=uses)
        return Look(outcome, reading, {"changed_records": len(changed)})

    return look_at_collections(context, knowledge, FOLDERS, look)


def _wake(instance: dg.DagsterInstance, connection: Connection, collection: str) -> None:
    """Let sources be looked at whose assets upstream were materialized since the last look."""
    for source_id, keys, known in awaited_assets(connection, collection):
        latest: dict[str, int] = {}
        for key in keys:
            found = instance.fetch_materializations(dg.AssetKey(key.split("/")), limit=1).records
            if found:
                latest[key] = found[0].storage_id
        if latest != known:
            wake_records(connection, source_id, latest)
