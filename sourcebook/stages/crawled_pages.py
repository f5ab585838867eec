"""The stage `crawled_pages`: crawl the web sites of a collection.

It reads the sites in `source` and the pages that their servers send. It writes the URLs of each site with their state
to `frontier`, the main content of HTML pages to `parsed_content`, and the pages themselves, with the bytes of other
documents, to `crawled_page`. A site is due when
its refresh interval has passed, when its crawl was interrupted, or when its settings changed; a page is stale when its
server or its sitemap does not confirm it, or when another cleaner made it.

The sites are crawled beside each other, those of one domain one after the other. Ten minutes after one has ended with
new or changed pages the others pause, so that the later stages make these searchable; the next run continues them. So
it does where they pause after half a minute, as a file has changed meanwhile or somebody has asked for work.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from psycopg import Connection

from sourcebook.config.collection import RemovalSettings
from sourcebook.database.lock import in_turn
from sourcebook.database.queries import queries
from sourcebook.database.stage_runs import refresh_statistics
from sourcebook.errors import FailureClass
from sourcebook.indexing.damage import find_suspicion, heightened
from sourcebook.indexing.mending import mend_pages
from sourcebook.model.progress import Progress, TotalProgress, silent
from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.model.work import crawling_work
from sourcebook.stages.changes import kept_count
from sourcebook.stages.observed_stage import observed_stage
from sourcebook.stages.other_work import OtherWork
from sourcebook.stages.processing import Processing, processing
from sourcebook.web.canonicals import compare_canonicals
from sourcebook.web.cleaners import Cleaners
from sourcebook.web.conclusion import conclude, conclude_without_login, record_left_out, renew_page_tags
from sourcebook.web.crawl_result import CrawlResult
from sourcebook.web.discovery import Discovery
from sourcebook.web.emptying import EmptyingGuard
from sourcebook.web.frontier import Frontier
from sourcebook.web.host_lock import host_lock
from sourcebook.web.login import LoginError
from sourcebook.web.outcome import FoundUrl
from sourcebook.web.patience import Patience
from sourcebook.web.site import Site, collection_sites
from sourcebook.web.site_crawl import crawl_site
from sourcebook.web.url import host_of, normal_form, registered_domain

T = TypeVar("T")
_SITES_AT_ONCE = 16
"""Sites that are crawled beside each other, which limits browsers and memory."""
_SECONDS_BETWEEN_LOOKS = 5.0
"""Seconds between two looks at what else waits."""


@observed_stage("crawled_pages")
def update_crawled_pages(
    connection: Connection,
    collection: str,
    selection: Selection = EVERYTHING,
    progress: Progress = silent,
    *,
    folder: Path,
    waiting: Callable[[str], None] = lambda _: None,
    gives_way: bool = False,
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
        gives_way: whether crawls pause where other work of the collection waits.

    Returns:
        Counts of added, changed, removed and unchanged pages, and the failures.
    """
    report = StageReport()
    suspicion = find_suspicion(connection, collection)
    selection = heightened(selection, suspicion)
    shard = selection.shard
    if selection.thorough:
        with in_turn(connection, shard, "proof"):
            mend_pages(connection, collection, every_site="crawled_page" in suspicion.tables)
    scope = {"collection": collection}
    with in_turn(connection, shard, "removed sources"):
        report.removed = connection.execute(queries["remove_pages_of_removed_sources"], scope).rowcount
    with processing(connection, collection, "crawled_pages", shares=shard is not None) as marks:
        due = [
            planned
            for site in collection_sites(connection, collection, selection)
            if shard is None or shard.takes(site.location)
            if (planned := _plan(connection, site, selection, report)) is not None
        ]
        if due:
            others = OtherWork(connection, collection) if gives_way else None
            crawls = _Crawls(connection, selection, report, progress, folder, waiting, marks, others)
            asyncio.run(crawls.run(due))
    pages, version = kept_count(connection, collection, "crawled_pages", recount=selection.thorough, shard=shard)
    report.unchanged = max(pages - report.added - report.changed, 0)
    refresh_statistics(connection, queries["analyze_crawled_pages"], report)
    return report.finish(version)


