"""A dry run: crawl a site and report on it without keeping anything."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from psycopg import Connection

from sourcebook.config.html_part import HtmlPart
from sourcebook.config.sites import SiteSource
from sourcebook.model.progress import Progress, silent
from sourcebook.web.cleaners import Cleaners
from sourcebook.web.crawl_report import CrawlReport, report_of
from sourcebook.web.crawl_result import CrawlResult
from sourcebook.web.discovery import Discovery
from sourcebook.web.host_lock import host_lock
from sourcebook.web.login import LoginError
from sourcebook.web.memory_frontier import MemoryFrontier
from sourcebook.web.outcome import FoundUrl
from sourcebook.web.site import Site
from sourcebook.web.site_crawl import crawl_site
from sourcebook.web.unrequested import unrequested_links
from sourcebook.web.url import host_of, normal_form, registered_domain


def dry_run(
    settings: SiteSource,
    progress: Progress = silent,
    *,
    keep: HtmlPart = "main",
    connection: Connection | None = None,
    waiting: Callable[[str], None] = lambda _: None,
) -> CrawlReport:
    """Crawl a site as a first crawl would, and return its report; nothing is written but temporary files.

    Args:
        settings: settings of the site.
        progress: called with the numbers of finished, known and failed URLs.
        keep: the part of a page that counts as its content.
        connection: to the knowledge base, in autocommit mode, whose crawls of the same domain are waited for; where
            None, there is no other crawl.
        waiting: called with a domain that is locked by another crawl.
    """
    start = normal_form(settings.url)
    if start is None:
        return CrawlReport(None, settings.location, "this is no web address that can be requested")
    frontier = MemoryFrontier()
    frontier.add([FoundUrl(start, 0, None, role="start", listed=True)])
    discovery = Discovery(settings, start, follow_links=settings.follow_links is not False)
    site = Site(0, settings.location, settings, None, None, due=True, keep=keep)
    domain = registered_domain(host_of(start))
    with (
        TemporaryDirectory(prefix="sourcebook-crawl-") as folder,
        ThreadPoolExecutor(1) as database,
        Cleaners() as cleaners,
    ):
        crawl = crawl_site(
            site,
            frontier,
            discovery,
            start,
            database=database,
            cleaners=cleaners,
            folder=Path(folder),
            progress=progress,
        )
        if connection is not None:
            crawl = _locked(crawl, connection, domain, database, lambda: waiting(domain))
        try:
            result = asyncio.run(crawl)
        except LoginError as refused:
            return CrawlReport(None, settings.location, str(refused))
    urls = frontier.urls(max_pages=settings.max_pages)
    if discovery.follow_links:
        discovery.note_links(link for each in urls for link in each.links or ())
    error = result.stopped.reason if result.stopped else result.waits_for.reason if result.waits_for else None
    left_out = unrequested_links(urls, discovery, discovery.left_out.found())
    return report_of(urls, url=settings.location, error=error, left_out=left_out)


async def _locked(
    crawl: Coroutine[Any, Any, CrawlResult],
    connection: Connection,
    domain: str,
    database: Executor,
    waiting: Callable[[], None],
) -> CrawlResult:
    """Return the result of a crawl under the lock of its domain."""

    async def in_database(work: Callable[[], bool]) -> bool:
        return await asyncio.get_running_loop().run_in_executor(database, work)

    try:
        async with host_lock(connection, domain, in_database, waiting=waiting):
            return await crawl
    finally:
        crawl.close()  # where the lock was not obtained, it has not begun
