"""Seconds that the responses of a crawl take, by URL."""

import time
from collections.abc import Callable
from typing import Protocol

from sourcebook.web.fetching.retries import Fetcher
from sourcebook.web.http_types import Request, Response


class PageRenderer(Protocol):
    """A browser that runs a page's scripts."""

    async def render(self, url: str) -> Response:
        """Return the page after its scripts ran, or raise FetchError."""


class FetchTimes:
    """The longest response of each expected URL in seconds, until it is taken."""

    def __init__(self) -> None:
        self._seconds: dict[str, float | None] = {}

    def expect(self, url: str) -> None:
        """Have the times of a URL recorded until they are taken."""
        self._seconds.setdefault(url, None)

    def note(self, url: str, seconds: float) -> None:
        """Record the time of a response in seconds, unless nobody takes it, as that of a robots.txt or a frame."""
        if url in self._seconds:
            self._seconds[url] = max(seconds, self._seconds[url] or 0.0)

    def take(self, url: str) -> float | None:
        """Return the seconds of a URL and forget them; None where it was not requested."""
        return self._seconds.pop(url, None)


class TimedFetcher:
    """A fetcher that records the time from the sending of each request to the last byte of its response.

    The wait for the request rate of the host is left out.

    Args:
        fetcher: HTTP client of the site.
        times: the record.
    """

    def __init__(self, fetcher: Fetcher, times: FetchTimes) -> None:
        self._fetcher = fetcher
        self._times = times

    async def fetch(self, request: Request, sent: Callable[[], None] = lambda: None) -> Response:
        """Return the response of the fetcher, or raise its FetchError."""
        began = time.perf_counter()

        def note() -> None:
            nonlocal began
            began = time.perf_counter()
            sent()

        try:
            return await self._fetcher.fetch(request, note)
        finally:
            self._times.note(request.url, time.perf_counter() - began)


class TimedRenderer:
    """A browser whose pages are recorded with the time until they are still, waits for the request rate included.

    Args:
        renderer: browser of the site.
        times: the record.
    """

    def __init__(self, renderer: PageRenderer, times: FetchTimes) -> None:
        self._renderer = renderer
        self._times = times

    async def render(self, url: str) -> Response:
        """Return the page of the browser, or raise its FetchError."""
        began = time.perf_counter()
        try:
            return await self._renderer.render(url)
        finally:
            self._times.note(url, time.perf_counter() - began)
