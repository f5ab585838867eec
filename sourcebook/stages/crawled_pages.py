"""The stage `crawled_pages`: crawl the web sites of a collection.

It reads the sites in `source` and the pages that their servers send. It writes the URLs of each site with their state
to `frontier`, the main content of HTML pages to `parsed_content`, and the pages themselves, with the bytes of other
documents, to `crawled_page`. A site is due when
its refresh interval has passed, when its crawl was interrupted, or when its settings changed; a page is stale when its
server or its sitemap does not confirm it, or when another cleaner made it.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.database.statistics import refresh_statistics
from sourcebook.model.progress import Progress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.stages.changes import kept_count
from sourcebook.stages.observed_stage import observed_stage
from sourcebook.web.browser.site_renderer import SiteRenderer
from sourcebook.web.crawl import Crawl, CrawlResult
from sourcebook.web.discovery import Discovery
from sourcebook.web.fetching.addresses import AddressGuard
from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.fetcher import HttpFetcher
from sourcebook.web.fetching.politeness import HostLimiter
from sourcebook.web.frontier import Frontier
from sourcebook.web.http_types import FetchError
from sourcebook.web.outcome import FoundUrl
from sourcebook.web.site import Site, collection_sites
from sourcebook.web.url import host_of, normal_form, registered_domain
from sourcebook.web.visit import Visitor

_RETRY_AFTER = timedelta(minutes=5)
"""Time until the retry of a crawl that had to stop."""
_LOCK_POLL_SECONDS = 0.5


@observed_stage("crawled_pages")
def update_crawled_pages(
    connection: Connection,
    collection: str,
    selection: Selection = EVERYTHING,
    progress: Progress = silent,
    *,
    folder: Path,
    waiting: Callable[[str], None] = lambda _: None,
) -> StageReport:
    """Crawl the sites of a collection that are due, and continue interrupted crawls.

    A site that is down keeps its pages and is reported as failed.

    Args:
        connection: in autocommit mode.
        collection: name of the collection; the caller holds its lock.
        selection: sites and URLs to crawl; `only_failed` and `force` override the schedule.
        progress: called with the number of pages.
        folder: folder for the files of crawl4ai.
        waiting: called with a domain that is locked by another crawl.

    Returns:
        Counts of added, changed, removed and unchanged pages, and the failures.
    """
    report = StageReport()
    scope = {"collection": collection}
    report.removed = connection.execute(queries["remove_pages_of_removed_sources"], scope).rowcount
    for site in collection_sites(connection, collection, selection):
        _update_site(connection, site, selection, report, progress, folder, waiting)
    pages, version = kept_count(connection, collection, "crawled_pages", recount=selection.thorough)
    report.unchanged = max(pages - report.added - report.changed, 0)
    refresh_statistics(connection, queries["analyze_crawled_pages"], report)
    return report.finish(version)


def _update_site(
    connection: Connection,
    site: Site,
    selection: Selection,
    report: StageReport,
    progress: Progress,
    folder: Path,
    waiting: Callable[[str], None],
) -> None:
    start = normal_form(site.settings.url)
    if start is None:
        report.fail(site.location, "this is no web address that can be requested")
        return
    domain = registered_domain(host_of(start))
    frontier = Frontier(connection, site)
    discovery = Discovery(site.settings, start, follow_links=site.settings.follow_links is not False)
    discovery.recall(frontier.starts())
    if site.crawl_scope not in {None, site.scope_digest}:
        report.removed += _apply_scope(frontier, discovery)
    is_round = _queue(frontier, site, selection, start)
    if is_round is None:
        return
    with host_lock(connection, domain, waiting=lambda: waiting(domain)):
        frontier.recover()  # under the lock, the last statement of a killed crawl has ended
        result = asyncio.run(_crawl(site, frontier, discovery, start, folder, progress, selection))
        _count(report, result)
        error = _conclude(frontier, site, result, is_round=is_round)
        if error is not None:
            report.fail(site.location, error)


@contextmanager
def host_lock(connection: Connection, host: str, *, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock on a registered domain across collections, processes and machines.

    Two crawls of a domain would request shared URLs twice and exceed the request rate together. The lock belongs to the
    database session, so it ends with its holder.

    Args:
        connection: in autocommit mode, used by the holder alone.
        host: the registered domain.
        waiting: called once where the lock is not free.
    """
    reported = False
    while connection.execute(queries["lock_host"], {"host": host}).fetchone() != (True,):
        if not reported:
            waiting()
            reported = True
        time.sleep(_LOCK_POLL_SECONDS)
    try:
        yield
    finally:
        connection.execute(queries["unlock_host"], {"host": host})


