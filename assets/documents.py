"""The asset `documents`: the readable content of every file, page and recording."""

import dagster as dg

from assets.materialization import materialization
from orchestration.partitions import collection_partitions
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.stages.documents.update import update_documents


@dg.asset(
    deps=["raw_files", "crawled_pages", "transcripts"],
    partitions_def=collection_partitions,
    group_name="knowledge_base",
    kinds={"docling", "postgres"},
)
def documents(
    context: dg.AssetExecutionContext, knowledge: Knowledge, selection: RunSelection, progress: ProgressLog
) -> dg.MaterializeResult[None]:
    """Parsed documents with text, structure, title, language, metadata, content hash and version."""
    with knowledge.database.connection() as connection:
        report = update_documents(
            connection, context.partition_key, selection.selection(), progress.reporter(context, "documents")
        )
    return materialization(report)
