"""Actions on a page before it is read, as the settings of its site say: clicks, waiting, scrolling and scripts.

crawl4ai waits for the element and runs the scripts; this module works in its hooks. Two things it does itself:

- Clicks. In crawl4ai they are scripts before the wait, of whose failures nobody learns.
- Scrolling. crawl4ai scrolls before it waits, and ends at the bottom without waiting for what the server adds there.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn
from urllib.parse import urlsplit

from sourcebook.config.browser import BrowserSettings, ClickSettings
from sourcebook.errors import FailureClass
from sourcebook.web.browser.page_traffic import PageTraffic
from sourcebook.web.http_types import FetchError

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Locator, Page


class IsolatedWorld:
    """An isolated world in the main frame of a page."""

    def __init__(self, devtools: CDPSession, frame_id: str) -> None:
        """Prepare the world; it is created with the first evaluation, and again after each navigation."""
        self.frame_id = frame_id
        self._devtools = devtools
        self._context: int | None = None

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression; None during navigation."""
        from playwright.async_api import Error

        try:
            if self._context is None:
                world = {"frameId": self.frame_id, "worldName": "sourcebook"}
                self._context = (await self._devtools.send("Page.createIsolatedWorld", world))["executionContextId"]
            how = {"expression": expression, "contextId": self._context, "returnByValue": True}
            return (await self._devtools.send("Runtime.evaluate", how))["result"].get("value")
        except Error:
            self._context = None  # it ended with its document
            return None


_POLL_SECONDS: Final = 0.1
_CLICK_SECONDS: Final = 2.0
"""Seconds in which an element can be clicked where nothing covers it."""
_SCREEN_SECONDS: Final = 0.2
"""Seconds that a page has to notice a screen; crawl4ai's `scroll_delay`."""
_BOTTOM_SECONDS: Final = 1.0
"""Seconds without a change after which nothing more comes at the bottom of a page."""
_READING_SHARE: Final = 0.2
"""Share of the time of a page that scrolling leaves for reading it."""

# Where the window does not scroll, the largest element that does.
_SCROLL: Final = """(() => {
    const tall = each => each.scrollHeight > each.clientHeight + 1;
    const area = each => each.clientHeight * each.clientWidth;
    let found = document.scrollingElement || document.documentElement;
    if (!tall(found)) {
        const scrolls = each => tall(each) && /auto|scroll/.test(getComputedStyle(each).overflowY);
        const others = Array.from(document.querySelectorAll('body *')).filter(scrolls);
        found = others.sort((one, other) => area(other) - area(one))[0] || found;
    }
    found.scrollBy({top: found.clientHeight * %d, behavior: 'instant'});
    return [found.scrollTop + found.clientHeight + 2 >= found.scrollHeight, found.scrollHeight];
})()"""
_REFUSED: Final = re.compile(r"while parsing|is not a valid selector")
"""Messages of Playwright and Chromium on a selector that is none."""
_LOOK: Final = """document.documentElement
    ? [document.documentElement.outerHTML.length, document.body ? document.body.innerText.length : 0] : []"""


