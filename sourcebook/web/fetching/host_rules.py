"""The robots.txt of each host of a crawl, requested once."""

import asyncio
import time
from datetime import timedelta
from urllib.parse import urlsplit

from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass
from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.politeness import HostLimiter
from sourcebook.web.fetching.retries import LONGEST_WAIT, Fetcher, fetch_with_retries
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
        settings: settings of the site: the User-Agent, and the longest Crawl-delay to keep.
    """

    def __init__(self, fetcher: Fetcher, limiter: HostLimiter, breaker: CircuitBreaker, settings: SiteSource) -> None:
        self._fetcher = fetcher
        self._limiter = limiter
        self._breaker = breaker
        self._settings = settings
        self._rules: dict[str, RobotsRules] = {}
        self._postponed: dict[str, tuple[str, FailureClass, float]] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    async def of(self, url: str) -> RobotsRules:
        """Return the rules for a URL's host.

        Raises:
            FetchError: the rules could not be read, or their Crawl-delay is too long; `retry_after` is the time to
                wait.
        """
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._rules:
            async with self._asking.setdefault(origin, asyncio.Lock()):
                if origin not in self._rules:
                    self._raise_postponed(origin)
                    self._rules[origin] = await self._ask(origin)
        return self._rules[origin]

    async def _ask(self, origin: str) -> RobotsRules:
        url = f"{origin}/robots.txt"
        try:
            response = await self._follow(url)
        except FetchError as error:
            if error.answered:
                reason = f"{url}: {error}, so what may be fetched is not known"
                self._postpone(origin, reason, max(error.retry_after or WAIT, WAIT), FailureClass.SERVER)
            raise
        rules = (
            RobotsRules() if response is None else rules_of(response.status, response.body, self._settings.user_agent)
        )
        if response is not None and rules.unavailable:
            reason = f"{url} answers with status {response.status}, so what may be fetched is not known"
            self._postpone(origin, reason, WAIT, FailureClass.SERVER)
        if rules.crawl_delay and self._settings.respect_robots:
            self._obey(origin, rules.crawl_delay)
        return rules

    def _obey(self, origin: str, delay: float) -> None:
        """Keep the Crawl-delay in seconds of a host, or postpone the host where it is too long."""
        longest = self._settings.max_crawl_delay
        if delay > longest.total_seconds():
            wait = min(self._settings.refresh, LONGEST_WAIT)
            reason = (
                f"{origin}/robots.txt asks for a Crawl-delay of {delay:,.10g} seconds, more than the site's "
                f"`max_crawl_delay` of {longest.total_seconds():,.10g} seconds: raise that to crawl so slowly, or set "
                f"`respect_robots: false` where the site is your own"
            )
            self._postpone(origin, reason, wait, FailureClass.FORBIDDEN)
        self._limiter.slow_down(urlsplit(origin).hostname or "", delay)

    def _postpone(self, origin: str, reason: str, wait: timedelta, failure_class: FailureClass) -> None:
        self._postponed[origin] = (reason, failure_class, time.monotonic() + wait.total_seconds())
        self._raise_postponed(origin)

    def _raise_postponed(self, origin: str) -> None:
        """Raise again, without a request, while the host is postponed.

        Raises:
            FetchError: see `of`.
        """
        reason, failure_class, until = self._postponed.get(origin, ("", FailureClass.SERVER, 0.0))
        left = until - time.monotonic()
        if left > 0:
            raise FetchError(reason, transient=True, retry_after=timedelta(seconds=left), failure_class=failure_class)

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
