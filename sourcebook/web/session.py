"""The session of a crawl with a site that asks for a login: begun before the first page, and again where it ends."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from sourcebook.config.sites import SiteSource
from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.fetcher import HttpFetcher
from sourcebook.web.fetching.politeness import HostLimiter
from sourcebook.web.login import LoginError, begin_session
from sourcebook.web.login_state import LoginState
from sourcebook.web.outcome import ClaimedUrl, Failed, Outcome, Stored, Unchanged

MOST_LOGINS = 2
"""Logins of one crawl: repeated ones lock an account."""


class Session:
    """Logs in as the settings ask for, and with a form once more where the session ends within the crawl.

    Args:
        settings: settings of the site.
        host: host of the site.
        fetcher: HTTP client of the site, which keeps the cookies.
        limiter: request rate of each host.
        breaker: circuit breaker of each host.
    """

    def __init__(
        self, settings: SiteSource, host: str, fetcher: HttpFetcher, limiter: HostLimiter, breaker: CircuitBreaker
    ) -> None:
        self._settings = settings
        self._host = host
        self._fetcher = fetcher
        self._limiter = limiter
        self._breaker = breaker
        self._storage: Mapping[str, Mapping[str, str]] = {}
        self._turn = asyncio.Lock()
        self._has_worked = False
        self._renewed: Callable[[], None] = lambda: None
        self._logins = 0
        self._failure: str | None = None

    async def begin(self) -> None:
        """Log in where the settings ask for it.

        Raises:
            LoginError: the login failed.
        """
        self._storage = await begin_session(self._settings, self._host, self._fetcher, self._limiter, self._breaker)
        self._logins += 1

    def state(self) -> LoginState:
        """Return the cookies and the local storage that a browser begins with."""
        return LoginState(self._fetcher.cookies(), self._storage)

    def when_renewed(self, call: Callable[[], None]) -> None:
        """Set the function to call after the session is renewed."""
        self._renewed = call

    async def visit(self, claimed: ClaimedUrl, visit: Callable[[ClaimedUrl], Awaitable[Outcome]]) -> Outcome:
        """Return the outcome of a visit; a URL that shows a login after others did not is visited again after a login.

        Args:
            claimed: the URL.
            visit: visits it.
        """
        logins = self._logins
        outcome = await visit(claimed)
        if isinstance(outcome, Stored | Unchanged):
            self._has_worked = True
        if not (isinstance(outcome, Failed) and outcome.asks_login):
            return outcome
        if await self._renew(logins):
            return await visit(claimed)
        if self._failure is not None:
            return replace(outcome, reason=f"{outcome.reason}; a new login failed: {self._failure}")
        return outcome

    async def _renew(self, seen: int) -> bool:
        """Log in again; return whether a page may be requested again that showed a login after so many logins."""
        if self._settings.login is None or self._settings.login.form is None:
            return False
        async with self._turn:
            if seen < self._logins:
                return True  # another visit has renewed it
            if self._logins >= MOST_LOGINS or self._failure is not None or not self._has_worked:
                return False
            try:
                await self.begin()
            except LoginError as error:
                self._failure = str(error)
                return False
            self._renewed()
            return True
