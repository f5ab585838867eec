"""The asset `raw_files`: the inventory of a collection's folders."""

import dagster as dg

from assets.materialization import materialization
from orchestration.partitions import collection_partitions
from resources.embedder import Embedder
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.stages.raw_files import update_raw_files


@dg.asset(partitions_def=collection_partitions, group_name="knowledge_base", kinds={"file", "postgres"})
def raw_files(
    context: dg.AssetExecutionContext,
    knowledge: Knowledge,
    selection: RunSelection,
    progress: ProgressLog,
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult[None]:
    """Inventory of every file in the collection's sources: URI, size, modification time, sha256."""
    with knowledge.configured_connection() as connection:
        report = update_raw_files(
            connection, context.partition_key, selection.selection(), progress.reporter(context, "files")
        )
        embedder.start_early_for(connection, context.partition_key, knowledge.home, report)
    return materialization(report)
