"""The asset `crawled_pages`: the pages of a collection's web sites."""

import dagster as dg

from assets.materialization import materialization
from orchestration.partitions import collection_partitions
from resources.embedder import Embedder
from resources.knowledge import Knowledge
from resources.progress import ProgressLog
from resources.selection import RunSelection
from sourcebook.stages.crawled_pages import update_crawled_pages


@dg.asset(partitions_def=collection_partitions, group_name="knowledge_base", kinds={"crawl4ai", "postgres"})
def crawled_pages(
    context: dg.AssetExecutionContext,
    knowledge: Knowledge,
    selection: RunSelection,
    progress: ProgressLog,
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult[None]:
    """Pages of the collection's sites: main content as Markdown, title, dates, links, ETag, sha256."""
    with knowledge.configured_connection() as connection:
        report = update_crawled_pages(
            connection,
            context.partition_key,
            selection.selection(),
            progress.reporter(context, "pages"),
            folder=knowledge.home / "crawl4ai",
            waiting=lambda domain: context.log.info(f"waiting: another crawl is using {domain}"),
        )
        embedder.start_early_for(connection, context.partition_key, knowledge.home, report)
    return materialization(report)
