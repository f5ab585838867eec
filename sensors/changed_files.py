"""The sensor `changed_files`: runs for collections whose sources differ from the ledger."""

import time
from datetime import UTC, datetime

import dagster as dg
from psycopg import Connection

from resources.knowledge import Knowledge
from resources.run_uses import uses_of
from resources.source_events import FOLDERS
from sensors.first_seen import first_seen, waiting_seconds
from sensors.run_requests import SECONDS_AT_REST, Before, Look, last_taken, look_at_collections, request_run
from sourcebook.admin.collections import givers
from sourcebook.admin.freshness import record_comparison
from sourcebook.admin.pending import Pending, find_pending
from sourcebook.database.database import Database
from sourcebook.database.lock import is_locked
from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard
from sourcebook.stages.raw_files import Difference

_THIRD_LOOK = 15.0
"""Seconds after which a change is there at the third look: the watch has left it."""
_LONGEST_WRITING = 60.0
"""Seconds after which files are taken that are still being written, as somebody may never stop."""


@dg.sensor(
    name="changed_files",
    job_name="ingest",
    minimum_interval_seconds=10,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Compares sources with the ledger by name, size and time; requests a run for files at rest once two "
    "readings of these agree, or one is there at three. Files that are being written wait for a minute at most.",
)
def changed_files_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Request one run per partition and change set; the cursor contains the last reading of each partition."""
    compared: dict[str, dict[int, Difference]] = {}
    behind: dict[str, float] = {}

    def look(database: Database, partition: str, before: Before) -> Look:
        collection, shard = Shard.of_key(partition)
        now = time.time()
        with database.connection() as connection:
            seen = compared.setdefault(collection, {})  # listed once for all shards
            resting = Selection(shard=shard, at_rest=SECONDS_AT_REST)
            pending = find_pending(connection, collection, resting, compared=seen)
            has_lock = is_locked(connection, collection)
            waits = pending.work_beside_pages or bool(pending.moving_files)
            taken_at = last_taken(context.instance, partition) if waits else 0.0
            since = first_seen(pending, before.since, now=now, is_locked=has_lock, taken_at=taken_at, shard=shard)
            if since:
                behind[collection] = min(*since.values(), behind.get(collection, now))
            # Of shards, once for all of them; what an active run of another shard leaves is not known yet.
            if shard is None or (shard.number == shard.of and (collection in behind or not has_lock)):
                record_comparison(
                    connection,
                    collection,
                    behind=collection in behind,
                    sources=[number for number, each in seen.items() if each.to_read or each.gone or each.moving],
                    since=datetime.fromtimestamp(behind[collection], UTC) if collection in behind else None,
                    settled_parsers=None if has_lock else pending.settled_parsers,
                )
            if not waits:
                return Look(pending.unlisted[0] if pending.unlisted else "nothing changed")
            counts = {
                "new_or_changed_files": pending.changed_files,
                "gone_files": pending.gone_files,
                "stale_documents": max(pending.documents, pending.index),
            }
            waited, written = (waiting_seconds(since, now, writing=writing) or 0.0 for writing in (False, True))
            takes_all = written >= _LONGEST_WRITING
            at_work = [giver for giver in givers(connection, collection) if is_locked(connection, giver)]
            reason = None
            if at_work and not (pending.changed_files or pending.gone_files) and waited < _LONGEST_WRITING:
                reason = f"waiting for the run of {' and '.join(at_work)}, whose documents it takes"
            elif not takes_all and not pending.work_beside_pages:
                reason = f"{pending.moving_files:,} files are being written"
            elif not takes_all and before.reading != pending.fingerprint and waited < _THIRD_LOOK:
                reason = f"waiting for a second reading that agrees ({pending.items_beside_pages:,} items changed)"
            outcome = reason or request_run(
                context.instance,
                connection,
                partition,
                # A reading has no trace of the files that are being written.
                f"{pending.fingerprint} {taken_at}" if takes_all else pending.fingerprint,
                lambda: _plan(connection, collection, pending),
                uses=uses_of(connection, collection, pending),
                at_rest=0.0 if takes_all else SECONDS_AT_REST,
            )
        return Look(outcome, pending.fingerprint, counts, since)

    return look_at_collections(context, knowledge, FOLDERS, look)


def _plan(connection: Connection, collection: str, pending: Pending) -> str:
    from sourcebook.admin.planning.plan import plan_collection

    return plan_collection(connection, collection, pending).summary
