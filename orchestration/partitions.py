"""The partitions of every asset: one per collection."""

import dagster as dg

COLLECTIONS = "collection"
"""Name of the dynamic partitions in Dagster."""

collection_partitions = dg.DynamicPartitionsDefinition(name=COLLECTIONS)
