"""The crawl of one site: claim URLs from the frontier, visit them and record the outcomes until none is left."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from sourcebook.model.progress import Progress
from sourcebook.web.discovery import Discovery
from sourcebook.web.frontier import Frontier
from sourcebook.web.outcome import (
    ClaimedUrl,
    Failed,
    Gone,
    Listed,
    Outcome,
    Postponed,
    Redirected,
    Refused,
    Stored,
    Unchanged,
)
from sourcebook.web.site import Site
from sourcebook.web.visit import Visitor

T = TypeVar("T")
_UNCHANGED_AT_ONCE = 64
"""Confirmations of unchanged pages per transaction."""
_CLAIMED_PER_VISITOR = 16
"""URLs claimed ahead per concurrent visit, because a claim takes as long as several requests."""


@dataclass
class CrawlResult:
    """Counts and failures of a crawl."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """Counts by name: refused, forbidden, redirected, lists, postponed, rendered, bytes."""
    refusals: Counter[str] = field(default_factory=Counter)
    """Number of excluded pages by reason."""
    stopped: str | None = None
    """Reason why the crawl stopped early."""
    waits_for: str | None = None
    """Reason of the last postponed URL."""


class Crawl:
    """One pass over a site's frontier.

    Args:
        site: site to crawl.
        frontier: rows of the site, used by one thread of the crawl.
        visitor: visits URLs.
        discovery: URL selection, shared with the visitor.
        progress: called with the numbers of finished, known and failed URLs.
        trusts_lastmod: whether pages that the sitemap declares unchanged are not requested.
    """

    def __init__(
        self,
        site: Site,
        frontier: Frontier,
        visitor: Visitor,
        discovery: Discovery,
        progress: Progress,
        *,
        trusts_lastmod: bool = True,
    ) -> None:
        self._site = site
        self._frontier = frontier
        self._visitor = visitor
        self._discovery = discovery
        self._progress = progress
        self._trusts_lastmod = trusts_lastmod
        self._database = ThreadPoolExecutor(1, thread_name_prefix="frontier")
        self._ready: deque[ClaimedUrl] = deque()
        self._visits: set[asyncio.Task[Outcome]] = set()
        self._outcomes: list[Outcome] = []
        self._writing = 0
        self._written_at = time.monotonic()
        self._hashes: set[bytes] = set()
        self._live = 0
        self._left = 0
        self._done = 0
        self._result = CrawlResult()

    async def run(self) -> CrawlResult:
        """Visit every queued URL; on an error, record the finished visits and release the claimed URLs."""
        try:
            await self._in_database(self._count)
            await self._work(lists_only=True)
            if self._result.stopped is None:
                if self._trusts_lastmod:
                    skipped = await self._in_database(lambda: self._frontier.skip_unchanged(self._visitor.cleaner))
                    self._result.unchanged += skipped
                    self._left -= skipped
                await self._work(lists_only=False)
        finally:
            await self._give_back()
            self._database.shutdown()
        return self._result

    def _count(self) -> None:
        counts = self._frontier.counts()
        self._live, self._left = counts.live, counts.queued
        self._hashes = self._frontier.page_hashes()

    async def _work(self, *, lists_only: bool) -> None:
        """Run as many visits as the site allows, with claims ahead of them and writes behind them."""
        writing: asyncio.Task[None] | None = None
        exhausted = False
        while True:
            if not exhausted and not self._result.stopped and len(self._ready) < self._site.settings.concurrency:
                exhausted = not await self._claim(lists_only=lists_only)
            self._start_visits()
            if writing is None and self._is_worth_writing():
                writing = asyncio.create_task(self._write())
            if not self._visits and writing is None:
                if exhausted or self._result.stopped:
                    return
                continue
            writings = {writing} if writing is not None else set()
            await asyncio.wait(self._visits | writings, return_when=asyncio.FIRST_COMPLETED)
            for visit in [visit for visit in self._visits if visit.done()]:
                self._visits.discard(visit)
                self._take(visit.result())
            if writing is not None and writing.done():
                await writing
                writing, exhausted = None, False  # the write may have added URLs

    def _is_worth_writing(self) -> bool:
        """Whether to write now: pages at once, confirmations of unchanged pages in batches."""
        return bool(self._outcomes) and (
            _fetched(self._outcomes) > 0
            or len(self._outcomes) >= _UNCHANGED_AT_ONCE
            or not self._visits
            or time.monotonic() - self._written_at > 1
        )

    async def _claim(self, *, lists_only: bool) -> bool:
        """Claim more URLs; return whether there were any."""
        settings = self._site.settings
        wanted = settings.concurrency * _CLAIMED_PER_VISITOR
        new = sum(not url.live for url in self._ready) + len(self._visits)
        room = settings.max_pages - self._live - new
        claimed = await self._in_database(
            lambda: self._frontier.claim(
                wanted if room <= 0 else min(wanted, room), lists_only=lists_only, known_only=room <= 0
            )
        )
        self._ready += claimed
        return bool(claimed)

    def _start_visits(self) -> None:
        # After a kill, a page that is not written is fetched again, so their number is limited.
        unwritten = _fetched(self._outcomes) + self._writing
        while (
            self._ready and len(self._visits) + unwritten < self._site.settings.concurrency and not self._result.stopped
        ):
            self._visits.add(asyncio.create_task(self._visitor.visit(self._ready.popleft())))

    def _take(self, outcome: Outcome) -> None:
        """Count an outcome and update the state of the crawl."""
        outcome = _not_gone(outcome)
        result, claimed = self._result, outcome.claimed
        self._outcomes.append(outcome)
        self._done += 1
        match outcome:
            case Stored():
                self._count_stored(outcome)
            case Gone() | Refused() | Redirected():
                leaves = outcome.removes if isinstance(outcome, Refused) else True
                result.removed += claimed.live and leaves
                self._live -= claimed.live and leaves
                if isinstance(outcome, Refused):
                    result.counts["forbidden" if outcome.by_robots else "refused"] += 1
                    result.refusals[outcome.reason] += 1
                elif isinstance(outcome, Redirected):
                    result.counts["redirected"] += 1
            case Listed():
                result.counts["lists"] += 1
                if claimed.is_start and self._site.settings.follow_links is None:
                    self._discovery.follow_links = False
                if outcome.notice is not None:
                    result.failures.append((claimed.url, outcome.notice))
            case Failed():
                if not claimed.is_start:  # reported as the failure of the site
                    result.failures.append((claimed.url, outcome.reason))
            case Postponed():
                self._done -= 1
                result.counts["postponed"] += 1
                result.waits_for = outcome.reason
            case _:
                result.unchanged += 1
        if claimed.is_start:
            self._judge_start(outcome)

    def _count_stored(self, outcome: Stored) -> None:
        result, claimed, page = self._result, outcome.claimed, outcome.page
        if not claimed.live:
            result.added += 1
            self._live += 1
        elif claimed.sha256 != page.sha256:
            result.changed += 1
        else:
            result.unchanged += 1
        result.counts["bytes"] += page.size
        if page.rendered:
            result.counts["rendered"] += 1
        if claimed.sha256 != page.sha256:
            self._discovery.traps.learned(claimed.url, duplicate=page.sha256 in self._hashes)
            self._hashes.add(page.sha256)

    def _judge_start(self, outcome: Outcome) -> None:
        """Stop the crawl where the start fails: the site is down or has moved, so no page counts as gone."""
        if isinstance(outcome, Failed) and self._result.stopped is None:
            self._result.stopped = f"{outcome.claimed.url}: {outcome.reason}"

    async def _write(self) -> None:
        outcomes, self._outcomes = self._outcomes, []
        self._writing = _fetched(outcomes)
        self._written_at = time.monotonic()
        new = await self._in_database(lambda: self._frontier.record(outcomes, self._visitor.cleaner))
        self._writing = 0
        self._left += new - len(outcomes)
        self._progress(self._done, self._done + max(self._left, 0), len(self._result.failures))

    async def _give_back(self) -> None:
        """Record the finished visits and release the claimed URLs."""
        for visit in self._visits:
            visit.cancel()
        if self._visits:
            await asyncio.wait(self._visits)
        if self._outcomes:
            await self._write()
        await self._in_database(lambda: self._frontier.recover())

    async def _in_database(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._database, work)


def _fetched(outcomes: Sequence[Outcome]) -> int:
    """Count the outcomes other than confirmations of unchanged pages."""
    return sum(not isinstance(outcome, Unchanged) for outcome in outcomes)


def _not_gone(outcome: Outcome) -> Outcome:
    """Return a missing start as a failure, which does not remove its page."""
    if outcome.claimed.is_start and isinstance(outcome, Gone):
        return Failed(outcome.claimed, outcome.reason, transient=True)
    return outcome
