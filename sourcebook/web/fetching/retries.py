"""Fetch a URL at its host's rate, with retries and a circuit breaker."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Protocol

import stamina
import stamina.instrumentation

from sourcebook.errors import FailureClass
from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.politeness import HostLimiter, host_name
from sourcebook.web.http_types import FetchError, Request, Response

ATTEMPTS = 3
"""Attempts per URL in one visit."""
LONGEST_WAIT = timedelta(hours=24)
"""Limit on the time that a Retry-After header may ask for."""
_SECONDS = re.compile(r"\d+(\.\d*)?", re.ASCII)
_RETRIED = frozenset({500, 502, 503, 504})
"""Status codes of server errors that a retry may cure."""

# By default stamina prints a line for each retry.
stamina.instrumentation.set_on_retry_hooks(())


def parse_retry_after(value: str | None, now: datetime | None = None) -> timedelta | None:
    """Return the time to wait that a Retry-After header asks for, 0 to 24 hours; None where it is not readable.

    Args:
        value: a number of seconds or an HTTP date.
        now: the time that a date is compared with; the current time where None.
    """
    value = (value or "").strip()
    if _SECONDS.fullmatch(value):
        return timedelta(seconds=min(float(value), LONGEST_WAIT.total_seconds()))
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return min(max(date - (now or datetime.now(UTC)), timedelta(0)), LONGEST_WAIT)


class Fetcher(Protocol):
    """An HTTP client that makes one attempt."""

    async def fetch(self, request: Request, sent: Callable[[], None] = ...) -> Response:
        """Return the response, or raise FetchError; call `sent` when the request has been sent."""


class _ServerError(Exception):
    """The server answered with a status that a retry may cure."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


async def fetch_with_retries(
    fetcher: Fetcher, limiter: HostLimiter, breaker: CircuitBreaker, request: Request
) -> Response:
    """Fetch a URL with up to 3 attempts, each at the rate of the host's limiter.

    A Retry-After up to the limiter's patience delays every request to this host; a longer one is raised. The circuit
    breaker counts two failures of a host: an attempt without a response, and a 5xx status after the last attempt. A
    status below 500 resets the count; a request to wait (429, Retry-After) leaves it unchanged.

    Raises:
        FetchError: no attempt got a response, the host asks for a longer wait, or the breaker refuses it.
    """
    host = host_name(request.url)

    def wait(error: Exception) -> bool | float | timedelta:
        if isinstance(error, FetchError) and error.retry_after is not None:
            return error.retry_after.total_seconds() <= limiter.patience and error.retry_after
        return isinstance(error, _ServerError) or (isinstance(error, FetchError) and error.transient)

    try:
        return await _attempt(fetcher, limiter, breaker, request, host)
    except (FetchError, _ServerError) as error:
        first = [error]  # most requests need no retry, nor the machinery of one
    try:
        async for attempt in stamina.retry_context(
            wait, attempts=ATTEMPTS, timeout=None, wait_initial=0.5, wait_jitter=0.5, wait_max=5.0
        ):
            with attempt:
                if first:
                    raise first.pop()
                return await _attempt(fetcher, limiter, breaker, request, host)
    except _ServerError as error:
        breaker.failed(host, f"it answered with status {error.response.status}")
        return error.response
    raise AssertionError("stamina ended without a result")


async def _attempt(
    fetcher: Fetcher, limiter: HostLimiter, breaker: CircuitBreaker, request: Request, host: str
) -> Response:
    refusal = breaker.refusal(host)
    if refusal is not None:
        raise refusal  # before the wait for the host's rate
    async with limiter.leave(host) as sent:
        with breaker.admission(host):
            response = await _fetch(fetcher, breaker, request, host, sent)
            _obey(response, limiter, host)
            if response.status in _RETRIED:
                raise _ServerError(response)
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
        FetchError: the host asks for a pause; the error holds its length.
    """
    pause = parse_retry_after(response.headers.get("retry-after"))
    if response.status == 429 or (response.status == 503 and pause is not None):
        if pause is not None:
            limiter.pause(host, time.monotonic() + pause.total_seconds())
        asks = f"{host} asks for fewer requests" if response.status == 429 else f"{host} is unavailable for now"
        again = f" and asks for a pause of {pause}" if pause is not None else ""
        raise FetchError(
            f"{asks} (status {response.status}){again}",
            transient=True,
            retry_after=pause,
            failure_class=FailureClass.SERVER,
            answered=True,
        )
