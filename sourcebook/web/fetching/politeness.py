"""How often a host is asked: requests evenly spaced, and none while it wants to be left alone."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from yarl import URL

from sourcebook.web.http_types import FetchError

_JITTER = 0.05
"""Seconds by which requests may arrive closer together than they were sent, without a second seeing one too many."""


def host_name(url: str) -> str:
    """Return the name under which politeness keeps a URL's host: lower case, without the port.

    What is no URL has no host, and the name is empty.
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
    """A token bucket of one token for each host: over any second, none sees more than `rate` requests.

    Requests start at least 1/rate apart, so that there are no bursts; they get their turn in the order they came.
    For one event loop.

    Args:
        rate: requests per second and host; below 1 means one every 1/rate seconds; None: no limit.
        patience: the longest pause of a host, in seconds, that is waited for.
    """

    def __init__(self, rate: float | None, *, patience: float = 30.0) -> None:
        self.patience = patience
        # Over a second the distances add up: `rate` of them have to hold one jitter.
        self._spacing = 0.0 if rate is None else 1 / rate + _JITTER / max(rate, 1.0)
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def leave(self, host: str) -> AsyncIterator[Callable[[], None]]:
        """Wait until the host may be sent one request; lend a function to be called when that has been sent.

        What counts is when requests are sent, not when they were allowed: connecting takes its time, and the next
        request waits for it. Where the function is not called, the end of the context counts.

        Raises:
            FetchError: the host asked to be left alone for longer than `patience`.
        """
        state = self._host(host)
        now = time.monotonic()
        if not state.spacing and state.paused_until <= now:
            state.next_start = now  # a Crawl-delay that robots.txt asks for counts from here
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
        """Wait until the host may be sent one request, which is then to be sent at once.

        Raises:
            FetchError: the host asked to be left alone for longer than `patience`.
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
            await asyncio.sleep(wait)  # then look again: a pause or a Crawl-delay may have come meanwhile

    def slow_down(self, host: str, seconds: float) -> None:
        """Keep requests to the host at least this far apart from now on, such as its Crawl-delay asks."""
        state = self._host(host)
        state.next_start += max(0.0, seconds - state.spacing)
        state.spacing = max(state.spacing, seconds)

    def pause(self, host: str, until: float) -> None:
        """Send the host nothing before `until`, in seconds of `time.monotonic()`; a longer pause stays."""
        state = self._host(host)
        state.paused_until = max(state.paused_until, until)

    def _host(self, host: str) -> _Host:
        state = self._hosts.get(host)
        if state is None:
            state = self._hosts[host] = _Host(self._spacing)
        return state


def _nothing() -> None:
    """Sending counts only where there is a limit."""


def _paused(host: str, seconds: float) -> FetchError:
    wait = timedelta(seconds=math.ceil(seconds))
    return FetchError(f"{host} asked to be left alone for another {wait}", transient=True, retry_after=wait)