@dataclass(frozen=True, slots=True)
class _DueSite:
    """A site whose queued URLs are to be visited."""

    site: Site
    frontier: Frontier
    discovery: Discovery
    start: str
    """URL of the site in normal form."""
    is_round: bool
    """Whether its queued URLs are a whole round."""


def _plan(connection: Connection, site: Site, selection: Selection, report: StageReport) -> _DueSite | None:
    """Queue the URLs of a site to request; return None where no URL is due."""
    start = normal_form(site.settings.url)
    if start is None:
        report.fail(site.location, "this is no web address that can be requested", FailureClass.UNSUPPORTED)
        return None
    frontier = Frontier(connection, site)
    discovery = Discovery(site.settings, start, follow_links=site.settings.follow_links is not False)
    starts = frontier.starts()
    discovery.recall(starts)
    site = replace(site, due=site.due or (site.is_held and selection.accept))
    is_next_round = (site.due or selection.force) and not (selection.documents or selection.only_failed)
    if site.is_changed_by_others and is_next_round:
        _find_again(frontier, discovery, [start, *(url for url, _ in starts if url != start)])
        report.removed += _apply_scope(frontier, discovery)
    else:
        discovery.limits.recall(frontier.lists())
    if site.crawl_scope and site.crawl_scope != site.scope_digest:
        report.removed += _apply_scope(frontier, discovery)
    if site.crawl_scope != site.scope_digest or selection.thorough:
        renew_page_tags(connection, site)
    is_round = _queue(frontier, site, selection, start)
    return None if is_round is None else _DueSite(site, frontier, discovery, start, is_round)


class _Crawls:
    """Crawls of several sites beside each other. One thread uses the database."""

    def __init__(
        self,
        connection: Connection,
        selection: Selection,
        report: StageReport,
        progress: Progress,
        folder: Path,
        waiting: Callable[[str], None],
        marks: Processing,
        others: OtherWork | None,
    ) -> None:
        self._others = others
        self._connection = connection
        self._selection = selection
        self._report = report
        self._progress = TotalProgress(progress)
        self._folder = folder
        self._waiting = waiting
        self._marks = marks
        # A forced crawl would begin anew, and a part is small.
        self._patience = Patience(endless=selection.force or selection.only_failed or bool(selection.documents))
        self._slots = asyncio.Semaphore(_SITES_AT_ONCE)
        self._database = ThreadPoolExecutor(1, thread_name_prefix="frontier")
        self._cleaners = Cleaners()

    async def run(self, due: Sequence[_DueSite]) -> None:
        """Crawl every site; the error of one ends the others, which lose nothing."""
        domains: defaultdict[str, list[_DueSite]] = defaultdict(list)
        for each in due:
            domains[registered_domain(host_of(each.start))].append(each)
        with self._database, self._cleaners:
            looking = asyncio.create_task(self._look_around())
            try:
                async with asyncio.TaskGroup() as group:
                    for domain, sites in domains.items():
                        group.create_task(self._crawl_domain(domain, sites))
            except BaseExceptionGroup as errors:
                raise errors.exceptions[0] from None
            finally:
                looking.cancel()

    async def _look_around(self) -> None:
        """Let the crawls pause once other work of the collection waits."""
        while self._others is not None:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
            if await self._in_database(self._others.waits):
                self._patience.give_way()
                return

    async def _crawl_domain(self, domain: str, sites: Sequence[_DueSite]) -> None:
        """Crawl the sites of a registered domain, one after the other."""
        for due in sites:
            lock = host_lock(self._connection, domain, self._in_database, waiting=lambda: self._waiting(domain))
            async with lock, self._slots:
                await self._crawl(due)

    async def _crawl(self, due: _DueSite) -> None:
        site, frontier, report = due.site, due.frontier, self._report

        def begin() -> None:
            self._marks.begin([site.location])
            frontier.recover()  # under the lock, the last statement of a killed crawl has ended

        await self._in_database(begin)
        try:
            result = await crawl_site(
                site,
                frontier,
                due.discovery,
                due.start,
                database=self._database,
                cleaners=self._cleaners,
                folder=self._folder,
                progress=self._progress.part(),
                force=self._selection.force,
                trusts_lastmod=not (self._selection.force or self._selection.documents),
                patience=self._patience,
                emptying=EmptyingGuard(
                    None if self._selection.accept else RemovalSettings.model_validate(site.removals or {})
                ),
            )
        except LoginError as error:
            report.fail(site.location, str(error), error.failure_class)
            await self._in_database(partial(conclude_without_login, frontier, site, error))
            await self._in_database(lambda: self._marks.end([site.location]))
            return

        def end() -> None:
            if result.added or result.changed:
                compare_canonicals(self._connection, site, {due.start, *(url for url, _ in frontier.starts())})
            if due.is_round and (number := record_left_out(self._connection, site, due.discovery)):
                report.count("left_out", number)
            failure = conclude(frontier, site, result, is_round=due.is_round)
            if failure is not None:
                report.fail(site.location, failure.reason, failure.failure_class)
            self._marks.end([site.location])

        _count(report, result)
        await self._in_database(end)
        if result.added or result.changed or result.removed:
            self._patience.begin()

    async def _in_database(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._database, work)


