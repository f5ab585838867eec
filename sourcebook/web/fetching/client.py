"""An aiohttp session with address checks and limits. Imports aiohttp, so import it only to fetch."""

import socket
import ssl
from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from types import SimpleNamespace
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from sourcebook.errors import FailureClass
from sourcebook.model.certificates import shared_context
from sourcebook.web.fetching.addresses import AddressGuard, system_lookup
from sourcebook.web.fetching.errors import CONNECT_SECONDS, HEADER_BYTES, fetch_error
from sourcebook.web.fetching.proxies import Proxy, refusal_of_proxy
from sourcebook.web.fetching.unpacking import ACCEPT_ENCODING, PLAIN, Unpacker, UnpackError, unpacker
from sourcebook.web.http_types import FetchError, Response
from sourcebook.web.login_state import Cookie


class Body:
    """A response body in transit.

    Args:
        content_encoding: value of the header, empty where it is absent.
        content_length: value of the header in bytes, None where it is absent.
        max_bytes: limit on the bytes sent, and on the decompressed bytes.

    Raises:
        FetchError: the announced length exceeds the limit, or the encoding was not requested.
    """

    def __init__(self, content_encoding: str, content_length: int | None, max_bytes: int) -> None:
        encoding = content_encoding.strip().lower()
        self._unpacker: Unpacker | None = None if encoding in PLAIN else unpacker(encoding)
        if self._unpacker is None and encoding not in PLAIN:
            raise FetchError(
                f"the body is packed as {encoding[:40]!a}; only {ACCEPT_ENCODING} are unpacked",
                transient=False,
                failure_class=FailureClass.UNSUPPORTED,
            )
        if content_length is not None and content_length > max_bytes:
            raise _too_large(f"the response has {content_length:,} bytes, more", max_bytes)
        self.received = 0
        """Bytes received so far, before decompression."""
        self._encoding = encoding
        self._max_bytes = max_bytes
        self._unpacked = 0

    async def read(self, chunks: AsyncIterable[bytes]) -> bytes:
        """Return the whole body, decompressed.

        Raises:
            FetchError: the body exceeds the limit, or does not match its Content-Encoding.
        """
        parts: list[bytes] = []
        async for chunk in chunks:
            self.received += len(chunk)
            if self.received > self._max_bytes:
                raise _too_large("the response is larger", self._max_bytes)
            parts.append(chunk if self._unpacker is None else self._unpack(self._unpacker, chunk))
        if self._unpacker is not None and not self._unpacker.complete:
            raise FetchError(
                f"the {self._encoding} body ends before its end", transient=True, failure_class=FailureClass.NETWORK
            )
        return b"".join(parts)

    def _unpack(self, unpacking: Unpacker, data: bytes) -> bytes:
        try:
            part = unpacking.unpack(data, self._max_bytes + 1 - self._unpacked)
        except UnpackError as error:
            raise FetchError(
                f"the Content-Encoding says {self._encoding}, but the body is not valid {self._encoding}",
                transient=False,
                failure_class=FailureClass.CORRUPT,
            ) from error
        self._unpacked += len(part)
        if self._unpacked > self._max_bytes:
            raise _too_large(f"{self.received:,} bytes of {self._encoding} unpack to more", self._max_bytes)
        return part


def _too_large(what: str, max_bytes: int) -> FetchError:
    return FetchError(
        f"{what} than the site's request.max_bytes allows ({max_bytes:,})",
        transient=False,
        failure_class=FailureClass.TOO_LARGE,
    )


