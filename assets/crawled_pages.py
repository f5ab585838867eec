"""The asset `crawled_pages`: the pages of a collection's web sites."""

import dagster as dg

from assets.definition import collection_asset
from assets.files_first import make_files_first
from assets.materialization import describe_sources, materialization
from resources.embedder import Embedder
from resources.knowledge import Knowledge
from resources.partition import IN_PROCESS, parts_of
from resources.progress import ProgressLog
from resources.selection import RunSelection
from resources.source_events import SITES


@collection_asset(
    group="sources",
    kinds={"python"},
    work="network",
    items="pages",
    counts={
        "failed": "URLs without a usable response; the table `failures` has the reasons",
        "refused": "URLs that the settings or the response exclude",
        "forbidden": "URLs that robots.txt forbids",
        "redirected": "URLs that lead to another URL",
        "lists": "sitemaps and files llms.txt that were read",
        "postponed": "URLs that are requested later, as the host asked",
        "login": "URLs that show a login in place of a document",
        "left_out": "URLs that the patterns of the sites leave out",
        "rendered": "pages that Chromium rendered",
        "bytes": "size of the pages that were fetched",
        "hours_since_listing": "age of the oldest complete crawl among the sites",
    },
    deps=[SITES],
)
def crawled_pages(
    context: dg.AssetExecutionContext,
    knowledge: Knowledge,
    selection: RunSelection,
    progress: ProgressLog,
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult[None]:
    """Pages of the sites of the collection: main content as Markdown, title, dates, links, ETag, sha256."""
    from sourcebook.stages.crawled_pages import update_crawled_pages

    collection, shard = parts_of(context)
    with knowledge.configured_connection(context.log.warning) as connection:
        make_files_first(context, connection, selection, progress)
        report = update_crawled_pages(
            connection,
            collection,
            selection.selection(shard),
            progress.reporter(context, "pages"),
            folder=knowledge.home / "crawl4ai",
            waiting=lambda domain: context.log.info(f"waiting: another crawl is using {domain}"),
            gives_way=IN_PROCESS not in context.run.tags,
        )
        embedder.start_early_for(connection, collection, knowledge.home, report)
        sources = describe_sources(connection, collection, "site")
    return materialization(report, **sources)
