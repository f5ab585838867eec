"""The sensor `collections`: partitions that follow the configuration."""

import dagster as dg

from resources.knowledge import LAST_GOOD, Knowledge
from resources.partition import COLLECTIONS, collection_partitions
from resources.source_events import configuration_evaluation
from sourcebook.database.queries import queries
from sourcebook.model.shard import partition_keys

_VALID = "valid"


@dg.sensor(
    name="collections",
    minimum_interval_seconds=15,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Applies sourcebook.yaml, and adds and removes the partitions of its collections. A file with a "
    "mistake changes nothing.",
)
def collections_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Apply the configuration, and add or remove partitions to match the collections in force.

    The cursor contains the last reported mistake, so that the check of the configuration is evaluated on a change only.
    """
    with knowledge.opened() as database, database.connection() as connection:
        mistake = knowledge.apply_configuration(connection)
        numbers = dict(connection.execute(queries["shards_of_collections"]).fetchall())
    wanted = {key for name, number in numbers.items() for key in partition_keys(name, number)}
    present = set(context.instance.get_dynamic_partitions(COLLECTIONS))
    requests = [
        build(names)
        for names, build in (
            (sorted(wanted - present), collection_partitions.build_add_request),
            (sorted(present - wanted), collection_partitions.build_delete_request),
        )
        if names
    ]
    cursor = mistake or _VALID
    zone = knowledge.other_time_zone
    waits = f"; the schedules keep to {knowledge.time_zone} until the code location is loaded again, for {zone}"
    return dg.SensorResult(
        dynamic_partitions_requests=requests,
        skip_reason=_reason(mistake, set(numbers), changed=bool(requests)) + (waits if zone else ""),
        asset_events=[configuration_evaluation(mistake)] if cursor != context.cursor else [],
        cursor=cursor,
    )


def _reason(mistake: str | None, collections: set[str], *, changed: bool) -> str:
    names = ", ".join(sorted(collections)) or "none"
    if mistake is not None:
        return f"{LAST_GOOD} (collections: {names}): {mistake}"
    return f"{'the partitions now follow' if changed else 'no change: the partitions match'} the configuration: {names}"
