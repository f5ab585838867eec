"""The asset `documents`: the readable content of every file, page and recording."""

import dagster as dg

from assets.definition import collection_asset
from assets.materialization import materialization
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.stages.documents.update import update_documents


@collection_asset(
    group="documents",
    kinds={"python"},
    work="processor",
    deps=["raw_files", "crawled_pages", "transcripts"],
)
def documents(
    context: dg.AssetExecutionContext, knowledge: Knowledge, selection: RunSelection, progress: ProgressLog
) -> dg.MaterializeResult[None]:
    """Parsed documents with text, structure, title, language, metadata, content hash and version.

    The counts are documents: files, attachments, pages and recordings. `reused` counts contents that were parsed
    before, `skipped` counts documents without text.
    """
    with knowledge.database.connection() as connection:
        report = finished("documents") or update_documents(
            connection, context.partition_key, selection.selection(), progress.reporter(context, "documents")
        )
    return materialization(report)
