"""Documents of files, made and published before a run turns to sites and recordings, which may take hours."""

import dagster as dg
from psycopg import Connection

from resources.ahead import ahead_in, goes_on_to, words_first
from resources.partition import parts_of
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.model.selection import Selection


def make_files_first(
    context: dg.AssetExecutionContext, connection: Connection, selection: RunSelection, progress: ProgressLog
) -> None:
    """Make the documents that can be made already; the asset `documents` reports them.

    Args:
        context: of the asset that is about to crawl or to transcribe.
        connection: in autocommit mode.
        selection: a selection of everything that changed; any other is left to the asset `documents`.
        progress: the resource.
    """
    collection, shard = parts_of(context)
    if selection.selection(shard) != Selection(shard=shard) or not goes_on_to(context, "documents"):
        return
    from sourcebook.stages.documents.update import update_documents

    report = update_documents(
        connection,
        collection,
        selection.selection(shard),
        progress.reporter(context, "documents", stage="documents"),
        recorded=words_first(context, connection),
    )
    ahead_in(context.run.run_id).documents.include(report)
