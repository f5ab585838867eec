"""Selection of the URLs to visit among those named by pages and lists."""

from collections.abc import Iterable

from sourcebook.config.sites import SiteSource
from sourcebook.web.outcome import ClaimedUrl, FoundUrl
from sourcebook.web.site_scope import SiteScope
from sourcebook.web.traps import TrapGuard
from sourcebook.web.url import host_of, registered_domain


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
        self.follow_links = follow_links
        self.max_depth = settings.max_depth
        self._start = start
        self._follows_by_default = settings.follow_links is None
        self._seen: dict[str, int] = {}

    def recall(self, starts: Iterable[tuple[str, str]]) -> None:
        """Restore the state of earlier crawls: the hosts of the start, and whether it is a list.

        Args:
            starts: (URL, role) of the site's URL and of its redirect targets.
        """
        for url, role in starts:
            self._enter(host_of(url))
            if role == "list" and self._follows_by_default:
                self.follow_links = False

    def links(self, page: str, depth: int, links: Iterable[str]) -> tuple[FoundUrl, ...]:
        """Return the links of a page to visit, without those already found at the same or a lower depth.

        Args:
            page: URL of the page.
            depth: number of links between the start and the page.
            links: links in normal form.
        """
        depth = max(depth, 0) + 1
        if not self.follow_links or depth > self.max_depth:
            return ()
        return tuple(FoundUrl(link, depth, page) for link in links if self._wants(link, depth))

    def listed(self, claimed: ClaimedUrl, entries: Iterable[tuple[str, str | None]]) -> tuple[FoundUrl, ...]:
        """Return the URLs of a list that belong to the site, without a check for traps."""
        found = []
        for url, lastmod in entries:
            if self.scope.follows(url):
                self._seen[url] = 0
                found.append(FoundUrl(url, 0, claimed.url, listed=True, lastmod=lastmod))
        return tuple(found)

    def lists(self, parent: str | None, urls: Iterable[str]) -> tuple[FoundUrl, ...]:
        """Return the lists on the site's own hosts, whether or not the patterns for pages match."""
        return tuple(
            FoundUrl(url, -1, parent, role="list", listed=True) for url in dict.fromkeys(urls) if self._is_own_host(url)
        )

    def elsewhere(self, claimed: ClaimedUrl, target: str) -> FoundUrl | None:
        """Return the target of a redirect as a URL to visit; None where it leads off the site.

        The start may redirect to another host of its domain, which then belongs to the site.
        """
        host = host_of(target)
        if claimed.is_start:
            self._enter(host)
        allowed = self._is_own_host(target) if claimed.role != "page" else self.scope.takes(target)
        if not allowed:
            return None
        return FoundUrl(target, claimed.depth, claimed.url, role=claimed.role, listed=claimed.listed)

    def canonical(self, claimed: ClaimedUrl, target: str) -> tuple[FoundUrl, ...]:
        """Return the canonical URL of a page as a URL to visit where it belongs to the site."""
        found = FoundUrl(target, claimed.depth, claimed.url)
        return (found,) if self.scope.takes(target) else ()

    def _enter(self, host: str) -> None:
        """Add a host to the site where it is of the start's domain."""
        if registered_domain(host) == registered_domain(host_of(self._start)):
            self.scope = self.scope.with_host(host)

    def _wants(self, url: str, depth: int) -> bool:
        known = self._seen.get(url)
        if known is not None and known <= depth:
            return False
        wanted = self.scope.follows(url) and self.traps.refusal(url) is None
        if wanted:
            self._seen[url] = depth
        return wanted

    def _is_own_host(self, url: str) -> bool:
        host = host_of(url)
        return host in self.scope.hosts or (
            self.scope.domain is not None and registered_domain(host) == self.scope.domain
        )
