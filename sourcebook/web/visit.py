"""Visit one URL of a site: request it and turn the response into an outcome."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import suppress
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urlsplit

from sourcebook.config.parsing import HtmlPart
from sourcebook.config.sites import SiteSource
from sourcebook.model.media_types import HTML, MARKDOWN, media_type_of_name
from sourcebook.parsing.html.cleaner import CleanedPage, clean_page, cleaner_identity
from sourcebook.parsing.registry import skip_reason
from sourcebook.web.discovery import Discovery
from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.host_rules import HostRules
from sourcebook.web.fetching.politeness import HostLimiter
from sourcebook.web.fetching.retries import Fetcher, fetch_with_retries
from sourcebook.web.fetching.robots import tag_directives
from sourcebook.web.http_types import FetchError, NotAPageError, Request, Response
from sourcebook.web.lists.llms import links_of, looks_like_llms
from sourcebook.web.lists.sitemap import SitemapError, looks_like_sitemap, read_sitemap
from sourcebook.web.outcome import (
    ClaimedUrl,
    Failed,
    FoundUrl,
    Gone,
    Listed,
    Outcome,
    Postponed,
    Redirected,
    Refused,
    Stored,
    Unchanged,
)
from sourcebook.web.page_content import DOCUMENT_TYPES, media_type_of, normal_links, page_of
from sourcebook.web.url import host_of, normal_form

MOST_REDIRECTS = 10
"""Redirects followed in a row."""
SETTLED = 6
"""Attempts, over about an hour, after which a temporary redirect counts as permanent; earlier it may be maintenance."""
_GONE = frozenset({404, 410})
_FOR_NOW = frozenset({302, 303, 307})


class PageRenderer(Protocol):
    """A browser that runs a page's scripts."""

    async def render(self, url: str) -> Response:
        """Return the page after its scripts ran, or raise FetchError."""


