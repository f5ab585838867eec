"""The asset `raw_files`: the inventory of a collection's folders."""

import dagster as dg

from assets.definition import collection_asset
from assets.materialization import describe_sources, materialization
from resources.embedder import Embedder
from resources.finished import finished
from resources.knowledge import Knowledge
from resources.partition import parts_of
from resources.progress import ProgressLog
from resources.run_uses import PLAN
from resources.selection import RunSelection
from resources.source_events import FOLDERS, RECORDS
from sourcebook.database.lock import in_turn


@collection_asset(
    group="sources",
    kinds={"file"},
    work="disk",
    items="files",
    counts={
        "failed": "files that cannot be read; the table `failures` has the reasons",
        "skipped": "files that are not read on purpose: their type is unknown, or they are too large",
        "damaged": "rows of the inventory that somebody else had changed; their files are read again",
        "hours_since_listing": "age of the oldest complete listing among the folders",
    },
    deps=[FOLDERS, RECORDS],
)
def raw_files(
    context: dg.AssetExecutionContext,
    knowledge: Knowledge,
    selection: RunSelection,
    progress: ProgressLog,
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult[None]:
    """Inventory of every file in the folders of the collection: URI, size, modification time, sha256."""
    collection, shard = parts_of(context)
    with knowledge.configured_connection(context.log.warning) as connection:
        report = finished(context.run.run_id, "raw_files")
        if report is None:
            from sourcebook.admin.pending import find_pending
            from sourcebook.admin.planning.plan import plan_collection
            from sourcebook.stages.raw_files import update_raw_files
            from sourcebook.stages.raw_files.repositories import fetch_repositories
            from sourcebook.stages.raw_files.source_records import fetch_records

            wanted = selection.selection(shard)
            with in_turn(connection, shard, "repositories"):
                fetch_repositories(connection, collection, knowledge.home, wanted, only_due=not wanted.thorough)
                fetch_records(connection, collection, wanted, only_due=not wanted.thorough)
            pending = find_pending(connection, collection, wanted)
            plan = context.run.tags.get(PLAN) or plan_collection(connection, collection, pending).summary
            report = update_raw_files(
                connection,
                collection,
                wanted,
                progress.reporter(context, "files"),
                differences=pending.differences,
            )
            report.plan = plan
            embedder.start_early_for(connection, collection, knowledge.home, report, outdated=pending.index)
        sources = describe_sources(connection, collection, "files")
    return materialization(report, plan=dg.MetadataValue.text(report.plan), **sources)
