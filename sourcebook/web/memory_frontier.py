"""The frontier of a dry run, in memory."""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from sourcebook.web.crawl_report import CrawledUrl
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
    Redirected,
    Refused,
    Stored,
)


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

    def record(self, outcomes: Sequence[Outcome], cleaner: str, seconds: Mapping[int, float]) -> int:
        """Record outcomes and the URLs they found; return the number of new URLs."""
        new = 0
        for outcome in outcomes:
            known = self._urls[outcome.claimed.url]
            known.state = _state(outcome)
            known.seconds = seconds.get(known.id)
            self._live += isinstance(outcome, Stored)
            new += self.add(outcome.found if isinstance(outcome, Stored | Listed | Redirected | Refused) else ())
            known.outcome = _without_content(outcome)
        return new

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
