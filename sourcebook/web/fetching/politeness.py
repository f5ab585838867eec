"""Request rates: evenly spaced requests to each host, and none during a pause that the host requested."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from yarl import URL

from sourcebook.errors import FailureClass
from sourcebook.web.http_types import FetchError

_JITTER = 0.05
"""Seconds by which requests may arrive closer together than sent, without exceeding the rate of any second."""


def host_name(url: str) -> str:
    """Return the host of a URL in lower case without its port, the key of its request rate.

    The name is empty where the argument is no URL.
    """
    try:
        return URL(url).raw_host or ""
    except ValueError:
        return ""


@dataclass(slots=True)
class _Host:
    spacing: float
    next_start: float = -math.inf
    paused_until: float = -math.inf
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class HostLimiter:
    """A token bucket of one token per host: no host gets more than `rate` requests in any second.

    Requests start at least 1/rate seconds apart, in order of arrival. For one event loop.

    Args:
        rate: requests per second and host, which may be below 1; None for no limit.
        patience: longest pause of a host, in seconds, that requests wait for.
    """

    def __init__(self, rate: float | None, *, patience: float = 30.0) -> None:
        self.patience = patience
        # The intervals of a second add up, so `rate` of them share one jitter.
        self._spacing = 0.0 if rate is None else 1 / rate + _JITTER / max(rate, 1.0)
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def leave(self, host: str) -> AsyncIterator[Callable[[], None]]:
        """Wait for the turn of one request to a host; yield the function to call when it has been sent.

        The interval counts from the time of sending, because connecting takes time. Where the function is not called,
        it counts from the end of the context.

        Raises:
            FetchError: the host asked for a pause longer than `patience`.
        """
        state = self._host(host)
        now = time.monotonic()
        if not state.spacing and state.paused_until <= now:
            state.next_start = now  # a Crawl-delay counts from here
            yield _nothing
            return
        await state.turn.acquire()
        is_ours = True

        def sent() -> None:
            nonlocal is_ours
            if is_ours:
                is_ours = False
                state.next_start = time.monotonic() + state.spacing
                state.turn.release()

        try:
            await self._wait(host, state)
        except BaseException:
            state.turn.release()
            raise
        try:
            yield sent
        finally:
            sent()

    async def acquire(self, host: str) -> None:
        """Wait for the turn of one request to a host, to be sent at once.

        Raises:
            FetchError: the host asked for a pause longer than `patience`.
        """
        async with self.leave(host) as sent:
            sent()

    async def _wait(self, host: str, state: _Host) -> None:
        while True:
            now = time.monotonic()
            if state.paused_until - now > self.patience:
                raise _paused(host, state.paused_until - now)
            wait = max(state.next_start, state.paused_until) - now
            if wait <= 0:
                return
            await asyncio.sleep(wait)  # then check again for a new pause or Crawl-delay

    def slow_down(self, host: str, seconds: float) -> None:
        """Set the least interval of requests to a host in seconds, such as its Crawl-delay."""
        state = self._host(host)
        state.next_start += max(0.0, seconds - state.spacing)
        state.spacing = max(state.spacing, seconds)

    def pause(self, host: str, until: float) -> None:
        """Pause a host until a time in seconds of `time.monotonic()`; a longer pause stays."""
        state = self._host(host)
        state.paused_until = max(state.paused_until, until)

    def _host(self, host: str) -> _Host:
        state = self._hosts.get(host)
        if state is None:
            state = self._hosts[host] = _Host(self._spacing)
        return state


def _nothing() -> None:
    """Do nothing: without a rate, the time of sending does not count."""


def _paused(host: str, seconds: float) -> FetchError:
    wait = timedelta(seconds=math.ceil(seconds))
    return FetchError(
        f"{host} asked for a pause of another {wait}",
        transient=True,
        retry_after=wait,
        failure_class=FailureClass.SERVER,
    )
