"""The sensor `moved_repositories`: runs for collections with a Git repository whose revision names another commit."""

import hashlib
import time

import dagster as dg

from resources.knowledge import Knowledge
from resources.run_uses import uses_of_sources
from resources.source_events import FOLDERS
from sensors.run_requests import Before, Look, look_at_collections, request_run
from sourcebook.database.database import Database
from sourcebook.model.shard import Shard
from sourcebook.stages.raw_files.repositories import find_moved_repositories

_SECONDS_TO_ANSWER = 8.0
"""Longest time that one repository may keep the sensor waiting."""
_SECONDS_TOGETHER = 30.0
"""Time after which the other repositories are left to the next tick; Dagster gives a tick a minute."""


@dg.sensor(
    name="moved_repositories",
    job_name="ingest",
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Asks Git repositories whose interval has passed for their commit; requests a run where it is another.",
)
def moved_repositories_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Request one run per collection with a moved repository; nothing is fetched here."""
    deadline = time.monotonic() + _SECONDS_TOGETHER

    def look(database: Database, partition: str, before: Before) -> Look:
        collection, shard = Shard.of_key(partition)
        if shard is not None and shard.number > 1:
            return Look("the first shard of a collection fetches its repositories")
        with database.connection() as connection:
            moved = find_moved_repositories(connection, collection, seconds=_SECONDS_TO_ANSWER, deadline=deadline)
            if not moved:
                return Look("no repository is due, or none has moved")
            reading = hashlib.sha256("\n".join(moved).encode()).hexdigest()[:32]
            outcome = request_run(
                context.instance,
                connection,
                partition,
                reading,
                uses=uses_of_sources(connection, collection, sites=False),
            )
        return Look(outcome, reading, {"moved_repositories": len(moved)})

    return look_at_collections(context, knowledge, FOLDERS, look)
