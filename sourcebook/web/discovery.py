"""Selection of the URLs to visit among those named by pages and lists, the limits on lists, and what is left out."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sourcebook.config.sites import SiteSource
from sourcebook.web.crawl_report import CrawledUrl
from sourcebook.web.left_out import LeftOut, LeftOutBy, LeftOutLinks, LeftOutUrls
from sourcebook.web.outcome import ClaimedUrl, FoundUrl, Listed
from sourcebook.web.pagination import continues
from sourcebook.web.site_scope import SiteScope
from sourcebook.web.traps import TrapGuard
from sourcebook.web.url import host_of, registered_domain

_WAYS_PER_PAGE = 10
"""Pages read for their links alone, per page of `max_pages`: a site without an end is left somewhere."""


class Discovery:
    """Selects URLs by the site's scope, its depth and its traps.

    Args:
        settings: settings of the site.
        start: URL of the site in normal form.
        follow_links: whether links are followed; without a setting, a start that is a list turns it off.
    """

    def __init__(self, settings: SiteSource, start: str, *, follow_links: bool) -> None:
        self.scope = SiteScope.of(settings, start)
        self.traps = TrapGuard()
        self.limits = ListLimits(settings.max_pages)
        self.follow_links = follow_links
        self.max_depth = settings.max_depth
        self.left_out = LeftOutUrls()
        self._start = start
        self._starts = {start}
        self._folder = start.partition("?")[0].rpartition("/")[0] + "/"
        self._ways: set[str] = set()
        self._most_ways = _WAYS_PER_PAGE * settings.max_pages
        self._follows_by_default = settings.follow_links is None
        self._seen: dict[str, int] = {}

    def recall(self, starts: Iterable[tuple[str, str]]) -> None:
        """Restore the state of earlier crawls: the hosts of the start, and whether it is a list.

        Args:
            starts: (URL, role) of the site's URL and of its redirect targets.
        """
        for url, role in starts:
            self._starts.add(url)
            self._enter(host_of(url))
            if role == "list" and self._follows_by_default:
                self.follow_links = False

    def links(self, page: str, depth: int, links: Iterable[str], following: Iterable[str] = ()) -> tuple[FoundUrl, ...]:
        """Return the links of a page to visit, without those already found at the same or a lower depth.

        The links of the start are followed whether or not the patterns take it. The next page of a list is no deeper.

        Args:
            page: URL of the page.
            depth: number of links between the start and the page.
            links: links in normal form.
            following: those among them that the page calls its next page.
        """
        if not self.follow_links or not self.leads_on(page):
            return ()
        depth = max(depth, 0)
        found = ((link, depth if continues(page, link, following) else depth + 1) for link in links)
        return tuple(FoundUrl(link, at, page) for link, at in found if at <= self.max_depth and self._wants(link, at))

    def left_out_by(self, link: str, page: str, depth: int) -> LeftOutBy:
        """Return the first rule that leaves a link of a page out; see `LeftOutRule` for their order.

        Args:
            link: URL in normal form on the site's hosts that was not requested.
            page: URL of the page.
            depth: number of links between the start and the page.
        """
        if not self.follow_links:
            return LeftOutBy("follow_links")
        if (refusal := self.scope.refusal(link)) is not None:
            return LeftOutBy("patterns", *refusal)
        if not self.scope.follows(link):
            return LeftOutBy("type")
        if not self.leads_on(page):
            return LeftOutBy("follow")
        if max(depth, 0) >= self.max_depth:
            return LeftOutBy("max_depth")
        return LeftOutBy("nofollow" if self.traps.refusal(link) is None else "trap")

    def listed(
        self,
        claimed: ClaimedUrl,
        entries: Iterable[tuple[str, str | None]],
        lists: Iterable[str] = (),
        notice: str | None = None,
    ) -> Listed:
        """Return the outcome of a list: its URLs that belong to the site, without a check for traps, and its lists.

        Args:
            claimed: URL of the list.
            entries: URL and lastmod of its entries.
            lists: lists that it names; those on the site's own hosts are read, whether or not the patterns match.
            notice: warning about entries that could not be read.
        """
        wanted = [ListedUrl(url, lastmod) for url, lastmod in entries if self._belongs(url)]
        pages, cut_pages = self.limits.urls(wanted)
        self._seen.update((url, 0) for url, _ in pages)
        found = [FoundUrl(url, 0, claimed.url, listed=True, lastmod=lastmod) for url, lastmod in pages]
        depth = min(claimed.depth, 0) - 1
        named, cut_lists = self.limits.lists([url for url in lists if self.is_own_host(url)], level=-depth)
        found += [FoundUrl(url, depth, claimed.url, role="list", listed=True) for url in named]
        notices = [each for each in (notice, cut_pages, cut_lists) if each is not None]
        return Listed(claimed, tuple(found), "; ".join(notices) or None)

    def lists(self, urls: Iterable[str]) -> tuple[FoundUrl, ...]:
        """Return the lists on the site's own hosts that no other list names."""
        named, _ = self.limits.lists([url for url in urls if self.is_own_host(url)], level=1)
        return tuple(FoundUrl(url, -1, None, role="list", listed=True) for url in named)

    def elsewhere(self, claimed: ClaimedUrl, target: str) -> FoundUrl | None:
        """Return the target of a redirect as a URL to visit; None where it leads off the site.

        The start may redirect to another host of its domain, which then belongs to the site.
        """
        host = host_of(target)
        if claimed.is_start:
            self._starts.add(target)
            self._enter(host)
        allowed = self.is_own_host(target) if claimed.role != "page" else self.scope.takes(target)
        if not allowed:
            return None
        return FoundUrl(target, claimed.depth, claimed.url, role=claimed.role, listed=claimed.listed)

    def canonical(self, claimed: ClaimedUrl, target: str) -> tuple[FoundUrl, ...]:
        """Return the canonical URL of a page as a URL to visit where it belongs to what the site's URL asks for.

        Old versions name the newest one, which nobody asked for.
        """
        found = FoundUrl(target, claimed.depth, claimed.url)
        return (found,) if self.scope.keeps(target) and target.startswith(self._folder) else ()

    def leads_on(self, page: str) -> bool:
        """Return whether the links of a page are followed: those of the start are, whatever the patterns take."""
        return page in self._starts or self.scope.leads_on(page)

    def may_lead_on(self, page: str) -> bool:
        """Return whether the links of a page that is no document are followed; there are ten such per `max_pages`."""
        if page not in self._ways and len(self._ways) >= self._most_ways:
            return False
        self._ways.add(page)
        return True

    def note_links(self, links: Iterable[tuple[str, str, int]]) -> None:
        """Note by which rules links of stored pages were not requested: unchanged pages name theirs only once.

        Args:
            links: (link, page, depth) of links that are no known URLs; see `left_out_by`.
        """
        for link, page, depth in links:
            if self.is_own_host(link) and (by := self.left_out_by(link, page, depth)).rule != "type":
                self.left_out.note(link, (by.setting or by.rule, by.pattern))

    def _note(self, url: str) -> None:
        if url not in self._starts:
            self.left_out.note(url, self.scope.refusal(url))

    def _enter(self, host: str) -> None:
        """Add a host to the site where it is of the start's domain."""
        if registered_domain(host) == registered_domain(host_of(self._start)):
            self.scope = self.scope.with_host(host)

    def _wants(self, url: str, depth: int) -> bool:
        known = self._seen.get(url)
        if known is not None and known <= depth:
            return False
        wanted = self._belongs(url) and self.traps.refusal(url) is None
        if wanted:
            self._seen[url] = depth
        return wanted

    def _belongs(self, url: str) -> bool:
        """Whether the patterns and the file type let a URL in; what the patterns leave out is noted."""
        if not self.scope.follows(url):
            self._note(url)
            return False
        if url in self._ways or self.scope.keeps(url):
            return True
        return self.follow_links and self.may_lead_on(url)

    def is_own_host(self, url: str) -> bool:
        """Return whether a URL is on a host of the site."""
        host = host_of(url)
        return host in self.scope.hosts or (
            self.scope.domain is not None and registered_domain(host) == self.scope.domain
        )


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


