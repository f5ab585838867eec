"""The order in which a crawl visits the URLs of its frontier: the start, some lists, then pages and lists in turn."""

from collections import deque
from collections.abc import Sequence
from typing import Protocol

from sourcebook.config.sites import SiteSource
from sourcebook.web.outcome import ClaimedUrl

FIRST_LISTS = 20
"""Lists that are read before the first page, so that pages which they declare unchanged are not requested."""
_PER_VISITOR = 16
"""URLs claimed ahead per concurrent visit, because a claim takes as long as several requests."""
_LISTS_IN = 4
"""One of so many URLs is a list, where both wait."""


class ClaimableUrls(Protocol):
    """The queue of a frontier."""

    def claim_lists(self, limit: int, *, starts_only: bool = False) -> list[ClaimedUrl]:
        """Claim the start and lists, those nearest to the start first."""

    def claim_pages(self, limit: int, *, known_only: bool = False) -> list[ClaimedUrl]:
        """Claim pages in order of their depth."""


class Claims:
    """URLs claimed ahead for the visitors of a crawl.

    Args:
        frontier: queue of the site.
        settings: settings of the site: the number of visitors and of pages.
    """

    def __init__(self, frontier: ClaimableUrls, settings: SiteSource) -> None:
        self._frontier = frontier
        self._settings = settings
        self._ready: deque[ClaimedUrl] = deque()
        self._first_lists = FIRST_LISTS
        self.lists_wait = True
        """Whether a list may be queued."""

    def __len__(self) -> int:
        return len(self._ready)

    def next(self) -> ClaimedUrl:
        """Return the next claimed URL."""
        return self._ready.popleft()

    def claim(self, *, first: bool, live: int, visits: int) -> bool:
        """Claim more URLs; return whether there were any.

        Args:
            first: whether to claim only the start and the first lists.
            live: number of stored pages.
            visits: number of visits in progress.
        """
        wanted = self._settings.politeness.concurrency * _PER_VISITOR
        claimed = self._claim_first(wanted) if first else self._claim_mixed(wanted, live, visits)
        self._ready += claimed
        return bool(claimed)

    def _claim_first(self, wanted: int) -> list[ClaimedUrl]:
        limit = min(wanted, self._first_lists) or wanted
        claimed = self._frontier.claim_lists(limit, starts_only=not self._first_lists)
        self._first_lists -= min(sum(url.depth < 0 for url in claimed), self._first_lists)
        return claimed

    def _claim_mixed(self, wanted: int, live: int, visits: int) -> list[ClaimedUrl]:
        lists = self._frontier.claim_lists(wanted // _LISTS_IN) if self.lists_wait else []
        self.lists_wait = bool(lists)
        new = sum(not url.live for url in self._ready) + visits
        room = self._settings.max_pages - live - new
        wanted -= len(lists)
        pages = self._frontier.claim_pages(wanted if room <= 0 else min(wanted, room), known_only=room <= 0)
        return _in_turn(lists, pages)


def _in_turn(lists: Sequence[ClaimedUrl], pages: Sequence[ClaimedUrl]) -> list[ClaimedUrl]:
    """Return the pages with a list before every third of them, and the lists that are left over."""
    mixed: list[ClaimedUrl] = []
    left = deque(lists)
    for place, page in enumerate(pages):
        if left and place % (_LISTS_IN - 1) == 0:
            mixed.append(left.popleft())
        mixed.append(page)
    return [*mixed, *left]
