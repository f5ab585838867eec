"""The asset `raw_files`: the inventory of a collection's folders."""

import dagster as dg

from assets.definition import collection_asset
from assets.materialization import describe_sources, materialization
from resources.embedder import Embedder
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from resources.selection import RunSelection
from resources.source_events import FOLDERS
from sourcebook.stages.raw_files import update_raw_files


@collection_asset(
    group="sources",
    kinds={"file"},
    work="disk",
    deps=[FOLDERS],
)
def raw_files(
    context: dg.AssetExecutionContext,
    knowledge: Knowledge,
    selection: RunSelection,
    progress: ProgressLog,
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult[None]:
    """Inventory of every file in the folders of the collection: URI, size, modification time, sha256.

    `added`, `changed`, `unchanged` and `removed` count files; `renamed` counts files with known content at a new path.
    `failed` counts files that cannot be read.
    """
    with knowledge.configured_connection(context.log.warning) as connection:
        report = finished("raw_files")
        if report is None:
            report = update_raw_files(
                connection, context.partition_key, selection.selection(), progress.reporter(context, "files")
            )
            embedder.start_early_for(connection, context.partition_key, knowledge.home, report)
        sources = describe_sources(connection, context.partition_key, "files")
    return materialization(report, **sources)
