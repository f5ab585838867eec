"""Fetch with patience: at the host's pace, again where that may help, and not at all where it fails."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

import stamina
import stamina.instrumentation

from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.politeness import HostLimiter, host_name
from sourcebook.web.fetching.retry_after import parse_retry_after
from sourcebook.web.http_types import FetchError, Request, Response

ATTEMPTS = 3
_TROUBLE = frozenset({500, 502, 503, 504})

# By default stamina prints a line for each retry.
stamina.instrumentation.set_on_retry_hooks(())


class Fetcher(Protocol):
    """Whatever can fetch one URL once."""

    async def fetch(self, request: Request, sent: Callable[[], None] = ...) -> Response:
        """Return the answer, or raise FetchError; call `sent` when the request has been sent."""


class _Trouble(Exception):  # noqa: N818 - it becomes an answer where it stays
    """The server answered that it has trouble of its own."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


async def fetch_with_retries(
    fetcher: Fetcher, limiter: HostLimiter, breaker: CircuitBreaker, request: Request
) -> Response:
    """Fetch a URL, up to 3 times where that may help; each time the host's limiter gives leave.

    A Retry-After up to the limiter's patience is waited for, by everything that is sent to this host; a longer one
    is raised. The breaker counts as a failure of the host: an attempt that got no answer, and a URL that is answered
    with 5xx to the last. An answer below 500 ends the count; being told to wait (429, Retry-After) does not touch it.

    Raises:
        FetchError: no attempt was answered, the host is to be left alone for longer, or the breaker refuses it.
    """
    host = host_name(request.url)

    def wait(error: Exception) -> bool | float | timedelta:
        if isinstance(error, FetchError) and error.retry_after is not None:
            return error.retry_after.total_seconds() <= limiter.patience and error.retry_after
        return isinstance(error, _Trouble) or (isinstance(error, FetchError) and error.transient)

    try:
        return await _attempt(fetcher, limiter, breaker, request, host)
    except (FetchError, _Trouble) as error:
        first = [error]  # most requests need no second try, and no machinery for one
    try:
        async for attempt in stamina.retry_context(
            wait, attempts=ATTEMPTS, timeout=None, wait_initial=0.5, wait_jitter=0.5, wait_max=5.0
        ):
            with attempt:
                if first:
                    raise first.pop()
                return await _attempt(fetcher, limiter, breaker, request, host)
    except _Trouble as trouble:
        breaker.failed(host, f"it answered with status {trouble.response.status}")
        return trouble.response
    raise AssertionError("stamina ended without a result")


async def _attempt(
    fetcher: Fetcher, limiter: HostLimiter, breaker: CircuitBreaker, request: Request, host: str
) -> Response:
    refusal = breaker.refusal(host)
    if refusal is not None:
        raise refusal  # before it waits for its turn
    async with limiter.leave(host) as sent:
        with breaker.admission(host):
            response = await _fetch(fetcher, breaker, request, host, sent)
            _obey(response, limiter, host)
            if response.status in _TROUBLE:
                raise _Trouble(response)
            if response.status < 500:
                breaker.succeeded(host)
            return response


async def _fetch(
    fetcher: Fetcher, breaker: CircuitBreaker, request: Request, host: str, sent: Callable[[], None]
) -> Response:
    try:
        return await fetcher.fetch(request, sent)
    except FetchError as error:
        if error.host_failed:
            breaker.failed(host, str(error))
        raise


def _obey(response: Response, limiter: HostLimiter, host: str) -> None:
    """Pause the host where it asks for that.

    Raises:
        FetchError: it does; with the time it asks for.
    """
    told = parse_retry_after(response.headers.get("retry-after"))
    if response.status == 429 or (response.status == 503 and told is not None):
        if told is not None:
            limiter.pause(host, time.monotonic() + told.total_seconds())
        asks = f"{host} asks for fewer requests" if response.status == 429 else f"{host} is unavailable for now"
        again = f" and names {told} until it may be asked again" if told is not None else ""
        raise FetchError(f"{asks} (status {response.status}){again}", transient=True, retry_after=told)
