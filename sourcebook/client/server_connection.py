"""Requests to a server: one HTTP client, retries of what may be repeated, and answers that are checked."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit
from uuid import uuid4

from sourcebook.client.problems import error_of, pause_before_retry
from sourcebook.client.server_version import ServerVersion
from sourcebook.config.principals import PRINCIPALS_HEADER, as_header
from sourcebook.contract.faces import FACE_HEADER, asking_face
from sourcebook.errors import (
    AccessError,
    ConfigurationError,
    DatabaseUnavailableError,
    MissingDependencyError,
    QueryError,
)
from sourcebook.installation import install_command

if TYPE_CHECKING:
    import httpx2

KEY_VARIABLE: Final = "SOURCEBOOK_KEY"
"""Variable of the environment with the key of a server."""
CONNECT_SECONDS: Final = 10.0
MISSING: Final = 404
"""Status of the answer where there is nothing of this name."""
NO_CONTENT: Final = 204
ATTEMPTS: Final = 3
"""Attempts of a request that may be repeated."""
_SILENCE: Final = 40.0
"""Seconds without a byte after which a stream of events is broken: a server gives a sign of life every 15."""
_LARGEST_EVENT: Final = 16 << 20
"""Bytes of an event, at most."""
_FIRST_PAUSE: Final = 0.2
_PATIENCE: Final = 30.0
"""Seconds for all attempts of a request and the pauses between them, beyond which none begins."""
_log = logging.getLogger("sourcebook.client")


class ServerConnection:
    """Sends requests to one server. Thread-safe; keeps connections open between requests."""

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 30.0) -> None:
        """Prepare; nothing is sent.

        Args:
            url: the server, such as `http://127.0.0.1:8320`.
            key: a key of the server; without it SOURCEBOOK_KEY, else none is sent.
            timeout: seconds without a byte after which an attempt is given up.

        Raises:
            ConfigurationError: the URL, the key or the timeout is none.
            MissingDependencyError: the extra `client` is not installed.
        """
        self.url = _checked_url(url)
        if not _is_duration(timeout):
            raise ConfigurationError(f"the timeout is {timeout!r}; it must be a number of seconds above 0")
        self._timeout = float(timeout)
        try:
            import httpx2
            import stamina  # noqa: F401 - now, where its absence is told once
        except ModuleNotFoundError as error:
            message = f"this needs {error.name}, which is not installed: {install_command('client')}"
            raise MissingDependencyError(message) from error
        from sourcebook.model.certificates import shared_context  # imports ssl, which takes longer than most of this

        headers = {"Accept": "application/json", FACE_HEADER: asking_face()}
        sent = _checked_key(os.environ.get(KEY_VARIABLE) if key is None else key)
        if sent:
            headers["Authorization"] = f"Bearer {sent}"
        self.version = ServerVersion(self.url)
        self._asking: Mapping[str, str] = {}
        self._client = httpx2.Client(
            base_url=self.url,
            headers=headers,
            timeout=httpx2.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)),
            follow_redirects=False,  # another server must not be sent the key
            event_hooks={"response": [lambda response: self.version.note(response.headers)]},
            verify=shared_context(httpx2.create_ssl_context),
        )

    def on_behalf_of(self, principals: Iterable[str]) -> ServerConnection:
        """Return this connection for requests on behalf of principals, which the key must allow.

        Raises:
            AccessError: a text is no principal.
        """
        other = copy(self)
        try:
            other._asking = {PRINCIPALS_HEADER: as_header(principals)}  # noqa: SLF001 - of its own class
        except ValueError as error:
            raise AccessError(str(error)) from error
        return other

    def get(self, path: str, parameters: Mapping[str, object] | None = None) -> bytes:
        """Return the body that a path answers with.

        Args:
            path: path below the URL, such as `/v1/collections`.
            parameters: of the query; None and empty lists are left out, lists are repeated.

        Raises:
            SourcebookError: see `problems.error_of`.
        """
        return self.exchange("GET", path, parameters=parameters, repeatable=True).content

    def post(self, path: str, body: Mapping[str, object]) -> bytes:
        """Post JSON that asks and changes nothing; return the body of the answer.

        Raises:
            SourcebookError: see `problems.error_of`.
        """
        return self.exchange("POST", path, body=body, repeatable=True).content

    def find(self, path: str, parameters: Mapping[str, object] | None = None) -> bytes | None:
        """Return the body that a path answers with; None where there is nothing of this name for the key.

        Raises:
            SourcebookError: see `problems.error_of`.
        """
        response = self.exchange("GET", path, parameters=parameters, repeatable=True, may_be_missing=True)
        return None if response.status_code == MISSING else response.content

    def change(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        parameters: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        may_be_missing: bool = False,
    ) -> httpx2.Response:
        """Send a change, which the server makes once although it is sent again; return the answer.

        Args:
            method: such as `POST`.
            path: path below the URL.
            body: sent as JSON.
            parameters: of the query.
            headers: further headers; a key of the caller's own as `Idempotency-Key`.
            may_be_missing: whether 404 is an answer.

        Raises:
            SourcebookError: see `problems.error_of`.
        """
        once = {"Idempotency-Key": uuid4().hex, **(headers or {})}
        return self.exchange(
            method,
            path,
            parameters=parameters,
            body=body,
            headers=once,
            repeatable=True,
            may_be_missing=may_be_missing,
        )

    def exchange(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        content: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool = False,
        may_be_missing: bool = False,
    ) -> httpx2.Response:
        """Send a request, again where it may be repeated and another attempt can succeed; return the answer.

        Args:
            method: such as `GET`.
            path: path below the URL.
            parameters: of the query.
            body: sent as JSON.
            content: sent as it is, in place of a body.
            headers: further headers.
            repeatable: whether it may reach the server twice without harm.
            may_be_missing: whether 404 is an answer.

        Raises:
            DatabaseUnavailableError: the server does not answer.
            SourcebookError: it refuses; see `problems.error_of`.
        """
        import stamina

        sent = {name: value for name, value in (parameters or {}).items() if value not in (None, [], ())}
        said = {**(headers or {}), **self._asking}
        for attempt in stamina.retry_context(
            on=pause_before_retry,
            attempts=ATTEMPTS if repeatable else 1,
            timeout=_PATIENCE,
            wait_initial=_FIRST_PAUSE,
            wait_jitter=_FIRST_PAUSE,
        ):
            with attempt:
                response = self._attempt(method, path, params=_texts(sent), json=body, content=content, headers=said)
                if response.is_success or (may_be_missing and response.status_code == MISSING):
                    return response
                raise error_of(self.url, response.status_code, response.headers, response.content)
        raise AssertionError("stamina ended without a result")

    @contextmanager
    def download(self, path: str) -> Iterator[httpx2.Response]:
        """Open the answer of a path without its body, which the caller reads piece by piece.

        Raises:
            DatabaseUnavailableError: the server does not answer, or stops in the middle.
            SourcebookError: it refuses; see `problems.error_of`.
        """
        with self._named_failures(), self._client.stream("GET", path, headers=dict(self._asking)) as response:
            if not response.is_success:
                raise error_of(self.url, response.status_code, response.headers, response.read())
            yield response

    @contextmanager
    def events(
        self, path: str, after: int = 0, *, body: Mapping[str, object] | None = None
    ) -> Iterator[Iterable[httpx2.ServerSentEvent]]:
        """Open the server-sent events of a path; none where there are no more.

        Args:
            path: path below the URL.
            after: id of the last event that the caller has; 0 for none.
            body: posted as JSON; None for a path that is only read.

        Raises:
            DatabaseUnavailableError: the server does not answer, or stops in the middle.
            SourcebookError: it refuses; see `problems.error_of`.
        """
        import httpx2

        headers = {**({"Last-Event-ID": str(after)} if after else {}), **self._asking}
        timeout = httpx2.Timeout(max(self._timeout, _SILENCE), connect=min(CONNECT_SECONDS, self._timeout))
        method = "GET" if body is None else "POST"
        opened = self._client.sse(
            path, method=method, json=body, headers=headers, timeout=timeout, max_event_size=_LARGEST_EVENT
        )
        with self._named_failures(), opened as source:
            response = source.response
            if not response.is_success:
                raise error_of(self.url, response.status_code, response.headers, response.read())
            yield source if response.status_code != NO_CONTENT else ()

    def close(self) -> None:
        """Close the connections; may be called more than once."""
        self._client.close()

    def _attempt(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        with self._named_failures():
            return self._client.request(method, path, **sent)

    @contextmanager
    def _named_failures(self) -> Iterator[None]:
        """Raise what keeps a request from its answer as `DatabaseUnavailableError`."""
        import httpx2

        try:
            yield
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            what = "does not answer in time" if isinstance(error, httpx2.TimeoutException) else "cannot be reached"
            _log.info("%s %s: %s", self.url, what, error)
            raise DatabaseUnavailableError(
                f"the server at {self.url} {what}", remedy="is sourcebook serve running there?"
            ) from error


def segment(name: str) -> str:
    """Return a name as a part of a path.

    Raises:
        QueryError: it is `.` or `..`, which lead elsewhere.
    """
    if name in {"", ".", ".."}:
        raise QueryError(f"{name!r} is no name")
    return quote(name, safe="", errors="replace")


def _is_duration(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < float("inf")


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in {"http", "https"} or not host or parts.query or parts.fragment:
        raise ConfigurationError("the address of the server is none: give it as in http://127.0.0.1:8320")
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(f"the address of the server holds a password: give the key as key= or {KEY_VARIABLE}")
    return url.rstrip("/")


def _checked_key(key: str | None) -> str:
    """Return a key without the white space that a file or a terminal leaves around it."""
    bare = (key or "").strip()
    if not (bare.isascii() and (not bare or bare.isprintable())) or " " in bare:
        raise ConfigurationError("the key of the server is none: sourcebook key create  prints one, sb_…")
    return bare


def _texts(parameters: Mapping[str, object]) -> dict[str, Any]:
    """Return parameters as a URL holds them; truth values are `true` and `false`, lone surrogates `?`."""
    return {
        name: [_text(each) for each in value] if isinstance(value, list | tuple) else _text(value)
        for name, value in parameters.items()
    }


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).encode("utf-8", "replace").decode()