def unrequested_links(
    urls: Sequence[CrawledUrl], discovery: Discovery, by_patterns: Sequence[LeftOut]
) -> tuple[LeftOutLinks, ...]:
    """Return the links of stored pages to the site that are no known URLs, and what the patterns left out.

    Args:
        urls: the known URLs of the site.
        discovery: the rules of its crawl.
        by_patterns: counts of the crawl, which has also seen the URLs of lists, and links of pages that are not stored.
    """
    known = {each.url for each in urls}
    found: defaultdict[LeftOutBy, dict[str, str]] = defaultdict(dict)
    judged: set[str] = set()
    for page in sorted((each for each in urls if each.links), key=lambda each: each.depth):
        for link in page.links or ():
            if link not in known and link not in judged and discovery.is_own_host(link):
                judged.add(link)
                found[discovery.left_out_by(link, page.url, page.depth)][link] = page.url
    counted = {
        LeftOutBy("patterns", entry.setting, entry.pattern): entry
        for entry in by_patterns
        if entry.setting in {"include", "keep", "exclude"}
    }
    for by, entry in counted.items():
        for url in entry.examples:
            found[by].setdefault(url, "")
    return tuple(
        LeftOutLinks(*by, number=max(len(found[by]), counted[by].urls if by in counted else 0), urls=found[by])
        for by in sorted(found, key=lambda by: (by.rule, by.setting or "", by.pattern or ""))
    )
