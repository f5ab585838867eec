"""Visit one URL of a site: request it and turn the response into an outcome."""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from urllib.parse import urlsplit

from sourcebook.config.html_part import HtmlPart
from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass, SourcebookError
from sourcebook.model.media_types import HTML, MARKDOWN, media_type_of_name
from sourcebook.parsing.html.cleaner import CleanedPage, cleaner_identity
from sourcebook.parsing.html.frames import Frame
from sourcebook.parsing.registry import skip_reason
from sourcebook.redaction.ingestion import with_identity
from sourcebook.web.cleaners import PageCleaner
from sourcebook.web.discovery import Discovery
from sourcebook.web.fetch_times import PageRenderer
from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.host_rules import HostRules
from sourcebook.web.fetching.politeness import HostLimiter
from sourcebook.web.fetching.retries import Fetcher, fetch_with_retries
from sourcebook.web.frames import FrameReader
from sourcebook.web.http_types import FetchError, NotAPageError, Request, Response
from sourcebook.web.lists.llms import links_of, looks_like_llms
from sourcebook.web.lists.sitemap import SitemapError, looks_like_sitemap, read_sitemap
from sourcebook.web.login_pages import is_login_page, is_login_url, leads_to_login
from sourcebook.web.outcome import (
    SETTLED,
    ClaimedUrl,
    Failed,
    FoundUrl,
    Gone,
    Outcome,
    Postponed,
    Redirected,
    RedirectTrail,
    Refused,
    Stored,
    Unchanged,
    asks_login,
    led_away,
    not_there,
    not_to_be_indexed,
    soft_not_found,
    temporary_status,
)
from sourcebook.web.page_content import DOCUMENT_TYPES, media_type_of, normal_links, page_of, twin_of
from sourcebook.web.session import Session
from sourcebook.web.soft_404 import SoftNotFound
from sourcebook.web.url import host_of, normal_form, route_form

_log = logging.getLogger("sourcebook.web")
_GONE = frozenset({404, 410})
_MOST_WORDS_ON_THE_WAY = 50
"""Words of a page that does nothing but lead on; one with more holds a text of its own, whatever its refresh says."""


