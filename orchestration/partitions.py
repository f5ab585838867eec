"""The partitions of every asset: one a collection."""

import dagster as dg

COLLECTIONS = "collection"

collection_partitions = dg.DynamicPartitionsDefinition(name=COLLECTIONS)
