"""A Chromium and the crawl4ai strategy that drives it over CDP; no other module depends on crawl4ai's internals."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from sourcebook.config.browser import BrowserSettings
from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass, MissingDependencyError
from sourcebook.installation import install_command
from sourcebook.web.browser.chromium import Browser, abandon, within
from sourcebook.web.browser.page_traffic import OwnHeaders
from sourcebook.web.browser.page_visit import PageVisit
from sourcebook.web.browser.proxy import BrowserProxy
from sourcebook.web.fetching.site_headers import site_headers
from sourcebook.web.http_types import FetchError, Response
from sourcebook.web.login_state import LoginState, cookies_for_browser

if TYPE_CHECKING:
    from crawl4ai import BrowserConfig, CrawlerRunConfig  # type: ignore[import-untyped]
    from playwright.async_api import CDPSession, Page

GRACE_SECONDS: Final = 2.0
"""Seconds after its timeout in which a page may still be read."""
_LEAVE_SECONDS: Final = 1.5
"""Seconds to release a tab after that; on a busy machine, 4 s after the timeout in total."""
_LONGEST_LEAVE_SECONDS: Final = 5.0
"""Seconds to release the tab of a page that ended before its timeout."""
_START_SECONDS: Final = 30.0
_PAGES_PER_TAB: Final = 25
_CANCEL_SECONDS: Final = 0.5
_KEEP_SECONDS: Final = 1.0
_CONNECTION_END_SECONDS: Final = 5.0
_CHROMIUM_END_SECONDS: Final = 10.0
# A service worker would serve later pages.
_NO_SERVICE_WORKERS: Final = "delete Navigator.prototype.serviceWorker"


class BrowserGoneError(Exception):
    """Chromium ended during a visit."""


@dataclass(slots=True)
class _Tab:
    session: str
    """Session id of the tab in crawl4ai."""
    pages: int = 0
    stilled: CDPSession | None = None
    """DevTools session that keeps the last page of the tab from running."""


class CrawlerBrowser:
    """A Chromium that renders several pages concurrently."""

    def __init__(self, settings: SiteSource, login: LoginState) -> None:
        """Create a browser without starting it; `login` is the session that it begins with."""
        self.pages_begun = 0
        self.pages_open = 0
        self._settings = settings
        self._login = login
        self._chromium: Browser | None = None
        self._strategy: Any = None
        self._stuck = False
        self._idle_tabs: list[_Tab] = []

    @property
    def healthy(self) -> bool:
        """Whether it can render another page."""
        return not self._stuck and self._is_connected()

    async def start(self, proxy_port: int, folder: Path) -> int:
        """Start Chromium, connect to it, and return the port of its DevTools.

        Raises:
            FetchError: there is no browser, or it does not start.
            MissingDependencyError: crawl4ai is not installed.
        """
        await asyncio.to_thread(_import_crawl4ai, folder)
        self._chromium = Browser(proxy_port)
        try:
            endpoint = await self._chromium.start()
            await within(_START_SECONDS, self._connect(endpoint))
        except FetchError:
            await self.close()
            raise
        except Exception as error:  # crawl4ai and Playwright raise many types
            await self.close()
            raise FetchError(
                f"the browser takes no commands: {_first_line(error)}", transient=True, failure_class=FailureClass.CRASH
            ) from error
        except BaseException:
            await self.close()
            raise
        return urlsplit(endpoint).port or 0

    async def _connect(self, endpoint: str) -> None:
        self._strategy = _strategy(_browser_config(endpoint, self._settings))
        self._strategy.set_hook("on_page_context_created", _begin)
        self._strategy.set_hook("after_goto", _check_document)
        self._strategy.set_hook("before_retrieve_html", _settle)
        self._strategy.set_hook("on_execution_ended", _end_scripts)
        await self._strategy.start()
        # The first page creates the shared context; without a URL, it gets no cookie from crawl4ai.
        page, _ = await self._strategy.browser_manager.get_page(_run_config(self._settings.browser, _START_SECONDS))
        if self._login.cookies:
            await page.context.add_cookies(cookies_for_browser(self._login.cookies))
        if (script := self._login.as_script()) is not None:
            await page.context.add_init_script(script)
        await self._strategy.browser_manager.release_page_with_context(page)
        await page.close()

    async def visit(self, url: str, proxy: BrowserProxy) -> Response:
        """Render one page; see `Renderer.render`.

        Raises:
            BrowserGoneError: chromium has ended.
            FetchError: the page cannot be loaded.
        """
        seconds = self._settings.page_seconds
        # Substituted for every page, as in the fetcher: an unset variable fails the page, not the crawl.
        own = OwnHeaders.of_site(self._settings.url, site_headers(self._settings))
        limit, browser = self._settings.request.max_bytes, self._settings.browser
        visit = PageVisit(url, proxy, max_bytes=limit, seconds=seconds, own=own, browser=browser)
        reuses = bool(self._idle_tabs) and "#" not in url  # another route of the page in a tab would load nothing
        tab = self._idle_tabs.pop() if reuses else _Tab(f"tab {self.pages_begun} {id(visit)}")
        config = _run_config(browser, seconds, shared_data={"visit": visit, "tab": tab}, session_id=tab.session)
        crawl = asyncio.create_task(self._strategy.crawl(url, config))
        watch = asyncio.create_task(visit.watch())
        try:
            await asyncio.wait((crawl, watch), timeout=seconds + GRACE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if crawl.done():
                return visit.response(crawl.result().html)
            if watch.done():
                watch.result()  # raises
            return visit.explain(TimeoutError())
        except Exception as error:  # crawl4ai and Playwright raise many types
            if not self._is_connected():
                raise BrowserGoneError from error
            return visit.explain(error)
        finally:
            watch.cancel()
            abandon(watch)
            abandon(crawl)
            left = visit.deadline + GRACE_SECONDS + _LEAVE_SECONDS - asyncio.get_running_loop().time()
            try:
                await within(min(left, _LONGEST_LEAVE_SECONDS), self._leave(visit, crawl, tab))
            except TimeoutError:
                self._stuck = True
                crawl.cancel()

    async def close(self) -> None:
        """End Chromium and its driver within seconds; repeated calls do nothing."""
        chromium, self._chromium = self._chromium, None
        strategy, self._strategy = self._strategy, None
        if chromium is not None:
            with suppress(TimeoutError):
                await within(_CHROMIUM_END_SECONDS, chromium.close())
        if strategy is not None:
            driver = strategy.browser_manager.playwright
            try:
                await within(_CONNECTION_END_SECONDS, strategy.close())
            except TimeoutError:
                if driver is not None:  # a separate process, which would stay
                    with suppress(TimeoutError):
                        await within(_CONNECTION_END_SECONDS, driver.stop())

    def _is_connected(self) -> bool:
        if self._chromium is None or self._strategy is None or not self._chromium.running:
            return False
        browser = self._strategy.browser_manager.browser
        return browser is not None and bool(browser.is_connected())

    async def _leave(self, visit: PageVisit, crawl: asyncio.Task[Any], tab: _Tab) -> None:
        """Keep the tab for another page, or close it.

        A new tab costs half the work of a page, but only a tab without events is reused. A browser that cannot close a
        tab in time gets no more pages.
        """
        await visit.end()
        if crawl.done() and not crawl.cancelled() and crawl.exception() is None and await self._keep(visit, tab):
            return
        if not crawl.done():
            crawl.cancel()
            await asyncio.wait((crawl,), timeout=_CANCEL_SECONDS)
        if not crawl.done():
            crawl.cancel()  # the first cancellation only started to close the page
            await asyncio.wait((crawl,))
        if visit.page is not None and not await _is_closed(visit.page):
            self._stuck = True
            return
        with suppress(Exception):  # crawl4ai's record of a page that is closed
            await self._strategy.browser_manager.kill_session(tab.session)

    async def _keep(self, visit: PageVisit, tab: _Tab) -> bool:
        """Prepare the tab for another page; return whether that succeeded."""
        from playwright.async_api import Error

        tab.pages += 1
        if not visit.uneventful or tab.pages >= _PAGES_PER_TAB or not self._is_connected():
            return False
        try:
            tab.stilled = await within(_KEEP_SECONDS, visit.leave_tab())
        except (Error, TimeoutError):
            return False
        self._idle_tabs.append(tab)
        return True


async def _is_closed(page: Page) -> bool:
    from playwright.async_api import Error

    if not page.is_closed():
        with suppress(Error):
            await page.close()
    return page.is_closed()


async def _begin(page: Page, *, config: CrawlerRunConfig, **_: object) -> None:
    tab: _Tab = config.shared_data["tab"]
    await _visit(config).begin(page)
    if tab.stilled is not None:  # not earlier, because the last page must not resume
        await tab.stilled.detach()


async def _check_document(page: Page, *, config: CrawlerRunConfig, **_: object) -> None:
    visit = _visit(config)
    await visit.check_document()
    if visit.actions is not None:
        await visit.actions.before_waiting()


async def _settle(page: Page, *, config: CrawlerRunConfig, **_: object) -> None:
    visit = _visit(config)
    if visit.actions is not None:
        await visit.actions.after_waiting()
    await visit.settle()
    if visit.actions is not None:
        await visit.actions.before_scripts()


async def _end_scripts(page: Page, *, config: CrawlerRunConfig, result: dict[str, Any], **_: object) -> None:
    visit = _visit(config)
    if visit.actions is not None:
        await visit.actions.after_scripts(result)
        await visit.settle()


def _first_line(error: Exception) -> str:
    said = str(error).strip().splitlines() or [type(error).__name__]
    return said[0][:300]


def _visit(config: CrawlerRunConfig) -> PageVisit:
    visit: PageVisit = config.shared_data["visit"]
    return visit


def _import_crawl4ai(folder: Path) -> None:
    """Import crawl4ai, which takes a second and creates folders below HOME by default."""
    os.environ.setdefault("CRAWL4_AI_BASE_DIRECTORY", str(folder))
    try:
        import crawl4ai  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingDependencyError(f"Rendering pages needs crawl4ai: {install_command('pipeline')}") from error


def _browser_config(endpoint: str, settings: SiteSource) -> BrowserConfig:
    from crawl4ai import BrowserConfig

    width, height = (settings.browser or BrowserSettings()).viewport
    return BrowserConfig(
        browser_mode="custom",
        cdp_url=endpoint,
        cdp_cleanup_on_close=True,
        cdp_close_delay=0,
        create_isolated_context=True,  # otherwise it loads a page into the tab of another
        user_agent=settings.request.user_agent,
        viewport_width=width,
        viewport_height=height,
        accept_downloads=False,
        ignore_https_errors=False,
        init_scripts=[_NO_SERVICE_WORKERS],
        verbose=False,
    )


def _run_config(browser: BrowserSettings | None, seconds: float, **settings: Any) -> CrawlerRunConfig:
    from crawl4ai import CrawlerRunConfig

    own = browser or BrowserSettings()
    return CrawlerRunConfig(
        page_timeout=max(1, int(seconds * 1000)),
        # Otherwise it waits for the first element that matches, and not for one that is visible.
        wait_for=f"css:{own.wait_for} >> visible=true" if own.wait_for else None,
        js_code=list(own.js_code) or None,
        locale=own.locale,
        wait_until="domcontentloaded",
        delay_before_return_html=0,
        body_visibility_timeout=1,  # milliseconds; hidden pages are read, too
        verbose=False,
        **settings,
    )


def _strategy(config: BrowserConfig) -> Any:
    from crawl4ai import AsyncLogger
    from crawl4ai.async_crawler_strategy import AsyncPlaywrightCrawlerStrategy  # type: ignore[import-untyped]
    from rich.console import Console

    # Some of its warnings are printed even where `verbose` is off.
    return AsyncPlaywrightCrawlerStrategy(config, AsyncLogger(verbose=False, console=Console(quiet=True)))
