"""Rendering of pages by crawl4ai in a Chromium that this module starts and ends."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass
from sourcebook.model.closing import AsyncClosing
from sourcebook.web.browser.crawler_browser import BrowserGoneError, CrawlerBrowser
from sourcebook.web.browser.proxy import BeforeRequest, BrowserProxy, Guard, ProxyLimits
from sourcebook.web.fetching.proxies import Proxies
from sourcebook.web.http_types import FetchError, Response
from sourcebook.web.login_state import LoginState

PAGES_PER_BROWSER: Final = 200


class Renderer(AsyncClosing):
    """Renders the pages of a site in a headless Chromium, several concurrently.

    Requests go through a proxy that checks every address. The headers of the settings are sent to the scheme, host and
    port of the site alone (and to https where the site's URL has http), by pages of the site, not by frames of other
    sites or by web workers. Certificates are checked. Cookies, storage and cache last as long
    as one browser, which is replaced after `pages_per_browser` pages. Images, fonts and downloads are not loaded.
    """

    def __init__(
        self,
        settings: SiteSource,
        guard: Guard,
        folder: Path,
        before_request: BeforeRequest | None = None,
        *,
        pages_per_browser: int = PAGES_PER_BROWSER,
        login: Callable[[], LoginState] = LoginState,
    ) -> None:
        """Create a renderer, whose browser starts with the first page.

        Args:
            settings: settings of the site; concurrency, request and browser are used.
            guard: address check of connections.
            folder: folder for crawl4ai's files, in place of HOME.
            before_request: awaited with the host before every plain http request, and every CONNECT for https.
            pages_per_browser: pages after which a browser is replaced.
            login: returns the session that a browser begins with.
        """
        self._settings = settings
        self._login = login
        self._folder = folder
        self._pages_per_browser = pages_per_browser
        # The size of a page is checked during the visit; these limits concern its other traffic.
        most = settings.request.max_bytes
        limits = ProxyLimits(response_bytes=5 * most, tunnel_bytes=100 * most)
        self._proxy = BrowserProxy(guard, before_request, limits, Proxies(settings))
        self._slots = asyncio.Semaphore(settings.politeness.concurrency)
        self._starting = asyncio.Lock()
        self._current: CrawlerBrowser | None = None
        self._outdated: CrawlerBrowser | None = None
        self._browsers: set[CrawlerBrowser] = set()
        self._ending: set[asyncio.Task[None]] = set()

    async def render(self, url: str) -> Response:
        """Open a page, run its scripts, and return the rendered page.

        Status and headers are those of the main document, the body is the serialized DOM. A page is ready when what the
        settings do on it is done, and text and network are still, at the latest 10 s later. A status without a body,
        such as 204 or an empty 500, is a response as well.

        Raises:
            NotAPageError: the URL leads to a download, a PDF or another file: fetch it without a browser.
            FetchError: the page cannot be loaded, or there is no browser; raised at the latest 4 s after the timeout.
                The timeout starts when the browser is ready, which may take a minute, and restarts in a second browser
                where the first has ended.
        """
        async with self._slots:
            for last_try in (False, True):
                async with self._browser() as browser:
                    try:
                        return await browser.visit(url, self._proxy)
                    except BrowserGoneError as error:
                        if last_try:
                            raise FetchError(
                                "the browser ended while it showed the page",
                                transient=True,
                                failure_class=FailureClass.CRASH,
                            ) from error
        raise AssertionError("the second try returns or raises")

    def begin_again(self) -> None:
        """Replace the browser before the next page: the session that it began with has ended."""
        self._outdated = self._current

    async def start(self) -> None:
        """Open the port of the proxy."""
        await self._proxy.start()

    async def close(self) -> None:
        """End all browsers and the proxy; running visits fail."""
        for browser in list(self._browsers):
            await browser.close()
        self._browsers.clear()
        await asyncio.gather(*self._ending)
        await self._proxy.close()

    @asynccontextmanager
    async def _browser(self) -> AsyncIterator[CrawlerBrowser]:
        """Yield a browser for another page; end an old browser after its last page."""
        async with self._starting:
            browser = self._current
            if browser is None or browser is self._outdated or self._is_used_up(browser):
                browser = await self._replace(browser)
            browser.pages_begun += 1
            browser.pages_open += 1
        try:
            yield browser
        finally:
            browser.pages_open -= 1
            if browser is not self._current:
                self._end_if_idle(browser)

    def _is_used_up(self, browser: CrawlerBrowser) -> bool:
        return browser.pages_begun >= self._pages_per_browser or not browser.healthy

    async def _replace(self, old: CrawlerBrowser | None) -> CrawlerBrowser:
        self._current = None
        if old is not None:
            self._end_if_idle(old)
        browser = CrawlerBrowser(self._settings, self._login())
        self._browsers.add(browser)
        try:
            self._proxy.close_port(await browser.start(self._proxy.port, self._folder))
        except BaseException:
            self._browsers.discard(browser)
            raise
        self._current = browser
        return browser

    def _end_if_idle(self, browser: CrawlerBrowser) -> None:
        """End a browser without pages in the background, because a stuck browser takes seconds to end."""
        if browser.pages_open == 0 and browser in self._browsers:
            self._browsers.discard(browser)
            ending = asyncio.create_task(browser.close())
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
