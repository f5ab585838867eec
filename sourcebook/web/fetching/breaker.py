"""A circuit breaker: no requests to a host for a time after repeated failures."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sourcebook.errors import FailureClass
from sourcebook.web.http_types import FetchError


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    pause: float = 0.0
    open_until: float = 0.0
    trial: bool = False
    reason: str = ""


class CircuitBreaker:
    """Counts consecutive failures of each host; above a threshold it refuses requests for a time that doubles.

    After that time one request is let through as a trial: its success closes the circuit, its failure starts the
    next, longer time.

    Args:
        failures: consecutive failures that open the circuit.
        pause: first refusal time in seconds.
        longest: longest refusal time in seconds.
    """

    def __init__(self, *, failures: int = 5, pause: float = 60.0, longest: float = 3600.0) -> None:
        self._failures = failures
        self._first_pause = pause
        self._longest_pause = longest
        self._circuits: dict[str, _Circuit] = {}

    def refusal(self, host: str) -> FetchError | None:
        """Return the error for a host whose circuit is open, with the remaining time; otherwise None."""
        circuit = self._circuits.get(host)
        left = self._left(circuit)
        if circuit is None or not (left > 0 or circuit.trial):
            return None
        left = left if left > 0 else self._first_pause
        again = datetime.now(UTC) + timedelta(seconds=left)
        return FetchError(
            f"{host} failed {circuit.failures} times in a row and gets no requests until {again:%H:%M:%S} UTC; "
            f"the last reason: {circuit.reason}",
            transient=True,
            retry_after=timedelta(seconds=left),
            host_failed=True,
            failure_class=FailureClass.NETWORK,
        )

    @contextmanager
    def admission(self, host: str) -> Iterator[None]:
        """Admit one request, whose result is reported by `succeeded` or `failed`.

        Raises:
            FetchError: the circuit is open; see `refusal`.
        """
        refusal = self.refusal(host)
        if refusal is not None:
            raise refusal
        circuit = self._circuits.get(host)
        if circuit is None or circuit.failures < self._failures:
            yield
            return
        circuit.trial = True
        try:
            yield
        finally:
            circuit.trial = False

    def succeeded(self, host: str) -> None:
        """Record a response of the host."""
        self._circuits.pop(host, None)

    def failed(self, host: str, reason: str) -> None:
        """Record a failure of the host with its reason, a phrase for messages."""
        circuit = self._circuits.setdefault(host, _Circuit())
        circuit.reason = reason
        if self._left(circuit) > 0:
            return  # the request was sent before the circuit opened
        circuit.failures += 1
        if circuit.failures >= self._failures:
            circuit.pause = min(circuit.pause * 2 or self._first_pause, self._longest_pause)
            circuit.open_until = time.monotonic() + circuit.pause

    @staticmethod
    def _left(circuit: _Circuit | None) -> float:
        return 0.0 if circuit is None else circuit.open_until - time.monotonic()
