"""Requests of a page in a browser: blocking of non-text resources and other pages, and the site's headers."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urldefrag, urlsplit

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page

HEADERS_OF_THE_TRANSFER: Final = frozenset(
    {"content-encoding", "content-length", "transfer-encoding", "connection", "set-cookie"}
)
"""Headers that say nothing of a page that a browser has read."""
_UNWANTED: Final = frozenset({"Image", "Media", "Font", "Ping"})
_ICONS: Final = "Other"
# Chromium opens no window by itself, but does so for the click of a user, which a click from outside is.
_NO_WINDOWS: Final = """(() => {
    window.open = () => null;
    const opens = name => typeof name === 'string' && name && !/^_(self|parent|top)$/i.test(name) && !frames[name];
    const check = event => { if (event.composedPath().some(each => opens(each.target))) event.preventDefault() };
    addEventListener('click', check, true);
    addEventListener('submit', check, true);
})()"""


@dataclass(frozen=True, slots=True)
class OwnHeaders:
    """Headers that are sent to the site alone, because they may hold secrets."""

    origins: frozenset[str]
    """Origins that receive them, such as `https://docs.example.com`."""
    headers: dict[str, str]

    @classmethod
    def of_site(cls, url: str, headers: dict[str, str]) -> OwnHeaders:
        """Return headers for the origin of a site's URL, and for its https origin where the URL has http."""
        own = origin(url)
        secure = {own.replace("http://", "https://", 1)} if urlsplit(own).port is None else set()
        return cls(frozenset({own, *secure}), headers)

    def belong_to(self, url: str) -> bool:
        """Whether a request to a URL may carry them."""
        return origin(url) in self.origins


class PageTraffic:
    """Blocks resources without text, closes pages opened by scripts, and adds the site's headers to its requests."""

    def __init__(self, page: Page, devtools: CDPSession, own: OwnHeaders) -> None:
        """Create a controller; see `begin`."""
        self._page = page
        self._devtools = devtools
        self._own = own
        self._tasks: set[asyncio.Task[None]] = set()
        self._patterns: list[dict[str, str]] = []
        self._held_frame: str | None = None
        self._stopped = False
        self.opened = False
        """Whether the page opened another page."""
        self.led_to: str | None = None
        """URL to which a held page would have gone."""

    async def begin(self) -> None:
        """Start before the page loads."""
        patterns = [{"urlPattern": "*", "resourceType": kind} for kind in (*sorted(_UNWANTED), _ICONS)]
        if self._own.headers:
            patterns += [{"urlPattern": f"{each}/*"} for each in sorted(self._own.origins)]
        self._patterns = patterns
        # Not with Playwright, whose interception disables the cache.
        self._devtools.on("Fetch.requestPaused", lambda event: self._run(self._decide(event)))
        self._page.on("popup", self._close)
        await self._devtools.send("Fetch.enable", {"patterns": patterns})

    async def hold(self, frame_id: str) -> None:
        """Let the main frame load nothing from now on but its own URL again, and open no windows.

        Args:
            frame_id: Id of the main frame.
        """
        self._held_frame = frame_id
        documents = {"urlPattern": "*", "resourceType": "Document"}
        await self._devtools.send("Fetch.enable", {"patterns": [*self._patterns, documents]})
        await self._devtools.send("Runtime.evaluate", {"expression": _NO_WINDOWS})

    async def stop(self) -> None:
        """Block all requests of the page until its DevTools session ends."""
        self._page.remove_listener("popup", self._close)
        self._stopped = True
        await self._devtools.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    def _close(self, popup: Page) -> None:
        self.opened = True
        self._run(popup.close())

    async def end(self) -> None:
        """Cancel running tasks."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _decide(self, event: dict[str, Any]) -> None:
        """Block or continue a request; a request of the site to itself gets the site's headers."""
        kind, request = event["resourceType"], event["request"]
        url, headers = request["url"], request["headers"]
        parameters: dict[str, Any] = {"requestId": event["requestId"]}
        if self._stopped or kind in _UNWANTED or (kind == _ICONS and headers.get("Accept", "").startswith("image/")):
            await self._devtools.send("Fetch.failRequest", {**parameters, "errorReason": "BlockedByClient"})
            return
        if kind == "Document" and event["frameId"] == self._held_frame and self._leads_away(request):
            self.led_to = url
            await self._devtools.send("Fetch.failRequest", {**parameters, "errorReason": "Aborted"})
            return
        is_asked_by_itself = kind == "Document" or self._own.belong_to(self._page.url)
        if self._own.headers and is_asked_by_itself and self._own.belong_to(url):
            own = {name.lower() for name in self._own.headers}
            kept = {name: value for name, value in headers.items() if name.lower() not in own}
            sent = {**kept, **self._own.headers}
            parameters["headers"] = [{"name": name, "value": value} for name, value in sent.items()]
        await self._devtools.send("Fetch.continueRequest", parameters)

    def _leads_away(self, request: dict[str, Any]) -> bool:
        is_the_same = urldefrag(request["url"])[0] == urldefrag(self._page.url)[0]
        return not (is_the_same and request["method"] == "GET")

    def _run(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(_quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def origin(url: str) -> str:
    """Return the origin of a URL as browsers write it, empty where it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    standard = port in {None, 443 if parts.scheme == "https" else 80}
    return f"{parts.scheme}://{host}{'' if standard else f':{port}'}"


async def _quietly(work: Coroutine[Any, Any, Any]) -> None:
    """Await a command that may fail because the page is closed."""
    from playwright.async_api import Error

    with suppress(Error):
        await work
