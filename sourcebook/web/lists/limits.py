"""Limits on the lists of a site, because a list may name lists without end, and URLs by the million."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_LEVELS = 3
"""Levels of lists: a sitemap index may name indexes, and these sitemaps. The standard allows two."""
MOST_LISTS = 1000
"""Lists of a site. A sitemap holds up to 50,000 URLs."""
MOST_URLS = 100_000
"""URLs that are taken of one list, twice what the standard allows; max_pages where that is more."""
MOST_URLS_TOGETHER = 200_000
"""URLs that are taken of all lists in one crawl; twice max_pages where that is more."""


class ListedUrl(NamedTuple):
    """A URL of a list."""

    url: str
    lastmod: str | None = None


@dataclass(slots=True)
class ListLimits:
    """Counts the lists of a site and their URLs during one crawl.

    Args:
        max_pages: setting of the site.
    """

    max_pages: int
    _lists: set[str] = field(default_factory=set)
    _urls: set[str] = field(default_factory=set)

    def recall(self, lists: Iterable[str]) -> None:
        """Count lists that earlier crawls found."""
        self._lists.update(lists)

    def lists(self, urls: Sequence[str], *, level: int) -> tuple[list[str], str | None]:
        """Return the lists to read, and a sentence on those that are left out.

        Args:
            urls: lists that the configuration, robots.txt or another list names.
            level: 1 for those that no list names, 2 for those that such a list names, and so on.
        """
        new = [url for url in dict.fromkeys(urls) if url not in self._lists]
        if level > MOST_LEVELS:
            cut = f"{len(new):,} lists that it names are not read: no more than {MOST_LEVELS} levels of lists are"
            return [], cut if new else None
        room = max(MOST_LISTS - len(self._lists), 0)
        self._lists.update(new[:room])
        left = len(new) - room
        cut = f"{left:,} of the {len(new):,} lists that it names are not read: no more than {MOST_LISTS:,} lists are"
        return [url for url in dict.fromkeys(urls) if url in self._lists], cut if left > 0 else None

    def urls(self, entries: Sequence[ListedUrl]) -> tuple[list[ListedUrl], str | None]:
        """Return the URLs of a list to request, and a sentence on those that are left out.

        Args:
            entries: URLs of the list that belong to the site, without repetition.
        """
        most, together = max(MOST_URLS, self.max_pages), max(MOST_URLS_TOGETHER, 2 * self.max_pages)
        kept: list[ListedUrl] = []
        for entry in entries:
            if len(kept) == most:
                break
            if entry.url in self._urls or len(self._urls) < together:
                self._urls.add(entry.url)
                kept.append(entry)
        left = len(entries) - len(kept)
        limit = f"{most:,} of a list" if len(kept) == most else f"{together:,} of all lists together"
        cut = f"{left:,} of its {len(entries):,} URLs are left out: no more than {limit} are taken"
        return kept, cut if left else None
