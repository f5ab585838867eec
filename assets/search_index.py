"""The asset `search_index`: the published entries of a collection."""

import dagster as dg

from assets.definition import collection_asset
from assets.materialization import INDEX_BYTES, materialization
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.indexing.generations import ensure_generation, index_bytes
from sourcebook.stages.search_index import publish


@collection_asset(
    group="index",
    kinds={"sql"},
    work="database",
    deps=["embeddings"],
)
def search_index(
    context: dg.AssetExecutionContext, knowledge: Knowledge, progress: ProgressLog, selection: RunSelection
) -> dg.MaterializeResult[None]:
    """The published index: vectors for KNN and lexemes for full-text search; documents are published whole.

    The counts are searchable passages.
    """
    with knowledge.database.connection() as connection:
        generation = ensure_generation(connection, context.partition_key)
        report = finished("search_index") or publish(
            connection, generation, progress.reporter(context, "documents"), thorough=selection.thorough
        )
        size = index_bytes(connection, generation)
    return materialization(report, **{INDEX_BYTES: dg.MetadataValue.int(size)})
