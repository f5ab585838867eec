"""The asset `documents`: the readable content of every file, page and recording."""

import dagster as dg

from assets.definition import collection_asset
from assets.materialization import materialization
from resources.ahead import ahead_in, words_first
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.partition import parts_of
from resources.progress import ProgressLog
from resources.selection import RunSelection


@collection_asset(
    group="documents",
    kinds={"python"},
    work="processor",
    items="documents",
    counts={
        "changed": "documents whose content differs from the last run's, or that have a new path",
        "renamed": "documents whose file has a new path",
        "returned": "documents that were removed and are back",
        "reused": "documents whose content was parsed before",
        "skipped": "documents without text",
        "damaged": "documents whose record or parsed content somebody else had changed, made again",
    },
    deps=["raw_files", "crawled_pages", "transcripts"],
)
def documents(
    context: dg.AssetExecutionContext, knowledge: Knowledge, selection: RunSelection, progress: ProgressLog
) -> dg.MaterializeResult[None]:
    """Documents parsed from files, attachments, pages and recordings: text, structure, title, language, version."""
    collection, shard = parts_of(context)
    with knowledge.database.connection() as connection:
        report = finished(context.run.run_id, "documents")
        if report is None:
            from sourcebook.stages.documents.update import update_documents

            report = update_documents(
                connection,
                collection,
                selection.selection(shard),
                progress.reporter(context, "documents"),
                recorded=words_first(context, connection),
                ahead=ahead_in(context.run.run_id).documents,
            )
    return materialization(report)
