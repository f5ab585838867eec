"""The robots.txt of each host of a crawl, requested once."""

import asyncio
import time
from datetime import timedelta
from urllib.parse import urlsplit

from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.politeness import HostLimiter
from sourcebook.web.fetching.retries import Fetcher, fetch_with_retries
from sourcebook.web.fetching.robots import RobotsRules, rules_of
from sourcebook.web.http_types import FetchError, Request, Response
from sourcebook.web.url import normal_form

MOST_REDIRECTS = 5
"""Redirects followed for a robots.txt, the minimum of RFC 9309; behind more the file counts as missing."""
WAIT = timedelta(minutes=5)
"""Time until the next request for a robots.txt that could not be read."""


class HostRules:
    """Provides the rules of a host; requests for them keep the limits of all other requests.

    Args:
        fetcher: HTTP client of the site.
        limiter: rate limiter, which receives the Crawl-delay.
        breaker: circuit breaker of the crawl.
        user_agent: value of the header User-Agent.
    """

    def __init__(self, fetcher: Fetcher, limiter: HostLimiter, breaker: CircuitBreaker, user_agent: str) -> None:
        self._fetcher = fetcher
        self._limiter = limiter
        self._breaker = breaker
        self._user_agent = user_agent
        self._rules: dict[str, RobotsRules] = {}
        self._unknown: dict[str, tuple[str, float]] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    async def of(self, url: str) -> RobotsRules:
        """Return the rules for a URL's host.

        Raises:
            FetchError: the rules could not be read; `retry_after` is the time to wait.
        """
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._rules:
            async with self._asking.setdefault(origin, asyncio.Lock()):
                if origin not in self._rules:
                    self._wait_if_unknown(origin)
                    self._rules[origin] = await self._ask(origin)
        return self._rules[origin]

    async def _ask(self, origin: str) -> RobotsRules:
        url = f"{origin}/robots.txt"
        response = await self._follow(url)
        rules = RobotsRules() if response is None else rules_of(response.status, response.body, self._user_agent)
        if response is not None and rules.unavailable:
            reason = f"{url} answers with status {response.status}, so what may be fetched is not known"
            self._unknown[origin] = (reason, time.monotonic() + WAIT.total_seconds())
            self._wait_if_unknown(origin)
        if rules.crawl_delay:
            self._limiter.slow_down(urlsplit(origin).hostname or "", rules.crawl_delay)
        return rules

    def _wait_if_unknown(self, origin: str) -> None:
        """Raise again, without a request, while the host's rules could not be read.

        Raises:
            FetchError: see `of`.
        """
        reason, until = self._unknown.get(origin, ("", 0.0))
        left = until - time.monotonic()
        if left > 0:
            raise FetchError(reason, transient=True, retry_after=timedelta(seconds=left))

    async def _follow(self, url: str) -> Response | None:
        """Return the response after at most five redirects, None after more."""
        for _ in range(MOST_REDIRECTS + 1):
            response = await fetch_with_retries(self._fetcher, self._limiter, self._breaker, Request(url))
            location = response.headers.get("location") if 300 <= response.status < 400 else None
            target = normal_form(location, url) if location else None
            if target is None:
                return response
            url = target
        return None
