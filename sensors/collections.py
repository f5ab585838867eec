"""The sensor `collections`: partitions that follow the configuration."""

import dagster as dg

from orchestration.partitions import COLLECTIONS, collection_partitions
from resources.knowledge import Knowledge
from sourcebook.admin.collections import apply, collection_names


@dg.sensor(
    name="collections",
    minimum_interval_seconds=15,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Applies sourcebook.yaml, and adds and removes the partitions of its collections.",
)
def collections_sensor(context: dg.SensorEvaluationContext, knowledge: Knowledge) -> dg.SensorResult:
    """Apply the configuration, and add or remove partitions to match its collections."""
    with knowledge.opened() as database, database.connection() as connection:
        apply(connection, knowledge.configuration())
        wanted = set(collection_names(connection))
    present = set(context.instance.get_dynamic_partitions(COLLECTIONS))
    if wanted == present:
        return dg.SensorResult(skip_reason=f"the partitions match the configuration: {', '.join(sorted(wanted))}")
    return dg.SensorResult(
        dynamic_partitions_requests=[
            request
            for names, build in (
                (sorted(wanted - present), collection_partitions.build_add_request),
                (sorted(present - wanted), collection_partitions.build_delete_request),
            )
            if names
            for request in [build(names)]
        ]
    )
