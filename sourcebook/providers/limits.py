"""Limits of requests and tokens a minute, shared by all processes in PostgreSQL, and the breaker of a process."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Lock
from typing import Final, Protocol

from psycopg import Connection

from sourcebook.config.provider import ProviderSettings
from sourcebook.database.queries import queries

Connecting = Callable[[], AbstractContextManager[Connection]]
"""Lends a connection in autocommit mode."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A request that may begin, or that has to wait."""

    request: int | None
    """Id of the request; None where it has to wait or nothing is counted."""
    seconds: float = 0.0
    """Seconds to wait before the next attempt; 0 where it may begin."""


class Limits(Protocol):
    """Counts requests and tokens."""

    def take(self, tokens: int) -> Taken:
        """Reserve a request with at most so many tokens, or say how long to wait."""

    def end(self, taken: Taken, tokens: int | None) -> None:
        """Record the end of a request, with the tokens that the provider counted; None where it has not said."""


class NoLimits:
    """The limits of a provider without any."""

    def take(self, tokens: int) -> Taken:
        """Let every request through."""
        return Taken(None)

    def end(self, taken: Taken, tokens: int | None) -> None:
        """Count nothing."""


class SharedLimits:
    """Limits whose requests stand in the database: several processes together stay below them.

    Each minute as the provider may count it holds no more than the limit: a request counts from its beginning until a
    minute after its end.
    """

    def __init__(self, connecting: Connecting, settings: ProviderSettings, collection: str) -> None:
        self._connecting = connecting
        self._scope = {
            "provider": f"{settings.url} {settings.key_variable or ''}",
            "collection": collection,
            "requests_per_minute": settings.requests_per_minute,
            "tokens_per_minute": settings.tokens_per_minute,
        }

    def take(self, tokens: int) -> Taken:
        """Reserve a request in the database, or say how long to wait."""
        with self._connecting() as connection:
            row = connection.execute(queries["take_provider_request"], {**self._scope, "tokens": tokens}).fetchone()
        request, seconds = row or (None, 1.0)
        return Taken(request, seconds)

    def end(self, taken: Taken, tokens: int | None) -> None:
        """Record the end of a request in the database."""
        with self._connecting() as connection:
            connection.execute(queries["end_provider_request"], {"request": taken.request, "tokens": tokens})


def limits_of(connecting: Connecting, settings: ProviderSettings, collection: str) -> Limits:
    """Return the limits that settings ask for."""
    if settings.requests_per_minute is None and settings.tokens_per_minute is None:
        return NoLimits()
    return SharedLimits(connecting, settings, collection)


FAILURES: Final = 5
"""Failures in a row that open the breaker."""
REST: Final = 15.0
"""Seconds for which it stays open; then one request tries."""


class CircuitBreaker:
    """Counts failures in a row of one provider. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._failures = 0
        self._closed_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the last requests failed and none has succeeded since."""
        return self._failures >= FAILURES

    def seconds_to_wait(self) -> float:
        """Return the seconds until a request may be made; 0 lets this one through, and others wait for its outcome."""
        with self._lock:
            if self._failures < FAILURES:
                return 0.0
            seconds = self._closed_at - self._clock()
            if seconds > 0:
                return seconds
            self._closed_at = self._clock() + REST
            return 0.0

    def succeeded(self) -> None:
        """Record an answer."""
        with self._lock:
            self._failures = 0

    def failed(self) -> None:
        """Record a failure that is the provider's."""
        with self._lock:
            self._failures += 1
            if self._failures >= FAILURES:
                self._closed_at = self._clock() + REST


_breakers: dict[str, CircuitBreaker] = {}
_lock = Lock()


def breaker_of(url: str) -> CircuitBreaker:
    """Return the breaker of a provider's address; one a process."""
    with _lock:
        return _breakers.setdefault(url, CircuitBreaker())