class Visitor:
    """Visits the URLs of one site.

    Args:
        settings: settings of the site.
        discovery: selection of the URLs to visit.
        fetcher: HTTP client.
        renderer: browser, started for the first page that needs it.
        limiter: request rate of each host.
        breaker: circuit breaker of each host.
        cleaners: executor that cleans pages beside the event loop.
        keep: the part of a page that is kept.
        force: whether requests are unconditional, so that unchanged pages are sent too.
    """

    def __init__(
        self,
        settings: SiteSource,
        discovery: Discovery,
        *,
        fetcher: Fetcher,
        renderer: PageRenderer,
        limiter: HostLimiter,
        breaker: CircuitBreaker,
        cleaners: Executor,
        keep: HtmlPart = "main",
        force: bool = False,
    ) -> None:
        self._settings = settings
        self._discovery = discovery
        self._fetcher = fetcher
        self._renderer = renderer
        self._limiter = limiter
        self._breaker = breaker
        self._cleaners = cleaners
        self._keep = keep
        self.cleaner = cleaner_identity(keep)
        self._force = force
        self.rules = HostRules(fetcher, limiter, breaker, settings.user_agent)
        self._redirects: dict[str, str] = {}
        self._hops: dict[str, int] = {}

    async def visit(self, claimed: ClaimedUrl) -> Outcome:
        """Return the outcome of a URL; failures are outcomes, too."""
        try:
            if self._settings.respect_robots and not (await self.rules.of(claimed.url)).allowed(claimed.url):
                agent = self._settings.user_agent.partition("/")[0]
                return Refused(claimed, f"robots.txt of {host_of(claimed.url)} forbids it to {agent}", by_robots=True)
            if self._settings.render == "always" and claimed.role == "page" and _may_be_html(claimed.url):
                with suppress(NotAPageError):
                    return await self._answer(claimed, await self._renderer.render(claimed.url))
            response = await fetch_with_retries(self._fetcher, self._limiter, self._breaker, self._request(claimed))
            return await self._answer(claimed, response)
        except FetchError as error:
            if error.retry_after is not None:
                return Postponed(claimed, datetime.now(UTC) + error.retry_after, str(error))
            return Failed(claimed, str(error), error.transient)

    def _request(self, claimed: ClaimedUrl) -> Request:
        known = claimed.live and claimed.cleaner == self.cleaner and not claimed.rendered and not self._force
        # A list is requested unconditionally, because its entries are not stored.
        if not known or claimed.role == "list":
            return Request(claimed.url)
        return Request(claimed.url, claimed.etag, claimed.last_modified)

    async def _answer(self, claimed: ClaimedUrl, response: Response) -> Outcome:
        status = response.status
        if 200 <= status < 300:
            return await self._read(claimed, response)
        if status == 304 and claimed.live:
            return Unchanged(claimed)
        if status == 304:
            return Failed(
                claimed, "the server answers 304, that it is as before, though it was never read", transient=True
            )
        if 300 <= status < 400:
            return self._redirect(claimed, response)
        if status in _GONE:
            return self._missing(claimed, status)
        if status in {401, 403}:
            return Failed(
                claimed, f"the server answers {status}: it wants to know who asks; see `headers` of the site", False
            )
        if status >= 500:
            return Failed(claimed, f"the server answers {status}: it has trouble of its own", transient=True)
        return Failed(claimed, f"the server answers {status}", transient=False)

    def _missing(self, claimed: ClaimedUrl, status: int) -> Outcome:
        if claimed.live or claimed.depth < 0:
            return Gone(claimed, f"the server answers {status}: it is not there")
        if claimed.listed or claimed.parent is None:
            named = f" though {claimed.parent} names it" if claimed.parent else ""
            return Failed(claimed, f"the server answers {status}: it is not there{named}", transient=False)
        return Refused(claimed, f"the server answers {status}: {claimed.parent} links to it, but it is not there")

    def _redirect(self, claimed: ClaimedUrl, response: Response) -> Outcome:
        location = response.headers.get("location", "")
        target = normal_form(location, claimed.url) if location else None
        if target is None:
            return Failed(claimed, f"it redirects to {location[:200]!r}, which is no web address", transient=False)
        if response.status in _FOR_NOW and claimed.live and claimed.attempts < SETTLED and not claimed.is_start:
            reason = f"it redirects for now (status {response.status}) to {target}; kept as it was until that lasts"
            return Failed(claimed, reason, transient=True)
        self._redirects[claimed.url] = target
        self._hops[target] = min(self._hops.get(claimed.url, 0) + 1, self._hops.get(target, MOST_REDIRECTS + 1))
        if self._hops[target] > MOST_REDIRECTS:
            return Failed(claimed, f"the redirects that lead here are more than {MOST_REDIRECTS}", transient=False)
        if self._leads_back(claimed.url):
            return Failed(claimed, f"its redirects go round in a circle, by {target}", transient=False)
        found = self._discovery.elsewhere(claimed, target)
        return _led_away(claimed, target) if found is None else Redirected(claimed, target, (found,))

    def _leads_back(self, url: str) -> bool:
        following = self._redirects.get(url)
        for _ in range(MOST_REDIRECTS):
            if following is None or following == url:
                break
            following = self._redirects.get(following)
        return following == url

    async def _read(self, claimed: ClaimedUrl, response: Response) -> Outcome:
        if (
            claimed.role != "page"
            and not response.rendered
            and (listed := self._read_list(claimed, response)) is not None
        ):
            return listed
        if claimed.depth < 0:
            return Gone(claimed, "it is neither a sitemap nor an llms.txt")
        if response.final_url is not None:
            return self._moved(claimed, response.final_url)
        media_type = media_type_of(response)
        if media_type not in DOCUMENT_TYPES:
            return Refused(claimed, skip_reason(media_type), removes=True)
        if media_type != HTML:
            return self._store(claimed, response, media_type, None)
        cleaned = await self._clean(response)
        if not response.rendered and self._wants_scripts(cleaned):
            return await self._answer(claimed, await self._renderer.render(claimed.url))
        if not cleaned.markdown.strip():
            return self._without_text(claimed, cleaned, response)
        return self._store(claimed, response, media_type, cleaned)

    def _read_list(self, claimed: ClaimedUrl, response: Response) -> Outcome | None:
        """Return the entries of a sitemap or llms.txt, or the text of an llms-full.txt; None for any other response."""
        if looks_like_sitemap(response.body):
            try:
                sitemap = read_sitemap(response.body, claimed.url, max_bytes=self._settings.max_bytes)
            except SitemapError as error:
                return Failed(claimed, str(error), transient=False)
            found = self._discovery.listed(claimed, sitemap.urls)
            return Listed(
                claimed,
                found + self._discovery.lists(claimed.url, (entry.url for entry in sitemap.sitemaps)),
                sitemap.notice,
            )
        if looks_like_llms(response.body, claimed.url):
            urls = links_of(response.body.decode("utf-8", "replace"), claimed.url)
            if "llms-full" not in claimed.url:
                return Listed(claimed, self._discovery.listed(claimed, ((url, None) for url in urls)))
            # It holds the text of the pages.
            asked = self._asked_by(response)
            if "noindex" in asked:
                return _not_to_be_indexed(claimed)
            follows = self._settings.follow_links and "nofollow" not in asked
            found = self._links(claimed, normal_links(urls)) if follows else ()
            return Stored(claimed, page_of(response, MARKDOWN, None), found)
        return None

    def _moved(self, claimed: ClaimedUrl, final_url: str) -> Outcome:
        """Return the outcome of a page whose redirect or script led the browser to another URL."""
        target = normal_form(final_url)
        found = self._discovery.elsewhere(claimed, target) if target and target != claimed.url else None
        if target is None or found is None:
            return _led_away(claimed, final_url)
        return Redirected(claimed, target, (found,))

    async def _clean(self, response: Response) -> CleanedPage:
        def clean() -> CleanedPage:
            # A serialized DOM is UTF-8, whatever the server or the page declares.
            declared = "text/html; charset=utf-8" if response.rendered else response.headers.get("content-type", "")
            return clean_page(response.body, url=response.url, content_type=declared, keep=self._keep)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._cleaners, clean)
        except Exception as error:  # a parsing library may raise anything on a broken page
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise FetchError(f"its HTML cannot be read ({reason})", transient=False) from error

    def _wants_scripts(self, cleaned: CleanedPage) -> bool:
        render = self._settings.render
        return render == "always" or (render == "auto" and cleaned.needs_scripts)

    def _without_text(self, claimed: ClaimedUrl, cleaned: CleanedPage, response: Response) -> Outcome:
        found = self._links(claimed, normal_links(cleaned.links))
        if response.rendered:
            return Refused(claimed, "it holds no text, not even after its scripts ran", found=found, removes=True)
        if cleaned.needs_scripts:
            reason = "its text is made by scripts, and the site's setting `render: never` lets none run"
            return Failed(claimed, reason, transient=False)
        return Refused(claimed, "it holds no text", found=found, removes=True)

    def _store(self, claimed: ClaimedUrl, response: Response, media_type: str, cleaned: CleanedPage | None) -> Outcome:
        page = page_of(response, media_type, cleaned)
        asked = self._asked_by(response, cleaned)
        found = () if "nofollow" in asked else self._links(claimed, page.links)
        if "noindex" in asked:
            return _not_to_be_indexed(claimed, found)
        if not self._discovery.scope.takes(claimed.url):
            return Refused(claimed, "only the way in: the patterns do not take it", found=found, removes=True)
        if page.canonical_url is not None:
            found += self._discovery.canonical(claimed, page.canonical_url)
        return Stored(claimed, page, found)

    def _asked_by(self, response: Response, cleaned: CleanedPage | None = None) -> frozenset[str]:
        """Return the directives for robots of a page, in its header and its HTML: noindex, nofollow."""
        if not self._settings.respect_robots:
            return frozenset()
        asked = tag_directives(response.headers.get("x-robots-tag", ""), self._settings.user_agent)
        if cleaned is not None:
            asked |= {"noindex"} if cleaned.noindex else set()
            asked |= {"nofollow"} if cleaned.nofollow else set()
        return asked

    def _links(self, claimed: ClaimedUrl, links: Iterable[str]) -> tuple[FoundUrl, ...]:
        return self._discovery.links(claimed.url, claimed.depth, links)


def _not_to_be_indexed(claimed: ClaimedUrl, found: tuple[FoundUrl, ...] = ()) -> Outcome:
    return Refused(claimed, "the page asks not to be indexed (robots)", found=found, removes=True)


def _led_away(claimed: ClaimedUrl, target: str) -> Outcome:
    """Return the outcome of a URL that leads off the site; the start fails and removes no page."""
    reason = f"it redirects to {target[:200]}, which does not belong to the site"
    if claimed.is_start:
        return Failed(claimed, f"{reason}; if the site has moved there, make that its `url`", transient=False)
    return Refused(claimed, reason, removes=True)


def _may_be_html(url: str) -> bool:
    """Whether a URL may be an HTML page, judged by its extension."""
    return media_type_of_name(urlsplit(url).path.rsplit("/", 1)[-1]) not in DOCUMENT_TYPES - {HTML}