class PageActions:
    """The actions on one page, in the order clicks, waiting, scrolling, scripts."""

    def __init__(
        self,
        settings: BrowserSettings,
        page: Page,
        world: IsolatedWorld,
        traffic: PageTraffic,
        still: Callable[[float], Awaitable[None]],
        *,
        seconds: float,
    ) -> None:
        """Prepare the actions.

        Args:
            settings: the actions.
            page: the page.
            world: its isolated world.
            traffic: its requests.
            still: waits until text and network do not change for the given seconds.
            seconds: time that the page has, from now on.
        """
        self._settings = settings
        self._page = page
        self._world = world
        self._traffic = traffic
        self._still = still
        self._seconds = seconds
        self._scroll_end = asyncio.get_running_loop().time() + seconds * (1 - _READING_SHARE)
        self._doing = ""
        self._url: str | None = None

    async def before_waiting(self) -> None:
        """Click, once the page is there.

        Raises:
            FetchError: a selector is none, or a click leads away from the page.
        """
        await self._check_selectors()
        if self._settings.clicks:
            self._doing = self._waiting
            await self._until_something_is_there()
            await self._still(0)
            await self._stay()
            for number, click in enumerate(self._settings.clicks, 1):
                self._doing = _name_of(number, click)
                await self._click(click)
        self._doing = self._waiting

    async def after_waiting(self) -> None:
        """Scroll, and keep the page where it is for the scripts to come."""
        self._doing = ""
        if self._settings.scroll != 0:
            await self._stay()
            self._doing = "`browser.scroll`"
            await self._scroll(self._settings.scroll)
            self._raise_if_led_away()
            self._doing = ""

    async def before_scripts(self) -> None:
        """Keep the page where it is."""
        if self._settings.js_code:
            await self._stay()
            self._doing = "`browser.js_code`"

    async def after_scripts(self, result: Mapping[str, Any]) -> None:
        """Check crawl4ai's report on the scripts, and wait for what they load.

        Raises:
            FetchError: a script failed, or leads away from the page.
        """
        if not result["success"]:
            raise RuntimeError(result.get("error"))
        for number, each in enumerate(result["results"], 1):
            if isinstance(each, dict) and each.get("success") is False:
                self._raise_if_led_away()
                reason = " ".join(str(each.get("error")).split())[:300]
                raise _misfit(f"script {number} of `browser.js_code` failed: {reason}")
        await self._still(0)
        self._raise_if_led_away()
        self._doing = ""

    def url_of(self, shown: str) -> str:
        """Return the URL of the page: a click or a script may set another query or fragment, which is no other page.

        Raises:
            FetchError: the page shows another path.
        """
        self._raise_if_led_away()
        if self._url is None:
            return shown
        one, other = urlsplit(self._url), urlsplit(shown)
        if (one.scheme, one.netloc, one.path) != (other.scheme, other.netloc, other.path):
            self._led_to(shown)
        return self._url

    def explain(self, error: BaseException) -> None:
        """Raise an error of the browser as one of the settings, where it is one.

        Raises:
            FetchError: with the setting and the remedy.
        """
        if not self._doing:
            return
        self._raise_if_led_away()
        if "Timeout" not in str(error) and not isinstance(error, TimeoutError):
            return
        waits = self._doing == self._waiting
        time = f"within {self._seconds:g} s"
        reason = f"no visible element matched {self._doing} {time}" if waits else f"{self._doing} did not end {time}"
        remedy = "correct the selector" if waits else "correct it"
        raise FetchError(
            f"{reason}: {remedy}, or raise `browser.page_timeout`", transient=True, failure_class=FailureClass.TIMEOUT
        ) from error

    @property
    def _selectors(self) -> dict[str, str]:
        """Selectors by the names of their settings."""
        found = {_name_of(number, click): click.selector for number, click in enumerate(self._settings.clicks, 1)}
        return found | ({self._waiting: self._settings.wait_for} if self._settings.wait_for else {})

    @property
    def _waiting(self) -> str:
        return f"`browser.wait_for` ({self._settings.wait_for})" if self._settings.wait_for else ""

    async def _check_selectors(self) -> None:
        from playwright.async_api import Error

        for name, selector in self._selectors.items():
            try:
                await self._visible(selector).count()
            except Error as error:
                if _REFUSED.search(str(error)):
                    raise _misfit(f"{name} is no CSS selector") from error
                raise

    async def _until_something_is_there(self) -> None:
        """Wait for the element of `wait_for`, or for one to click."""
        while self._settings.wait_for:
            for selector in self._selectors.values():
                if await self._visible(selector).count():
                    return
            await asyncio.sleep(_POLL_SECONDS)

    async def _click(self, click: ClickSettings) -> None:
        """Click as long as there is an element, and clicks change the page."""
        for _ in range(click.times):
            element = self._visible(click.selector).first
            if not await _can_be_clicked(element):
                return
            before = await self._world.evaluate(_LOOK)
            await _press(element)
            await self._still(0)
            self._raise_if_led_away()
            if await self._world.evaluate(_LOOK) == before:
                return

    def _visible(self, selector: str) -> Locator:
        return self._page.locator(f"css={selector}").filter(visible=True)

    async def _scroll(self, screens: int | None) -> None:
        """Scroll by screens until nothing more comes."""
        clock = asyncio.get_running_loop().time
        scrolled = 0
        while (screens is None or scrolled < screens) and clock() < self._scroll_end:
            at_bottom, height = await self._world.evaluate(_SCROLL % 1) or (False, None)
            scrolled += 1
            await asyncio.sleep(_SCREEN_SECONDS)
            if at_bottom:
                await self._still(_BOTTOM_SECONDS)
                _, grown = await self._world.evaluate(_SCROLL % 0) or (False, None)
                if grown == height:
                    return

    async def _stay(self) -> None:
        """Keep the page where it is from now on."""
        if self._url is None:
            self._url = self._page.url
            await self._traffic.hold(self._world.frame_id)

    def _raise_if_led_away(self) -> None:
        if self._traffic.led_to is not None:
            self._led_to(self._traffic.led_to)

    def _led_to(self, url: str) -> NoReturn:
        what = self._doing or "one of the actions in `browser`"
        raise _misfit(f"{what} leads away from the page, to {url[:200]}: name another element or script")


async def _can_be_clicked(element: Locator) -> bool:
    from playwright.async_api import Error

    try:
        return await element.count() > 0 and await element.is_enabled(timeout=_CLICK_SECONDS * 1000)
    except Error as error:
        if "Timeout" in str(error):
            return False  # it has gone in between
        raise


async def _press(element: Locator) -> None:
    """Click as a person does, or by script where a person could not because something covers the element."""
    from playwright.async_api import Error

    try:
        await element.click(timeout=_CLICK_SECONDS * 1000)
    except Error as error:
        if "Timeout" not in str(error):
            raise
        with suppress(Error):  # it has gone in between
            await element.evaluate("element => element.click()", timeout=_CLICK_SECONDS * 1000)


def _name_of(number: int, click: ClickSettings) -> str:
    return f"`browser.clicks` {number} ({click.selector})"


def _misfit(reason: str) -> FetchError:
    """Return the error for settings that do not fit the page."""
    return FetchError(reason, transient=False, failure_class=FailureClass.UNSUPPORTED)
