"""crawl4ai's HTTP strategy with limits. Imports crawl4ai, which takes a second, so import it only to fetch."""

import socket
import ssl
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, NoReturn

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from crawl4ai.async_configs import CrawlerRunConfig, HTTPCrawlerConfig  # type: ignore[import-untyped]
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy  # type: ignore[import-untyped]

from sourcebook.web.fetching.addresses import AddressGuard
from sourcebook.web.fetching.body import Body
from sourcebook.web.fetching.errors import CONNECT_SECONDS, fetch_error
from sourcebook.web.http_types import FetchError, Response

_HEADER_BYTES = 65_536
"""Longest header in bytes; policies and cookies of real sites exceed aiohttp's 8 KB."""


@dataclass(slots=True)
class _Request:
    """A request in transit through crawl4ai, and its state."""

    url: str
    host: str
    headers: Mapping[str, str]
    max_bytes: int
    sent: Callable[[], None]
    answered: bool = False
    body: Body | None = None

    @property
    def received(self) -> int | None:
        """Bytes of the body received; None before the response headers."""
        if not self.answered:
            return None
        return self.body.received if self.body else 0


class _Answered(Exception):  # noqa: N818 - not an error
    """Carries the response past crawl4ai, which would decode it, lose its status, or save it to disk."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


_current_request: ContextVar[_Request] = ContextVar("current_request")


class HttpStrategy(AsyncHTTPCrawlerStrategy):  # type: ignore[misc]
    """crawl4ai's strategy over a session with address checks and limits.

    Args:
        guard: address check of connections.
        seconds: limit on a request, from the DNS lookup to the last byte.
        max_bytes: limit on a body, compressed and decompressed.
    """

    def __init__(self, guard: AddressGuard, *, seconds: float, max_bytes: int) -> None:
        super().__init__(HTTPCrawlerConfig(follow_redirects=False))
        self._guard = guard
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._timeout = aiohttp.ClientTimeout(total=seconds, connect=min(CONNECT_SECONDS, seconds))
        self._run = CrawlerRunConfig()
        self._tls = ssl.create_default_context()  # aiohttp's own context predates a change of SSL_CERT_FILE
        self._tls.set_alpn_protocols(("http/1.1",))
        self.set_hook("before_request", self._prepare)
        self.set_hook("on_error", self._explain)

    async def start(self) -> None:
        """Open the session of all requests, without cookies, proxy or connection limit."""
        connector = aiohttp.TCPConnector(limit=0, resolver=_GuardedResolver(self._guard))
        tracing = aiohttp.TraceConfig()
        tracing.on_request_headers_sent.append(_note_sent)
        self._session = aiohttp.ClientSession(
            connector=connector,
            trace_configs=[tracing],
            response_class=_LimitedResponse,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
        )
        # Otherwise aiohttp retries on a broken keep-alive connection, outside the rate limit.
        self._session._retry_connection = False  # noqa: SLF001

    async def send(self, url: str, host: str, headers: Mapping[str, str], sent: Callable[[], None]) -> Response:
        """Send a request through crawl4ai, call `sent` when it is sent, and return the response.

        Raises:
            FetchError: there was no response, or none within the limits.
        """
        token = _current_request.set(_Request(url, host, headers, self._max_bytes, sent))
        try:
            await self.crawl(url, self._run)
        except (_Answered, FetchError) as outcome:
            # The frames of the traceback refer to it, and would keep the body until the next garbage collection.
            outcome.__traceback__ = None
            if isinstance(outcome, _Answered):
                return outcome.response
            raise
        finally:
            _current_request.reset(token)
        raise AssertionError("crawl4ai returned without reading the answer")

    def _prepare(self, _url: str, request: dict[str, Any]) -> None:
        request.update(headers=_current_request.get().headers, timeout=self._timeout, ssl=self._tls)

    def _explain(self, error: BaseException) -> NoReturn:
        if isinstance(error, _Answered | FetchError):
            raise error
        request = _current_request.get()
        reason = fetch_error(error, request.host, seconds=self._seconds, received=request.received)
        if reason is None:
            raise error
        raise reason from error


class _LimitedResponse(aiohttp.ClientResponse):
    """A response whose body is read only for a 2xx status, and only up to the limits."""

    async def read(self) -> NoReturn:
        request = _current_request.get()
        request.answered = True
        content = b""
        if 200 <= self.status < 300:
            encoding = ", ".join(self.headers.getall("Content-Encoding", ()))
            request.body = Body(encoding, self.content_length, request.max_bytes)
            content = await request.body.read(self.content.iter_any())
        raise _Answered(Response(request.url, self.status, _plain_headers(self), content))


async def _note_sent(*_: object) -> None:
    _current_request.get().sent()


def _plain_headers(response: aiohttp.ClientResponse) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in response.headers.items():
        key = name.lower()
        if not value.isascii():  # bytes other than UTF-8 arrive as lone surrogates, which no database stores
            value = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


class _GuardedResolver(AbstractResolver):
    """Resolves hosts for aiohttp to the addresses that the guard allows."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET if ip_address(address).version == 4 else socket.AF_INET6,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in await self._guard.resolve(host, port)
        ]

    async def close(self) -> None:
        pass