def _apply_scope(frontier: Frontier, discovery: Discovery) -> int:
    """Apply changed settings of a site to its known URLs, without a request.

    Pages that no longer belong to the site are removed; links of its pages that now belong to it are queued.

    Returns:
        The number of pages removed.
    """
    outside: list[tuple[int, str]] = []
    ways: list[str] = []
    for number, url, depth, role in frontier.urls():
        if role == "page" and not (discovery.scope.takes(url) and depth <= discovery.max_depth):
            outside.append((number, url))
        elif not discovery.scope.keeps(url):
            ways.append(url)
    removed = frontier.remove(outside) + frontier.remove_pages(ways)
    _add_links(frontier, discovery)
    return removed


def _find_again(frontier: Frontier, discovery: Discovery, starts: Sequence[str]) -> None:
    """Find the URLs of a site again by the links of its stored pages, without a request.

    Pages that no link leads to, such as those of a sitemap, have the depth that they had, or else count as starts.

    Args:
        frontier: URLs of the site.
        discovery: URL selection.
        starts: the site's URL in normal form, and its redirect targets.
    """
    frontier.forget()
    frontier.add(FoundUrl(url, 0, None if url == starts[0] else starts[0], role="start", listed=True) for url in starts)
    _follow_links(frontier, discovery)
    frontier.restore_depths()
    _follow_links(frontier, discovery)
    while lost := frontier.pages_without_url():
        steps = {url: url.rstrip("/").count("/") for url in lost}
        nearest = min(steps.values())
        frontier.add(FoundUrl(url, 0, None) for url in lost if steps[url] == nearest)
        _follow_links(frontier, discovery)


def _follow_links(frontier: Frontier, discovery: Discovery) -> None:
    """Add the links of the stored pages, level by level, until none leads to another URL, or nearer to a known one."""
    while _add_links(frontier, discovery):
        pass


def _add_links(frontier: Frontier, discovery: Discovery) -> bool:
    """Add the links of the stored pages whose URL is known; return whether one is new or nearer to the start."""
    found: list[FoundUrl] = []
    for url, depth, links in frontier.page_links():
        found += discovery.links(url, depth, links)
    frontier.add(found)
    return bool(found)


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
    frontier.release_postponed()
    return True


def _count(report: StageReport, result: CrawlResult) -> None:
    report.added += result.added
    report.changed += result.changed
    report.removed += result.removed
    for failure in result.failures:
        report.fail(failure.uri, failure.reason, failure.failure_class)
    for name, number in result.counts.items():
        report.count(name, number)
    report.work += crawling_work(result.added + result.changed + result.unchanged + len(result.failures))
