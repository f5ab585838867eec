"""The asset `index_upkeep`: current keyword weights and blocks, updated after publishing."""

import dagster as dg

from assets.materialization import materialization
from orchestration.partitions import collection_partitions
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from sourcebook.indexing.generations import ensure_generation
from sourcebook.stages.index_upkeep import maintain_index


@dg.asset(deps=["search_index"], partitions_def=collection_partitions, group_name="knowledge_base", kinds={"postgres"})
def index_upkeep(
    context: dg.AssetExecutionContext, knowledge: Knowledge, progress: ProgressLog
) -> dg.MaterializeResult[None]:
    """Keyword weights recomputed where the average passage length has drifted, and blocks of 8,000 entries."""
    with knowledge.database.connection() as connection:
        generation = ensure_generation(connection, context.partition_key)
        report = maintain_index(connection, generation, progress.reporter(context, "blocks"))
    return materialization(report)
