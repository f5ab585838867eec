"""The robots.txt (RFC 9309) of each host of a crawl, requested once, and X-Robots-Tag."""

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from protego import Protego

from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass
from sourcebook.parsing.html.cleaner import CleanedPage
from sourcebook.parsing.html.frames import FrameHead
from sourcebook.parsing.html.head import is_over
from sourcebook.parsing.text.decode import decode
from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.politeness import HostLimiter
from sourcebook.web.fetching.retries import LONGEST_WAIT, Fetcher, fetch_with_retries
from sourcebook.web.http_types import FetchError, Request, Response
from sourcebook.web.url import normal_form

MOST_BYTES = 500 * 1024
"""Bytes of a robots.txt that are read: the minimum of RFC 9309."""

_TOO_MANY_REQUESTS = 429
_LONGEST_INTERVAL = 10**9
"""Seconds of a Request-rate that count: its numbers may be larger than any float."""


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one host for one user agent."""

    crawl_delay: float | None = None
    """Seconds between requests: the longer of Crawl-delay and Request-rate."""
    sitemaps: tuple[str, ...] = ()
    """Sitemap URLs as written in the file; they should be absolute."""
    unavailable: bool = False
    """Whether the rules could not be read (*unreachable* in RFC 9309), so that requests must wait."""
    _parsed: Protego | None = None
    _agent: str = ""

    def allowed(self, url: str) -> bool:
        """Return whether a URL may be fetched.

        Raises:
            ValueError: the rules could not be read.
        """
        if self.unavailable:
            raise ValueError("nothing is known to be allowed while robots.txt is unavailable")
        return self._parsed is None or self._parsed.can_fetch(url, self._agent)


UNAVAILABLE = RobotsRules(unavailable=True)
"""Rules of an unreachable host."""


def tag_directives(header: str, user_agent: str) -> frozenset[str]:
    """Return the directives `noindex` and `nofollow` of an X-Robots-Tag header.

    `none` stands for both, and an `unavailable_after` that is past for `noindex`.

    Args:
        header: its value, several joined with commas; a part may start with the name of an agent.
        user_agent: value of the header User-Agent.
    """
    agent = user_agent.partition("/")[0].strip().lower()
    found: set[str] = set()
    meant = True
    for part in header.lower().split(","):
        named, colon, directive = part.partition(":")
        if colon and named.strip() != "unavailable_after":
            meant = named.strip() == agent  # applies to the following parts, up to the next agent
            part = directive
        if meant and named.strip() == "unavailable_after" and is_over(header[header.lower().index(part) :]):
            found.add("noindex")
        elif meant:
            found |= {"noindex", "nofollow"} if part.strip() == "none" else {part.strip()}
    return frozenset(found & {"noindex", "nofollow"})


def rules_of(status: int, body: bytes, user_agent: str) -> RobotsRules:
    """Return the rules in the response to the request for `/robots.txt`.

    No rules apply where the file is missing, locked (401, 403; see RFC 9309) or behind endless redirects. A server
    error or a 429 makes the rules unavailable.

    Args:
        status: the HTTP status, after redirects.
        body: decompressed; read up to `MOST_BYTES`.
        user_agent: value of the header User-Agent, whose part before the slash selects the rules.
    """
    if status < 200 or status >= 500 or status == _TOO_MANY_REQUESTS:
        return UNAVAILABLE
    if status >= 300:
        return RobotsRules()
    if len(body) > MOST_BYTES:
        # A rule that is cut off would be another rule.
        body = body[:MOST_BYTES].rpartition(b"\n")[0]
    parsed = Protego.parse(decode(body).text)
    agent = user_agent.partition("/")[0].strip()
    delays = [] if (delay := parsed.crawl_delay(agent)) is None else [delay]
    if (rate := parsed.request_rate(agent)) is not None:
        delays.append(min(rate.seconds, _LONGEST_INTERVAL) / rate.requests)
    return RobotsRules(
        crawl_delay=max(delays, default=None),
        sitemaps=tuple(dict.fromkeys(parsed.sitemaps)),
        _parsed=parsed,
        _agent=agent,
    )


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

    async def allow(self, url: str) -> bool:
        """Return whether a URL may be fetched: the rules, which `of` may fail to read, allow it or are not kept."""
        return not self._settings.politeness.respect_robots or (await self.of(url)).allowed(url)

    def asked_by(self, response: Response, page: CleanedPage | FrameHead | None = None) -> frozenset[str]:
        """Return the directives for robots of a page, in its header and its HTML: noindex, nofollow."""
        if not self._settings.politeness.respect_robots:
            return frozenset()
        agent = self._settings.request.user_agent
        asked = tag_directives(response.headers.get("x-robots-tag", ""), agent)
        asked |= frozenset() if page is None else tag_directives(page.named_robots, agent)
        return asked | {name for name in ("noindex", "nofollow") if getattr(page, name, False)}

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
        agent = self._settings.request.user_agent
        rules = RobotsRules() if response is None else rules_of(response.status, response.body, agent)
        if response is not None and rules.unavailable:
            reason = f"{url} answers with status {response.status}, so what may be fetched is not known"
            self._postpone(origin, reason, WAIT, FailureClass.SERVER)
        if rules.crawl_delay and self._settings.politeness.respect_robots:
            self._obey(origin, rules.crawl_delay)
        return rules

    def _obey(self, origin: str, delay: float) -> None:
        """Keep the Crawl-delay in seconds of a host, or postpone the host where it is too long."""
        longest = self._settings.politeness.max_crawl_delay
        if delay > longest.total_seconds():
            wait = min(self._settings.refresh, LONGEST_WAIT)
            reason = (
                f"{origin}/robots.txt asks for a Crawl-delay of {delay:,.10g} seconds, more than the site's "
                f"`politeness.max_crawl_delay` of {longest.total_seconds():,.10g} seconds: raise that to crawl so "
                "slowly, or set `respect_robots: false` beside it where the site is your own"
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
