"""The crawl of one site: claim URLs from the frontier, visit them and record the outcomes until none is left."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from sourcebook.errors import FailureClass
from sourcebook.model.held_back import held_back
from sourcebook.model.progress import Progress
from sourcebook.model.report import ItemFailure
from sourcebook.web.claims import ClaimableUrls, Claims
from sourcebook.web.crawl_result import CrawlResult, leaves
from sourcebook.web.discovery import Discovery
from sourcebook.web.emptying import EmptyingGuard
from sourcebook.web.fetch_times import FetchTimes
from sourcebook.web.outcome import (
    ClaimedUrl,
    Failed,
    FoundUrl,
    FrontierCounts,
    Gone,
    Listed,
    Outcome,
    Postponed,
    Recorded,
    Redirected,
    Refused,
    Stored,
    Unchanged,
    soft_not_found,
)
from sourcebook.web.patience import Patience
from sourcebook.web.site import Site
from sourcebook.web.visit import Visitor

T = TypeVar("T")
_UNCHANGED_AT_ONCE = 64
"""Confirmations of unchanged pages per transaction."""
_MOST_SECONDS_UNWRITTEN = 0.05
"""Seconds that a page waits for others of its transaction, while other visits go on."""


class CrawlFrontier(ClaimableUrls, Protocol):
    """The parts of a frontier that a crawl uses; see `sourcebook.web.frontier.Frontier`."""

    def add(self, found: Iterable[FoundUrl]) -> int:
        """Add URLs; return the number of new ones."""

    def counts(self) -> FrontierCounts:
        """Count queued URLs and stored pages."""

    def page_hashes(self) -> set[bytes]:
        """Return the hashes of the stored pages."""

    def skip_unchanged(self, cleaner: str) -> int:
        """Mark URLs as fetched that the sitemap declares unchanged; return their number."""

    def record(self, outcomes: Sequence[Outcome], cleaner: str, seconds: Mapping[int, float]) -> Recorded:
        """Record outcomes and the URLs they found."""

    def recover(self) -> int:
        """Queue the URLs that are claimed; return their number."""


class Crawl:
    """One pass over a site's frontier.

    Args:
        site: site to crawl.
        frontier: rows of the site.
        database: executor of one thread, the only one that uses the frontier.
        visitor: visits URLs.
        times: record of the visitor's responses.
        discovery: URL selection, shared with the visitor.
        progress: called with the numbers of finished, known and failed URLs.
        trusts_lastmod: whether pages that the sitemap declares unchanged are not requested.
        patience: says when the crawl pauses.
        emptying: holds back the loss of many pages.
    """

    def __init__(
        self,
        site: Site,
        frontier: CrawlFrontier,
        database: Executor,
        visitor: Visitor,
        times: FetchTimes,
        discovery: Discovery,
        progress: Progress,
        *,
        trusts_lastmod: bool = True,
        patience: Patience | None = None,
        emptying: EmptyingGuard | None = None,
    ) -> None:
        self._site = site
        self._guard = emptying or EmptyingGuard(None)
        self._most_visits = site.settings.politeness.concurrency
        self._frontier = frontier
        self._database = database
        self._visitor = visitor
        self._times = times
        self._discovery = discovery
        self._progress = progress
        self._trusts_lastmod = trusts_lastmod
        self._patience = patience or Patience(endless=True)
        self._claims = Claims(frontier, site.settings)
        self._visits: set[asyncio.Task[Outcome]] = set()
        self._write_task: asyncio.Task[None] | None = None
        self._outcomes: list[Outcome] = []
        self._writing = 0
        self._written_at = time.monotonic()
        self._fetched_at: float | None = None
        """Time of the first page that is not being written."""
        self._hashes: set[bytes] = set()
        self._live = 0
        self._known = 0
        self._new = 0
        self._done = 0
        self._result = CrawlResult()

    async def run(self, lists: Sequence[FoundUrl] = ()) -> CrawlResult:
        """Visit every queued URL; on an error, record the finished visits and release the claimed URLs.

        Args:
            lists: lists of the site that no other list names.
        """
        try:
            await self._in_database(lambda: self._begin(lists))
            await self._work(first=True)
            if not self._ends_early:
                if self._trusts_lastmod:
                    self._skip(await self._in_database(self._skip_unchanged))
                await self._work(first=False)
            while not self._ends_early and (released := self._guard.release()):
                for outcome in released:
                    self._count(outcome)
                await self._work(first=False)
            self._result.paused = self._patience.is_over
            if self._result.paused:  # the next run would request again what waits
                for outcome in self._guard.release_single():
                    self._count(outcome)
        finally:
            await self._give_back()
        return self._result

    def _begin(self, lists: Sequence[FoundUrl]) -> None:
        self._frontier.add(lists)
        counts = self._frontier.counts()
        self._live, self._known, self._new = counts.live, counts.known, counts.queued - counts.known
        self._hashes = self._frontier.page_hashes()
        self._guard.begin(self._live, self._hashes)

    async def _work(self, *, first: bool) -> None:
        """Run as many visits as the site allows, with claims ahead of them and writes behind them.

        Args:
            first: whether to visit only the start and the first lists.
        """
        exhausted = False
        while True:
            if not exhausted and not self._ends_early and len(self._claims) < self._most_visits:
                exhausted = not await self._claim(first=first)
            self._start_visits()
            if self._write_task is None and self._is_worth_writing():
                self._write_task = asyncio.create_task(self._write(skips=not first))
            if not self._visits and self._write_task is None:
                if exhausted or self._ends_early:
                    return
                continue
            await asyncio.wait(self._running, timeout=self._seconds_to_write(), return_when=asyncio.FIRST_COMPLETED)
            for visit in [visit for visit in self._visits if visit.done()]:
                self._visits.discard(visit)
                self._take(visit.result())
            while self._visitor.not_found.earlier:
                self._count(soft_not_found(replace(self._visitor.not_found.earlier.pop(), live=True)))
            if self._write_task is not None and self._write_task.done():
                written, self._write_task = self._write_task, None
                await written
                exhausted = False  # the write may have added URLs

    @property
    def _running(self) -> "set[asyncio.Task[Any]]":
        return self._visits if self._write_task is None else {*self._visits, self._write_task}

    @property
    def _ends_early(self) -> bool:
        return self._result.stopped is not None or self._patience.is_over

    def _is_worth_writing(self) -> bool:
        """Whether to write now: a few pages together, and confirmations of unchanged pages in larger batches.

        A page waits for others of its transaction only while there are URLs to visit meanwhile.
        """
        fetched = _fetched(self._outcomes)
        return bool(self._outcomes) and (
            (fetched > 0 and (not self._claims or fetched >= self._together or self._seconds_to_write() == 0))
            or len(self._outcomes) >= _UNCHANGED_AT_ONCE
            or not self._visits
            or time.monotonic() - self._written_at > 1
        )

    def _seconds_to_write(self) -> float | None:
        """Return the seconds until the pages that wait are written; None where none waits, or a write is going on."""
        if self._write_task is not None or self._fetched_at is None:
            return None
        return max(0.0, self._fetched_at + _MOST_SECONDS_UNWRITTEN - time.monotonic())

    @property
    def _together(self) -> int:
        """Pages per transaction; those that wait take the place of visits."""
        return max(1, self._most_visits // 4)

    async def _claim(self, *, first: bool) -> bool:
        live, visits = self._live, len(self._visits)
        return await self._in_database(lambda: self._claims.claim(first=first, live=live, visits=visits))

    def _start_visits(self) -> None:
        # After a kill, a page that is not written is fetched again, so their number is limited.
        unwritten = _fetched(self._outcomes) + self._writing
        while self._claims and len(self._visits) + unwritten < self._most_visits and not self._ends_early:
            claimed = self._claims.next()
            self._times.expect(claimed.url)
            self._visits.add(asyncio.create_task(self._visitor.visit(claimed)))

    def _take(self, outcome: Outcome) -> None:
        """Record an outcome, unless the loss of its page waits; stop the crawl where too many would be lost."""
        outcome = _not_gone(outcome)
        if (settled := self._guard.take(outcome)) is not None:
            self._count(settled)
        if self._guard.holds and self._result.stopped is None:
            lost_as = "gone or alike at once, as of a server in maintenance"
            reason = held_back(self._guard.lost, self._guard.pages, self._site.collection, lost_as)
            self._result.stopped = ItemFailure(self._site.location, reason, FailureClass.HELD)

    def _count(self, outcome: Outcome) -> None:
        """Count an outcome and update the state of the crawl."""
        claimed = outcome.claimed
        self._outcomes.append(outcome)
        if self._fetched_at is None and not isinstance(outcome, Unchanged):
            self._fetched_at = time.monotonic()
        self._result.take(outcome)
        if not isinstance(outcome, Postponed):
            self._done += 1
            self._known -= _is_known(claimed)
            self._new -= not _is_known(claimed)
        match outcome:
            case Stored():
                self._live += not claimed.live
                self._learn(outcome)
            case Gone() | Refused() | Redirected():
                self._live -= leaves(outcome)
            case Listed():
                if claimed.is_start and self._site.settings.follow_links is None:
                    self._discovery.follow_links = False
        if claimed.is_start:
            self._judge_start(outcome)

    def _learn(self, outcome: Stored) -> None:
        """Let the detection of traps know whether a new page had new content."""
        claimed, page = outcome.claimed, outcome.page
        if claimed.sha256 != page.sha256:
            self._discovery.traps.learned(claimed.url, duplicate=page.sha256 in self._hashes)
            self._hashes.add(page.sha256)

    def _judge_start(self, outcome: Outcome) -> None:
        """Stop the crawl where the start fails: the site is down or has moved, so no page counts as gone."""
        if isinstance(outcome, Failed) and self._result.stopped is None:
            self._result.shows_login = outcome.asks_login
            self._result.stopped = ItemFailure(
                outcome.claimed.url, f"{outcome.claimed.url}: {outcome.reason}", outcome.failure_class
            )

    async def _write(self, *, skips: bool = False) -> None:
        """Record the outcomes.

        Args:
            skips: whether pages that a list among them declares unchanged are skipped at once.
        """
        outcomes, self._outcomes, self._fetched_at = self._outcomes, [], None
        self._writing = _fetched(outcomes)
        self._written_at = time.monotonic()
        seconds = {each.claimed.id: self._times.take(each.claimed.url) for each in outcomes}
        taken = {number: each for number, each in seconds.items() if each is not None}
        cleaner = self._visitor.cleaner
        new, refused = await self._in_database(lambda: self._frontier.record(outcomes, cleaner, taken))
        self._new += new
        for outcome, failed in refused:
            self._result.take_failed(outcome, failed)
        self._claims.lists_wait |= any(_names_lists(outcome) for outcome in outcomes)
        if skips and self._trusts_lastmod and any(isinstance(outcome, Listed) for outcome in outcomes):
            self._skip(await self._in_database(self._skip_unchanged))
        self._writing = 0
        room = max(self._site.settings.max_pages - self._live, 0)
        left = max(self._known, 0) + min(max(self._new, 0), room)
        self._progress(self._done, self._done + left, len(self._result.failures))

    def _skip_unchanged(self) -> int:
        return self._frontier.skip_unchanged(self._visitor.cleaner)

    def _skip(self, pages: int) -> None:
        self._result.unchanged += pages
        self._known -= pages

    async def _give_back(self) -> None:
        """Record the finished visits and release the claimed URLs, after the write that is in progress."""
        for visit in self._visits:
            visit.cancel()
        if self._running:
            await asyncio.wait(self._running)
        if self._outcomes:
            await self._write()
        await self._in_database(self._frontier.recover)

    async def _in_database(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._database, work)


def _fetched(outcomes: Sequence[Outcome]) -> int:
    """Count the outcomes other than confirmations of unchanged pages."""
    return sum(not isinstance(outcome, Unchanged) for outcome in outcomes)


def _is_known(claimed: ClaimedUrl) -> bool:
    """Return whether a URL is requested although max_pages is reached."""
    return claimed.live or claimed.role != "page"


def _names_lists(outcome: Outcome) -> bool:
    """Return whether an outcome found lists, or another start."""
    return isinstance(outcome, Listed | Redirected) and any(url.role != "page" for url in outcome.found)


def _not_gone(outcome: Outcome) -> Outcome:
    """Return a missing start as a failure, which does not remove its page."""
    if outcome.claimed.is_start and isinstance(outcome, Gone):
        return Failed(outcome.claimed, outcome.reason, transient=True, failure_class=FailureClass.MISSING)
    return outcome
