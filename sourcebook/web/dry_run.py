"""A dry run: crawl a site and report on it without keeping anything."""

import asyncio
import heapq
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from psycopg import Connection

from sourcebook.config.html_part import HtmlPart
from sourcebook.config.sites import SiteSource
from sourcebook.model.progress import Progress, silent
from sourcebook.web.cleaners import Cleaners
from sourcebook.web.crawl_report import CrawledUrl, CrawlReport, report_of
from sourcebook.web.crawl_result import CrawlResult
from sourcebook.web.discovery import Discovery, unrequested_links
from sourcebook.web.host_lock import host_lock
from sourcebook.web.login import LoginError
from sourcebook.web.outcome import (
    ClaimedUrl,
    Failed,
    FoundUrl,
    FrontierCounts,
    Gone,
    Listed,
    Outcome,
    PageContent,
    Postponed,
    Recorded,
    Redirected,
    Refused,
    Stored,
)
from sourcebook.web.site import Site
from sourcebook.web.site_crawl import crawl_site
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


@dataclass(slots=True)
class _Known:
    """A URL with its state."""

    id: int
    found: FoundUrl
    depth: int
    state: str = "queued"
    outcome: Outcome | None = None
    seconds: float | None = None


class MemoryFrontier:
    """The URLs of a site, from its start; of pages only type, size, hash and links are kept. Not thread-safe."""

    def __init__(self) -> None:
        self._urls: dict[str, _Known] = {}
        self._numbers = count(1)
        self._pages: list[tuple[int, int, str]] = []
        self._lists: list[tuple[int, int, str]] = []
        self._live = 0

    def add(self, found: Iterable[FoundUrl]) -> int:
        """Add URLs; return the number of new ones."""
        before = len(self._urls)
        for each in found:
            known = self._urls.get(each.url)
            if known is None:
                known = self._urls[each.url] = _Known(next(self._numbers), each, each.depth)
            elif 0 <= each.depth < known.depth:
                known.depth = each.depth
            elif each.role == "start" and known.found.role == "page":
                known.found = each  # the redirect target of the start
            else:
                continue
            self._push(known)
        return len(self._urls) - before

    def _push(self, known: _Known) -> None:
        if known.found.role == "page":
            heapq.heappush(self._pages, (known.depth, known.id, known.found.url))
        else:
            heapq.heappush(self._lists, (-known.depth, known.id, known.found.url))

    def claim_lists(self, limit: int, *, starts_only: bool = False) -> list[ClaimedUrl]:
        """Claim the start and lists, those nearest to the start first."""
        return self._claim(self._lists, limit, deepest=0 if starts_only else None)

    def claim_pages(self, limit: int, *, known_only: bool = False) -> list[ClaimedUrl]:
        """Claim pages in order of their depth; none is stored before a dry run."""
        return [] if known_only else self._claim(self._pages, limit)

    def _claim(self, queue: list[tuple[int, int, str]], limit: int, *, deepest: int | None = None) -> list[ClaimedUrl]:
        claimed: list[ClaimedUrl] = []
        while queue and len(claimed) < limit and (deepest is None or queue[0][0] <= deepest):
            known = self._urls[heapq.heappop(queue)[2]]
            if known.state == "queued" and known.outcome is None:
                known.state = "fetching"
                claimed.append(_claimed(known))
        return claimed

    def counts(self) -> FrontierCounts:
        """Count queued URLs and stored pages."""
        queued = [known for known in self._urls.values() if known.state == "queued"]
        lists = sum(known.found.role != "page" for known in queued)
        return FrontierCounts(len(queued), lists, None, self._live)

    def page_hashes(self) -> set[bytes]:
        """Return the hashes of the stored pages: none before a dry run."""
        return set()

    def skip_unchanged(self, cleaner: str) -> int:
        """Return the number of pages that a list declares unchanged: none."""
        return 0

    def record(self, outcomes: Sequence[Outcome], cleaner: str, seconds: Mapping[int, float]) -> Recorded:
        """Record outcomes and the URLs they found."""
        new = 0
        for outcome in outcomes:
            known = self._urls[outcome.claimed.url]
            known.state = _state(outcome)
            known.seconds = seconds.get(known.id)
            self._live += isinstance(outcome, Stored)
            new += self.add(outcome.found if isinstance(outcome, Stored | Listed | Redirected | Refused) else ())
            known.outcome = _without_content(outcome)
        return new, []

    def recover(self) -> int:
        """Queue the URLs that are claimed; return their number."""
        claimed = [known for known in self._urls.values() if known.state == "fetching"]
        for known in claimed:
            known.state = "queued"
            self._push(known)
        return len(claimed)

    def urls(self, *, max_pages: int) -> list[CrawledUrl]:
        """Return every URL with its state; those that wait although max_pages is reached are beyond it."""
        return [_crawled(known, is_full=self._live >= max_pages) for known in self._urls.values()]


def _claimed(known: _Known) -> ClaimedUrl:
    found = known.found
    return ClaimedUrl(
        id=known.id,
        url=found.url,
        role=found.role,
        listed=found.listed,
        depth=known.depth,
        parent=found.parent,
        attempts=0,
        lastmod=found.lastmod,
        etag=None,
        last_modified=None,
        cleaner=None,
        sha256=None,
        rendered=False,
        live=False,
    )


def _state(outcome: Outcome) -> str:
    match outcome:
        case Redirected():
            return "redirected"
        case Gone():
            return "gone"
        case Refused():
            return "refused"
        case Failed():
            return "failed"
        case Postponed():
            return "queued"
        case _:
            return "fetched"


def _without_content(outcome: Outcome) -> Outcome:
    """Return an outcome without the text of its page and without the URLs that it found."""
    match outcome:
        case Stored(page=page):
            kept = PageContent(
                status=page.status,
                media_type=page.media_type,
                sha256=page.sha256,
                size=page.size,
                canonical_url=page.canonical_url,
                links=page.links,
            )
            return Stored(outcome.claimed, kept)
        case Listed():
            return Listed(outcome.claimed, (), outcome.notice)
        case Refused():
            return Refused(outcome.claimed, outcome.reason, outcome.rule)
        case _:
            return outcome


def _crawled(known: _Known, *, is_full: bool) -> CrawledUrl:
    outcome, found = known.outcome, known.found
    page = outcome.page if isinstance(outcome, Stored) else None
    reason = outcome.notice if isinstance(outcome, Listed) else getattr(outcome, "reason", None)
    return CrawledUrl(
        url=found.url,
        role=found.role,
        state="beyond" if known.state == "queued" and found.role == "page" and is_full else known.state,
        depth=known.depth,
        parent=found.parent,
        reason=reason,
        rule=outcome.rule if isinstance(outcome, Refused) else None,
        failure_class=outcome.failure_class.value if isinstance(outcome, Failed) else None,
        redirects_to=outcome.target if isinstance(outcome, Redirected) else None,
        seconds=known.seconds,
        media_type=page.media_type if page else None,
        size=page.size if page else None,
        sha256=page.sha256 if page else None,
        canonical_url=page.canonical_url if page else None,
        links=page.links if page else None,
    )
