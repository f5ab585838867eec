"""A circuit breaker a provider: where requests fail one after the other, it is left alone for a while."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Final

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
