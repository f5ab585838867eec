"""Leave a host alone for a while after it failed again and again."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sourcebook.web.http_types import FetchError


@dataclass(slots=True)
class _Circuit:
    failures: int = 0
    pause: float = 0.0
    open_until: float = 0.0
    trial: bool = False
    reason: str = ""


class CircuitBreaker:
    """Counts each host's failures in a row; after too many it refuses requests for a time that doubles.

    When that time is over, one request goes through as a trial: its success ends the refusals, its failure begins
    the next and longer time.

    Args:
        failures: how many in a row are too many.
        pause: the first time of refusal, in seconds.
        longest: the longest, in seconds.
    """

    def __init__(self, *, failures: int = 5, pause: float = 60.0, longest: float = 3600.0) -> None:
        self._failures = failures
        self._first_pause = pause
        self._longest_pause = longest
        self._circuits: dict[str, _Circuit] = {}

    def refusal(self, host: str) -> FetchError | None:
        """Return why the host must not be asked now, with the time until it may be; or None."""
        circuit = self._circuits.get(host)
        left = self._left(circuit)
        if circuit is None or not (left > 0 or circuit.trial):
            return None
        left = left if left > 0 else self._first_pause
        again = datetime.now(UTC) + timedelta(seconds=left)
        return FetchError(
            f"{host} failed {circuit.failures} times in a row and is left alone until {again:%H:%M:%S} UTC; "
            f"the last time: {circuit.reason}",
            transient=True,
            retry_after=timedelta(seconds=left),
            host_failed=True,
        )

    @contextmanager
    def admission(self, host: str) -> Iterator[None]:
        """Hold the host open for one request, which reports what came of it by `succeeded` or `failed`.

        Raises:
            FetchError: as `refusal` says.
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
        """Note that the host answered."""
        self._circuits.pop(host, None)

    def failed(self, host: str, reason: str) -> None:
        """Note that the host failed, and why, in words a person reads."""
        circuit = self._circuits.setdefault(host, _Circuit())
        circuit.reason = reason
        if self._left(circuit) > 0:
            return  # the request was on its way when the refusals began
        circuit.failures += 1
        if circuit.failures >= self._failures:
            circuit.pause = min(circuit.pause * 2 or self._first_pause, self._longest_pause)
            circuit.open_until = time.monotonic() + circuit.pause

    @staticmethod
    def _left(circuit: _Circuit | None) -> float:
        return 0.0 if circuit is None else circuit.open_until - time.monotonic()