@dataclass(slots=True)
class _Transit:
    """State of a request that is being sent and answered."""

    sent: Callable[[], None]
    begun: bool = False
    answered: bool = False
    body: Body | None = None

    @property
    def received(self) -> int | None:
        """Bytes of the body received; None before the response headers."""
        if not self.answered:
            return None
        return self.body.received if self.body else 0

    async def once(self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        """Send the request once: aiohttp retries on a broken kept connection, outside the rate limit."""
        if self.begun:
            raise aiohttp.ClientConnectionError("the kept connection broke")
        self.begun = True
        return await handler(request)


class HttpClient:
    """Sends requests within one event loop, without a limit on connections and without following redirects.

    Args:
        guard: address check of connections.
        seconds: limit on a request, from the DNS lookup to the last byte.
        max_bytes: limit on a body, compressed and decompressed.
        keeps_cookies: whether cookies are sent back.
    """

    def __init__(self, guard: AddressGuard, *, seconds: float, max_bytes: int, keeps_cookies: bool = False) -> None:
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._resolver = _GuardedResolver(guard)
        tracing = aiohttp.TraceConfig()
        tracing.on_request_headers_sent.append(_note_sent)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, resolver=self._resolver, ssl=tls_context()),
            timeout=aiohttp.ClientTimeout(total=seconds, connect=min(CONNECT_SECONDS, seconds)),
            trace_configs=[tracing],
            auto_decompress=False,
            # `unsafe` allows cookies of hosts that are addresses, as browsers do.
            cookie_jar=aiohttp.CookieJar(unsafe=True, quote_cookie=False)
            if keeps_cookies
            else aiohttp.DummyCookieJar(),
            max_line_size=HEADER_BYTES,
            max_field_size=HEADER_BYTES,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    def add_cookies(self, cookies: Iterable[Cookie]) -> None:
        """Add cookies of a stored login."""
        for cookie in cookies:
            domain = f"; Domain={cookie.host}" if cookie.domain.startswith(".") else ""
            secure = "; Secure" if cookie.secure else ""
            field = f"{cookie.name}={cookie.value}; Path={cookie.path}{domain}{secure}"
            origin = URL.build(scheme="https" if cookie.secure else "http", host=cookie.host)
            self._session.cookie_jar.update_cookies_from_headers([field], origin)

    def cookies(self) -> list[Cookie]:
        """Return the cookies that requests send now."""
        jar = self._session.cookie_jar
        if not isinstance(jar, aiohttp.CookieJar):
            return []
        return [
            Cookie(
                name=name,
                value=morsel.value,
                domain=domain if (domain, path, name) in jar.host_only_cookies else f".{domain}",
                path=path or "/",
                secure=bool(morsel["secure"]),
            )
            for (domain, path), morsels in jar.cookies.items()
            for name, morsel in morsels.items()
        ]

    async def send(
        self,
        url: str,
        host: str,
        headers: Mapping[str, str],
        sent: Callable[[], None],
        *,
        form: Sequence[tuple[str, str]] | None = None,
        proxy: Proxy | None = None,
    ) -> Response:
        """Send a GET, or a form by POST; call `sent` when it is sent, and return the response.

        Only a 2xx response has its body.

        Raises:
            FetchError: there was no response, or none within the limits.
        """
        transit = _Transit(sent)
        if proxy is not None:
            self._resolver.proxies.add((proxy.host, proxy.port))
        try:
            async with self._session.request(
                "GET" if form is None else "POST",
                url,
                data=None if form is None else aiohttp.FormData(form),
                allow_redirects=False,
                trace_request_ctx=transit,
                middlewares=(transit.once,),
                **_headers_and_proxy(url, headers, proxy),
            ) as response:
                if proxy is not None and response.status == 407:
                    raise refusal_of_proxy(proxy, host, response.status)
                transit.answered = True
                body = b""
                if 200 <= response.status < 300:
                    encoding = ", ".join(response.headers.getall("Content-Encoding", ()))
                    transit.body = Body(encoding, response.content_length, self._max_bytes)
                    body = await transit.body.read(response.content.iter_any())
                return Response(url, response.status, _plain_headers(response), body)
        except (aiohttp.ClientError, OSError) as error:  # `TimeoutError` is an `OSError`
            raise fetch_error(error, host, seconds=self._seconds, received=transit.received, proxy=proxy) from error


async def _note_sent(
    _session: aiohttp.ClientSession, context: SimpleNamespace, _parameters: aiohttp.TraceRequestHeadersSentParams
) -> None:
    transit: _Transit = context.trace_request_ctx
    transit.sent()


def _headers_and_proxy(url: str, headers: Mapping[str, str], proxy: Proxy | None) -> dict[str, Any]:
    """Return the arguments of a request; the server must not see the authorization of the proxy."""
    if proxy is None:
        return {"headers": headers}
    authorization = {} if proxy.authorization is None else {"Proxy-Authorization": proxy.authorization}
    if url.startswith("https:"):  # through a tunnel
        return {"headers": headers, "proxy": proxy.url, "proxy_headers": authorization}
    return {"headers": {**headers, **authorization}, "proxy": proxy.url}


def _plain_headers(response: aiohttp.ClientResponse) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in response.headers.items():
        key = name.lower()
        if not value.isascii():  # bytes other than UTF-8 arrive as lone surrogates, which no database stores
            value = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


class _GuardedResolver(AbstractResolver):
    """Resolves hosts for aiohttp to the addresses that the guard allows, and proxies to any."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self.proxies: set[tuple[str, int]] = set()
        """Host and port of the proxies in use; the settings or the environment name them."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        lookup = system_lookup if (host, port) in self.proxies else self._guard.resolve
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET if ip_address(address).version == 4 else socket.AF_INET6,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in await lookup(host, port)
        ]

    async def close(self) -> None:
        pass


def tls_context() -> ssl.SSLContext:
    """Return the context of connections to sites, which clients share."""
    return shared_context(_new_context)


def _new_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(("http/1.1",))
    return context
