"""The asset `raw_files`: what lies in the collection's sources."""

import dagster as dg

from assets.materialization import materialization
from orchestration.partitions import collection_partitions
from resources.embedder import Embedder
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.admin.collections import apply
from sourcebook.indexing.generations import wanted_embedding
from sourcebook.stages.raw_files import update_inventory


@dg.asset(partitions_def=collection_partitions, group_name="knowledge_base", kinds={"file", "postgres"})
def raw_files(
    context: dg.AssetExecutionContext,
    knowledge: Knowledge,
    selection: RunSelection,
    progress: ProgressLog,
    embedder: Embedder,
) -> dg.MaterializeResult[None]:
    """Inventory of every file in the collection's sources: URI, size, modification time, sha256."""
    with knowledge.database.connection() as connection:
        apply(connection, knowledge.configuration())
        report = update_inventory(
            connection, context.partition_key, selection.selection(), progress.reporter(context, "files")
        )
        if report.added or report.changed:
            settings = wanted_embedding(connection, context.partition_key)
            embedder.start_early(settings, knowledge.home, report.added + report.changed)
    return materialization(report)
