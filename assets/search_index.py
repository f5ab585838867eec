"""The asset `search_index`: the published entries of a collection."""

import dagster as dg

from assets.materialization import materialization
from orchestration.partitions import collection_partitions
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from sourcebook.indexing.generations import ensure_generation
from sourcebook.stages.search_index import publish


@dg.asset(deps=["embeddings"], partitions_def=collection_partitions, group_name="knowledge_base", kinds={"postgres"})
def search_index(
    context: dg.AssetExecutionContext, knowledge: Knowledge, progress: ProgressLog
) -> dg.MaterializeResult[None]:
    """The published index: vectors for KNN and lexemes for full-text search; documents are published whole."""
    with knowledge.database.connection() as connection:
        generation = ensure_generation(connection, context.partition_key)
        report = publish(connection, generation, progress.reporter(context, "documents"))
    return materialization(report)