def _apply_scope(frontier: Frontier, discovery: Discovery) -> int:
    """Apply changed settings of a site to its known URLs, without a request.

    Pages that no longer belong to the site are removed; links of its pages that now belong to it are queued.

    Returns:
        The number of pages removed.
    """
    outside = [
        (number, url)
        for number, url, depth, role in frontier.urls()
        if role == "page" and not (discovery.scope.takes(url) and depth <= discovery.max_depth)
    ]
    removed = frontier.remove(outside)
    found: list[FoundUrl] = []
    for url, depth, links in frontier.page_links():
        found += discovery.links(url, depth, links)
    frontier.add(found)
    return removed


def _queue(frontier: Frontier, site: Site, selection: Selection, start: str) -> bool | None:
    """Queue the URLs to request.

    Returns:
        Whether they are a whole round of the site; None where no URL is due.
    """
    if selection.documents:
        return False if frontier.queue_named(selection.documents) else None
    if selection.only_failed:
        return False if frontier.queue_failed(now=True) else None
    if not (site.due or selection.force):
        return False if frontier.queue_failed() else None
    if site.crawl_started_at is None or selection.force or site.crawl_scope != site.scope_digest:
        frontier.begin(start)
    frontier.queue_failed(is_round=True)
    return True


async def _crawl(
    site: Site,
    frontier: Frontier,
    discovery: Discovery,
    start: str,
    folder: Path,
    progress: Progress,
    selection: Selection,
) -> CrawlResult:
    settings = site.settings
    guard = AddressGuard(settings)
    limiter = HostLimiter(settings.requests_per_second)
    with ThreadPoolExecutor(1, thread_name_prefix="cleaner") as cleaners:
        async with AsyncExitStack() as stack:
            fetcher = await stack.enter_async_context(HttpFetcher(settings, base_directory=folder, guard=guard))
            renderer = await stack.enter_async_context(SiteRenderer(settings, guard, limiter, folder))
            visitor = Visitor(
                settings,
                discovery,
                fetcher=fetcher,
                renderer=renderer,
                limiter=limiter,
                breaker=CircuitBreaker(),
                cleaners=cleaners,
                keep=site.keep,
                force=selection.force,
            )
            frontier.add(await _lists(visitor, discovery, start))
            trusting = not (selection.force or selection.documents)
            return await Crawl(site, frontier, visitor, discovery, progress, trusts_lastmod=trusting).run()


async def _lists(visitor: Visitor, discovery: Discovery, start: str) -> tuple[FoundUrl, ...]:
    """Return the sitemaps and the llms.txt of a site that is configured by its host alone."""
    if not start.endswith(f"://{host_of(start)}/"):
        return ()
    try:
        sitemaps = (await visitor.rules.of(start)).sitemaps
    except FetchError:
        return ()  # the start URL fails for the same reason, with a message
    urls = [normal_form(url, start) for url in (*sitemaps, "/llms.txt")]
    return discovery.lists(None, [url for url in urls if url is not None])


def _count(report: StageReport, result: CrawlResult) -> None:
    report.added += result.added
    report.changed += result.changed
    report.removed += result.removed
    for url, reason in result.failures:
        report.fail(url, reason)
    for name, number in result.counts.items():
        report.count(name, number)


def _conclude(frontier: Frontier, site: Site, result: CrawlResult, *, is_round: bool) -> str | None:
    """Record how the crawl ended; return the failure of the site as a whole, None where there is none."""
    if not is_round:
        if result.stopped is None and site.crawl_started_at is None:
            frontier.leave_rest()
        return result.stopped
    counts = frontier.counts()
    if result.stopped is not None:
        frontier.interrupt(result.stopped, datetime.now(UTC) + _RETRY_AFTER)
        return result.stopped
    if counts.next_attempt_at is not None:
        error = f"{result.waits_for or 'the host asked for a pause'}; {counts.queued:,} URLs wait until then"
        frontier.interrupt(error, counts.next_attempt_at)
        return error
    frontier.leave_rest()
    if counts.live:
        frontier.end()
        return None
    error = _why_nothing(site, result)
    frontier.refuse(error)
    return error


def _why_nothing(site: Site, result: CrawlResult) -> str:
    if forbidden := result.counts["forbidden"]:
        agent = site.settings.user_agent.partition("/")[0]
        return f"0 pages because robots.txt forbids them to {agent} ({forbidden:,} URLs)"
    if result.failures:
        url, reason = result.failures[0]
        return f"0 pages; {url}: {reason}"
    if result.refusals:
        (reason, refused), *_ = result.refusals.most_common(1)
        return f"0 pages; {refused:,} of {result.refusals.total():,} URLs are not taken because: {reason}"
    return "0 pages: nothing was found that the patterns take and that holds text"
