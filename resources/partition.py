"""The partitions of every asset: a collection, or one shard of a collection that has several."""

from collections.abc import Mapping

import dagster as dg

from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard

COLLECTIONS = "collection"
"""Name of the dynamic partitions in Dagster."""
PARTITION = "dagster/partition"
"""Tag that Dagster puts on the runs of a partition."""
WHOLE = "sourcebook/whole"
"""Tag of a run in the partition of a shard that works on the whole collection, such as requested work."""
IN_PROCESS = "sourcebook/command"
"""Tag of runs that `sourcebook ingest` executes in its process; it takes the lock before it creates the run."""
PART = "sourcebook/part"
"""Tag of a run that works on a part of its partition: what waits elsewhere in it does not wait for this run."""
EVERYTHING = "sourcebook/everything"
"""Tag of a run that takes every change that its partition had at its start, except of files that were being written."""

collection_partitions = dg.DynamicPartitionsDefinition(name=COLLECTIONS)


def collection_of(key: str) -> str:
    """Return the collection of a partition."""
    return Shard.of_key(key)[0]


def shard_of(tags: Mapping[str, str]) -> Shard | None:
    """Return the shard that the run with some tags works on; None: a whole collection."""
    return None if WHOLE in tags or PARTITION not in tags else Shard.of_key(tags[PARTITION])[1]


def extent_tags(selection: Selection) -> dict[str, str]:
    """Return the tag that says whether a run takes a part of its partition or all of it."""
    return {PART if selection.is_partial else EVERYTHING: "true"}


def parts_of(context: dg.AssetExecutionContext | dg.AssetCheckExecutionContext) -> tuple[str, Shard | None]:
    """Return the collection and the shard that an asset or a check works on."""
    collection, shard = Shard.of_key(context.partition_key)
    return collection, None if WHOLE in context.run.tags else shard
