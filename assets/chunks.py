"""The asset `chunks`: passages of each document, cut along its structure."""

import dagster as dg

from assets.definition import collection_asset
from assets.materialization import materialization
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.indexing.generations import ensure_generation
from sourcebook.stages.chunks import prepare_chunks


@collection_asset(
    group="index",
    kinds={"python"},
    work="processor",
    deps=["documents"],
)
def chunks(
    context: dg.AssetExecutionContext, knowledge: Knowledge, selection: RunSelection, progress: ProgressLog
) -> dg.MaterializeResult[None]:
    """Passages with heading path, anchor, page, character span and token count, prepared beside the published ones.

    The counts are passages.
    """
    with knowledge.database.connection() as connection:
        generation = ensure_generation(connection, context.partition_key)
        report = finished("chunks") or prepare_chunks(
            connection,
            generation,
            selection.selection(),
            progress.reporter(context, "documents"),
        )
    return materialization(report)
