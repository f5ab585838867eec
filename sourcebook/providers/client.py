"""A client of one provider: one layer of retries, a breaker and limits around single checked requests."""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from sourcebook.providers.azure import KEY_HEADER, AzureApi
from sourcebook.providers.failures import (
    Cure,
    ProviderError,
    RequestFailedError,
    of_connection,
    refusal_in,
    refusal_of,
    without_key,
)
from sourcebook.providers.limits import Limits, NoLimits, breaker_of
from sourcebook.providers.opening import open_client
from sourcebook.providers.streamed_answer import MOST_BYTES, Sockets, StreamedAnswer

if TYPE_CHECKING:
    import httpx2

Result = TypeVar("Result")
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
_BELIEVED: Final = 16
"""Pauses of a request that are as short as the provider asks for; later ones are at least its own growing ones."""
_UNREAD: Final = {"X-Stainless-Raw-Response": "stream"}
"""Header by which the package openai leaves the body of a response to the caller."""
_STREAMED: Final = {"Accept": "text/event-stream, application/json"}
_CLOSED: Final = "is no longer asked: its client has been closed"
_BODY_TIMEOUTS: Final = 5
"""Times the timeout for a whole answer that comes byte by byte."""
_log = logging.getLogger("sourcebook.providers")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a request is tried."""

    attempts: int
    """Attempts; waiting as the provider asks for it is not one."""
    seconds: float
    """Time for all attempts and the pauses between them."""
    timeout: float
    """Seconds without a byte after which an attempt is given up."""
    waits_for_breaker: bool
    """Whether to wait where the breaker is open; otherwise the request fails at once."""


FOR_INGESTS: Final = Patience(attempts=8, seconds=900, timeout=60, waits_for_breaker=True)
FOR_QUERIES: Final = Patience(attempts=3, seconds=10, timeout=10, waits_for_breaker=False)
AT_ONCE: Final = Patience(attempts=4, seconds=60, timeout=30, waits_for_breaker=True)
"""Patience of the first question to a provider, while a person waits."""


@dataclass(slots=True)
class _Tries:
    """Attempts at one request."""

    begun: float = field(default_factory=time.monotonic)
    attempts: int = 0
    pauses: int = 0


class ProviderClient:
    """Posts JSON to one server of a provider and checks what comes back. Thread-safe."""

    def __init__(
        self,
        url: str,
        key_variable: str | None,
        patience: Patience,
        limits: Limits | None = None,
        azure: AzureApi | None = None,
    ) -> None:
        """Prepare; nothing is sent.

        Args:
            url: the server, such as `https://api.openai.com/v1`.
            key_variable: variable of the environment with the key; None for a server without one.
            patience: how long a request is tried.
            limits: requests and tokens a minute.
            azure: Azure's form of the protocol, where the server is one of Azure's.

        Raises:
            ProviderError: the environment has no such variable.
            MissingDependencyError: the package openai is not installed.
        """
        self.url = url
        self._key_variable = key_variable
        self._key = provider_key(key_variable, url)
        self._patience, self._limits, self._azure = patience, limits or NoLimits(), azure
        self._breaker = breaker_of(url)
        self._closed = Event()
        self._sockets = Sockets()
        hooks: dict[str, list[Callable[..., Any]]] = {
            "request": [self._sockets.watch],
            "response": [self._refuse],
        }
        self._client = open_client(url, self._key, patience.timeout, hooks)

    @property
    def is_failing(self) -> bool:
        """Whether the last requests to the server failed."""
        return self._breaker.is_open

    def post(
        self,
        path: str,
        body: Mapping[str, object],
        check: Callable[[object], Result],
        *,
        tokens: int = 0,
        counted: Callable[[object], int | None] = lambda answer: None,
        most: int = MOST_BYTES,
    ) -> Result:
        """Post JSON until the answer passes the check.

        Args:
            path: path below the URL, such as `/embeddings`.
            body: the JSON.
            check: turns the decoded answer into the result; raises `RequestFailedError` otherwise.
            tokens: tokens of the request, at most.
            counted: returns the tokens that an answer says were counted.
            most: bytes of an answer, at most.

        Raises:
            RequestFailedError: the provider refuses the request, and a smaller one may pass.
            ProviderError: the provider refuses, or failed as often or as long as the patience allows.
        """
        tries = _Tries()
        while True:
            self._wait_for_breaker(tries.begun)
            try:
                return self._attempt(path, body, check, tokens, counted, tries.begun, most)
            except RequestFailedError as failure:
                if failure.cure is Cure.SPLIT:
                    raise
                self._pause(self._seconds_before_next(failure, tries))

    def stream(
        self, path: str, body: Mapping[str, object], read: Callable[[StreamedAnswer], Iterator[Result]]
    ) -> Iterator[Result]:
        """Post JSON and yield what is read of the answer while it comes.

        An attempt that fails before its first result is made again as in `post`; a later failure ends the stream.

        Args:
            path: path below the URL, such as `/chat/completions`.
            body: the JSON.
            read: yields results of an answer; raises `RequestFailedError` where it is not what was asked for.

        Raises:
            ProviderError: the provider refuses, failed as often or as long as the patience allows, or stopped halfway.
        """
        tries = _Tries()
        while True:
            self._wait_for_breaker(tries.begun)
            has_begun = False
            try:
                with self._opened(path, body, _STREAMED, tries.begun + self._patience.seconds) as answer:
                    for result in read(answer):
                        has_begun = True
                        yield result
            except RequestFailedError as failure:
                if self._closed.is_set():
                    raise self._error(_CLOSED) from None
                self._note(failure)
                if has_begun:
                    raise self._error(f"{failure}, in the middle of an answer: ask again") from None
                self._pause(self._seconds_before_next(failure, tries))
            else:
                self._breaker.succeeded()
                return

    def end(self) -> None:
        """End all requests from another thread than theirs, which fail at once; the client is closed by its own."""
        self._closed.set()
        self._sockets.end()

    def close(self) -> None:
        """Close the connections and end all waiting; may be called more than once."""
        self._closed.set()
        self._client.close()

    def _attempt(
        self,
        path: str,
        body: Mapping[str, object],
        check: Callable[[object], Result],
        tokens: int,
        counted: Callable[[object], int | None],
        begun: float,
        most: int,
    ) -> Result:
        while (taken := self._limits.take(tokens)).seconds > 0:
            if time.monotonic() + taken.seconds - begun > self._patience.seconds:
                raise self._error("has had as many requests or tokens this minute as the settings allow: wait a minute")
            self._pause(taken.seconds)
        used: int | None = None
        try:
            deadline = min(begun + self._patience.seconds, time.monotonic() + _BODY_TIMEOUTS * self._patience.timeout)
            with self._opened(path, body, {}, deadline, most) as opened:
                answer = opened.json()
            if (refusal := refusal_in(answer, self._key, self._key_variable)) is not None:
                raise refusal
            used = counted(answer)
            result = check(answer)
        except RequestFailedError as failure:
            self._note(failure)
            raise
        finally:
            self._limits.end(taken, used)
        self._breaker.succeeded()
        return result

    def _note(self, failure: RequestFailedError) -> None:
        """Tell the breaker of a failed attempt."""
        if failure.cure is Cure.RETRY:
            self._breaker.failed()
        else:
            self._breaker.succeeded()  # it answers

    def _seconds_before_next(self, failure: RequestFailedError, tries: _Tries) -> float:
        """Return the pause before the next attempt.

        Raises:
            ProviderError: there is none.
        """
        tries.attempts += failure.cure is Cure.RETRY
        tries.pauses += 1
        pause = min(_FIRST_PAUSE * 2.0 ** (tries.pauses - 1), _LONGEST_PAUSE) * random.uniform(0.5, 1)  # noqa: S311
        if failure.seconds is not None:
            asked_for = failure.seconds + random.uniform(0, 0.1)  # noqa: S311
            is_believed = (
                failure.seconds > 0 and tries.pauses <= _BELIEVED
            )  # a server that always says 0 is spared, too
            pause = asked_for if is_believed else max(asked_for, pause)
        is_hopeless = failure.cure in {Cure.NONE, Cure.SPLIT}
        if is_hopeless or tries.attempts >= self._patience.attempts:
            tried = f", {tries.attempts} times in a row" if tries.attempts > 1 else ""
            raise self._error(f"{failure}{tried}") from None
        if time.monotonic() + pause - tries.begun > self._patience.seconds:
            asked = f" and asks to wait for {failure.seconds:.0f} s" if failure.seconds else ""
            raise self._error(f"{failure}{asked}: try again later") from None
        _log.info("%s %s; next attempt in %.1f s", self.url, without_key(str(failure), self._key), pause)
        return pause

    def _asked(
        self, path: str, body: Mapping[str, object], headers: Mapping[str, str], deadline: float
    ) -> httpx2.Response:
        """Send one request; return an answer with status 200 to 299, whose body has not been read."""
        import httpx2
        import openai

        if self._closed.is_set():
            raise self._error(_CLOSED)
        sent: dict[str, str | openai.Omit] = {**_UNREAD, **headers}
        options: dict[str, Any] = {"headers": sent}
        if self._key is None or self._azure is not None:
            sent["Authorization"] = openai.Omit()
        if self._azure is not None:
            path = self._azure.path(path, body.get("model"))
            options["params"] = self._azure.parameters
            sent[KEY_HEADER] = self._key or openai.Omit()
        with self._sockets.within(deadline - time.monotonic()) as expired:
            try:
                return self._client.post(path, cast_to=httpx2.Response, body=dict(body), options=cast("Any", options))
            except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as error:
                timed_out = isinstance(error, openai.APITimeoutError) or expired.is_set()
                raise of_connection(error, timed_out=timed_out) from None

    @contextmanager
    def _opened(
        self, path: str, body: Mapping[str, object], headers: Mapping[str, str], deadline: float, most: int = MOST_BYTES
    ) -> Iterator[StreamedAnswer]:
        response = self._asked(path, body, headers, deadline)
        try:
            yield StreamedAnswer(response, deadline, most)
        finally:
            response.close()

    def _refuse(self, response: httpx2.Response) -> None:
        """Raise what an answer with an error tells, before the package openai reads it without any limit."""
        if not response.is_success:
            raise refusal_of(response, self._key, self._key_variable)

    def _wait_for_breaker(self, begun: float) -> None:
        while (seconds := self._breaker.seconds_to_wait()) > 0:
            late = time.monotonic() + seconds - begun > self._patience.seconds
            if late or not self._patience.waits_for_breaker:
                raise self._error(f"has failed several times in a row and is asked again in {seconds:.0f} s")
            self._pause(seconds)

    def _pause(self, seconds: float) -> None:
        if self._closed.wait(seconds):
            raise self._error(_CLOSED)

    def _error(self, predicate: str) -> ProviderError:
        return ProviderError(f"The provider {self.url} {without_key(predicate, self._key)}.")


def provider_key(variable: str | None, url: str) -> str | None:
    """Return the key of a provider from the environment; None where it needs none.

    Raises:
        ProviderError: the environment has no such variable, or its value cannot be a key.
    """
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ProviderError(f"The provider {url} needs a key: set the variable {variable} of the environment.")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ProviderError(f"The value of the variable {variable}, for the provider {url}, is no key.")
    return key