class Visitor:
    """Visits the URLs of one site.

    Args:
        settings: settings of the site.
        discovery: selection of the URLs to visit.
        fetcher: HTTP client.
        renderer: browser, started for the first page that needs it.
        limiter: request rate of each host.
        breaker: circuit breaker of each host.
        session: login of the crawl.
        cleaners: executor that cleans pages beside the event loop, perhaps in other processes.
        keep: the part of a page that is kept.
        force: whether requests are unconditional, so that unchanged pages are sent too.
        redaction: identity of the redaction of what is stored; empty without any.
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
        session: Session,
        cleaners: Executor,
        keep: HtmlPart = "main",
        force: bool = False,
        redaction: str = "",
    ) -> None:
        self._settings = settings
        self._discovery = discovery
        self._fetcher = fetcher
        self._renderer = renderer
        self._limiter = limiter
        self._breaker = breaker
        self._session = session
        self._cleaners = cleaners
        self._keep = keep
        self.cleaner = with_identity(f"{cleaner_identity(keep)}{settings.reading}", redaction)
        self._force = force
        self.rules = HostRules(fetcher, limiter, breaker, settings)
        self._trail = RedirectTrail()
        self._page_cleaner = PageCleaner(cleaners)
        self.not_found = SoftNotFound(self._fetch_allowed, self._clean)
        self._frames = FrameReader(settings, discovery, self.rules, self._fetch, cleaners)

    async def visit(self, claimed: ClaimedUrl) -> Outcome:
        """Return the outcome of a URL; failures are outcomes, too."""
        return await self._session.visit(claimed, self._visit)

    async def _visit(self, claimed: ClaimedUrl) -> Outcome:
        try:
            if not await self.rules.allow(claimed.url):
                agent = self._settings.request.user_agent.partition("/")[0]
                return Refused(claimed, f"robots.txt of {host_of(claimed.url)} forbids it to {agent}", "robots")
            if self._opens_in_browser(claimed):
                with suppress(NotAPageError):
                    return await self._answer(claimed, await self._renderer.render(claimed.url))
            response = await self._fetch(self._request(claimed))
            twin = None if claimed.is_start else await twin_of(response, self._fetch_allowed, self._clean)
            return await self._answer(claimed, response) if twin is None else self._moved(claimed, twin)
        except FetchError as error:
            if error.retry_after is not None:
                until = datetime.now(UTC) + error.retry_after
                return Postponed(claimed, until, str(error), error.answered, error.failure_class)
            return Failed(claimed, str(error), error.transient, failure_class=error.failure_class)
        except SourcebookError:
            raise  # of the installation, such as a missing package
        except Exception as error:  # noqa: BLE001 - a library may raise anything, and must not end the other sites' crawls
            _log.exception("a page could not be read", extra={"url": claimed.url})
            reason = f"it cannot be read ({type(error).__name__})"
            return Failed(claimed, reason, transient=False, failure_class=FailureClass.CORRUPT)

    def _opens_in_browser(self, claimed: ClaimedUrl) -> bool:
        """Return whether a browser opens a URL at once: so all of them, or the route of a page's own scripts."""
        renders = self._settings.renders_every_page or ("#" in claimed.url and self._settings.render != "never")
        return renders and claimed.role == "page" and _may_be_html(claimed.url)

    async def _fetch(self, request: Request) -> Response:
        return await fetch_with_retries(self._fetcher, self._limiter, self._breaker, request)

    async def _fetch_allowed(self, url: str) -> Response | None:
        """Return the response of another URL of the site; None where robots.txt or the patterns exclude it."""
        if not self._discovery.scope.takes(url) or not await self.rules.allow(url):
            return None
        return await self._fetch(Request(url))

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
                claimed,
                "the server answers 304, that it is as before, though it was never read",
                transient=True,
                failure_class=FailureClass.SERVER,
            )
        if 300 <= status < 400:
            location = response.headers.get("location", "")
            target = normal_form(location, claimed.url) if location else None
            return self._redirect(claimed, target, location, for_now=temporary_status(response))
        if status in _GONE:
            return not_there(claimed, status)
        if status in {401, 403}:
            return Failed(
                claimed,
                f"the server answers {status}: it wants to know who asks; see `login` and "
                "`request.headers` of the site",
                False,
                failure_class=FailureClass.FORBIDDEN,
            )
        if status >= 500:
            return Failed(
                claimed,
                f"the server answers {status}: it has trouble of its own",
                transient=True,
                failure_class=FailureClass.SERVER,
            )
        return Failed(claimed, f"the server answers {status}", transient=False, failure_class=FailureClass.SERVER)

    def _redirect(
        self, claimed: ClaimedUrl, target: str | None, location: str, *, for_now: int | None = None
    ) -> Outcome:
        if target is None:
            return Failed(
                claimed,
                f"it redirects to {location[:200]!r}, which is no web address",
                transient=False,
                failure_class=FailureClass.SERVER,
            )
        if for_now and leads_to_login(claimed.url, target):
            return asks_login(claimed, self._settings, f"it redirects to the login {target[:200]}")
        if for_now and claimed.live and claimed.attempts < SETTLED and not claimed.is_start:
            reason = f"it redirects for now (status {for_now}) to {target}; kept as it was until that lasts"
            return Failed(claimed, reason, transient=True, failure_class=FailureClass.SERVER)
        if (refusal := self._trail.follow(claimed.url, target)) is not None:
            return Failed(claimed, refusal, transient=False, failure_class=FailureClass.SERVER)
        found = self._discovery.elsewhere(claimed, target)
        return led_away(claimed, target) if found is None else Redirected(claimed, target, (found,))

    async def _read(self, claimed: ClaimedUrl, response: Response) -> Outcome:
        if (
            claimed.role != "page"
            and not response.rendered
            and (listed := await self._read_list(claimed, response)) is not None
        ):
            return listed
        if claimed.depth < 0:
            return Gone(claimed, "it is neither a sitemap nor an llms.txt")
        if (final := response.final_url) is not None and claimed.url not in {normal_form(final), route_form(final)}:
            return self._moved(claimed, final)
        media_type = media_type_of(response)
        if media_type not in DOCUMENT_TYPES:
            return Refused(claimed, skip_reason(media_type), "type", removes=True)
        if media_type != HTML:
            return self._store(claimed, response, media_type, None)
        cleaned = await self._clean(response)
        if (
            cleaned.redirect is not None
            and (target := normal_form(cleaned.redirect)) != claimed.url
            and len(cleaned.markdown.split()) < _MOST_WORDS_ON_THE_WAY
        ):
            return self._redirect(claimed, target, cleaned.redirect)
        if framed := self._frames.wanted(cleaned.frames):
            frames = await self._frames.read(claimed.url, framed, patient=claimed.attempts < SETTLED)
            cleaned = await self._clean(response, frames)
        if not response.rendered and self._wants_scripts(cleaned):
            return await self._answer(claimed, await self._renderer.render(claimed.url))
        if is_login_page(cleaned.markdown, asks_password=cleaned.asks_password):
            if is_login_url(claimed.url) and not claimed.is_start:
                return Refused(claimed, "it is a login page", "login", removes=True)
            return asks_login(claimed, self._settings, "it shows a login page")
        if not cleaned.markdown.strip():
            return self._without_text(claimed, cleaned, response)
        if not response.rendered and await self.not_found.is_one(claimed, cleaned):
            return soft_not_found(claimed)
        return self._store(claimed, response, media_type, cleaned)

    async def _read_list(self, claimed: ClaimedUrl, response: Response) -> Outcome | None:
        """Return the entries of a sitemap or llms.txt, or the text of an llms-full.txt; None for any other response."""
        if looks_like_sitemap(response.body):
            try:
                read = partial(read_sitemap, response.body, claimed.url, max_bytes=self._settings.request.max_bytes)
                sitemap = await asyncio.get_running_loop().run_in_executor(self._cleaners, read)
            except SitemapError as error:
                return Failed(claimed, str(error), transient=False, failure_class=FailureClass.CORRUPT)
            lists = (entry.url for entry in sitemap.sitemaps)
            return self._discovery.listed(claimed, sitemap.urls, lists, sitemap.notice)
        if looks_like_llms(response.body, claimed.url):
            urls = links_of(response.body.decode("utf-8", "replace"), claimed.url)
            if "llms-full" not in claimed.url:
                return self._discovery.listed(claimed, ((url, None) for url in urls))
            # It holds the text of the pages.
            asked = self.rules.asked_by(response)
            if "noindex" in asked:
                return not_to_be_indexed(claimed)
            follows = self._settings.follow_links and "nofollow" not in asked
            found = self._links(claimed, normal_links(urls)) if follows else ()
            return Stored(claimed, page_of(response, MARKDOWN, None), found)
        return None

    def _moved(self, claimed: ClaimedUrl, final_url: str) -> Outcome:
        """Return the outcome of a page whose redirect or script led the browser to another URL."""
        target = route_form(final_url) if "#" in claimed.url else normal_form(final_url)
        if target and leads_to_login(claimed.url, target):
            return asks_login(claimed, self._settings, f"it leads to the login {target[:200]}")
        found = self._discovery.elsewhere(claimed, target) if target else None
        if target is None or found is None:
            return led_away(claimed, final_url)
        return Redirected(claimed, target, (found,))

    async def _clean(self, response: Response, frames: Mapping[str, Frame] = MappingProxyType({})) -> CleanedPage:
        # A serialized DOM is UTF-8, whatever the server or the page declares.
        declared = "text/html; charset=utf-8" if response.rendered else response.headers.get("content-type", "")
        try:
            return await self._page_cleaner.clean(response.body, response.url, declared, self._keep, dict(frames))
        except Exception as error:  # a parsing library may raise anything on a broken page
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise FetchError(
                f"its HTML cannot be read ({reason})", transient=False, failure_class=FailureClass.CORRUPT
            ) from error

    def _wants_scripts(self, cleaned: CleanedPage) -> bool:
        settings = self._settings
        return settings.renders_every_page or (settings.render == "auto" and cleaned.needs_scripts)

    def _without_text(self, claimed: ClaimedUrl, cleaned: CleanedPage, response: Response) -> Outcome:
        found = self._links_of_way(claimed, normal_links(cleaned.links))
        if response.rendered:
            return Refused(
                claimed, "it holds no text, not even after its scripts ran", "empty", found=found, removes=True
            )
        if cleaned.needs_scripts:
            reason = "its text is made by scripts, and the site's setting `render: never` lets none run"
            return Failed(claimed, reason, transient=False, failure_class=FailureClass.UNSUPPORTED)
        return Refused(claimed, "it holds no text", "empty", found=found, removes=True)

    def _store(self, claimed: ClaimedUrl, response: Response, media_type: str, cleaned: CleanedPage | None) -> Outcome:
        is_whole = cleaned is None or not self._frames.wanted(cleaned.frames)
        page = page_of(response, media_type, cleaned, is_whole=is_whole)
        asked = self.rules.asked_by(response, cleaned)
        links = self._links_of_way if "noindex" in asked else self._links
        following = normal_links(cleaned.next_pages) if cleaned is not None else ()
        found = () if "nofollow" in asked else links(claimed, page.links, following)
        if claimed.is_start and cleaned is not None and self._discovery.follow_links and "nofollow" not in asked:
            found += self._discovery.lists(normal_links(cleaned.feeds))
        if "noindex" in asked:
            return not_to_be_indexed(claimed, found)
        if not self._discovery.scope.keeps(claimed.url):
            way = "the way in" if claimed.is_start else "a way to other pages"
            return Refused(claimed, f"only {way}: the patterns do not take it", "patterns", found=found, removes=True)
        if self._settings.canonical == "ignore" and page.canonical_url is not None:
            page = replace(page, canonical_url=None)
        if page.canonical_url is not None:
            found += self._discovery.canonical(claimed, page.canonical_url)
        return Stored(claimed, page, found)

    def _links(self, claimed: ClaimedUrl, links: Iterable[str], following: Iterable[str] = ()) -> tuple[FoundUrl, ...]:
        return self._discovery.links(claimed.url, claimed.depth, links, following)

    def _links_of_way(
        self, claimed: ClaimedUrl, links: Iterable[str], following: Iterable[str] = ()
    ) -> tuple[FoundUrl, ...]:
        """Return the links of a page that is no document, of which there may be no end."""
        return self._links(claimed, links, following) if self._discovery.may_lead_on(claimed.url) else ()


def _may_be_html(url: str) -> bool:
    """Whether a URL may be an HTML page, judged by its extension."""
    return media_type_of_name(urlsplit(url).path.rsplit("/", 1)[-1]) not in DOCUMENT_TYPES - {HTML}
