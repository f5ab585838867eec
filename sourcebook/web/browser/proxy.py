"""The forward proxy of a browser, which restricts its connections to allowed addresses.

A browser resolves names itself, so an address checked before a visit need not be the address it connects to. Behind
this proxy it resolves nothing: the proxy does, checks the addresses, and connects to an allowed one.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Protocol, TypeVar
from urllib.parse import SplitResult, urlsplit

from sourcebook.errors import FailureClass
from sourcebook.model.closing import AsyncClosing
from sourcebook.web.browser.proxy_streams import (
    Head,
    Streams,
    TooManyBytesError,
    closing,
    copy,
    copy_exactly,
    open_proxy,
    open_tunnel,
    proxy_fields,
    read_head,
    read_to_end,
    reset,
    until_first,
    while_connected,
)
from sourcebook.web.fetching.proxies import Proxies, Proxy
from sourcebook.web.http_types import FetchError

BeforeRequest = Callable[[str], Awaitable[None]]
"""Called with a host before each connection: returns when it is allowed, raises FetchError where it is refused."""

K = TypeVar("K")
V = TypeVar("V")
_REMEMBERED_FAILURES: Final = 1000
_PHRASES: Final = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway", 503: "Service Unavailable"}


class Guard(Protocol):
    """Checks the addresses of connections."""

    async def resolve(self, host: str, port: int) -> list[str]:
        """Resolve a host and return its allowed addresses in order of preference.

        Raises:
            FetchError: the host has no allowed address.
        """

    async def check_behind_proxy(self, host: str, port: int) -> None:
        """Check a host that a further proxy connects to.

        Raises:
            FetchError: the host is refused.
        """


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """Limits on the traffic of a browser."""

    response_bytes: int = 100_000_000
    """Bytes of a response over plain http."""
    tunnel_bytes: int = 2_000_000_000
    """Bytes of a CONNECT tunnel in each direction, over many responses."""
    idle_seconds: float = 60.0
    """Seconds without a byte after which a connection is closed."""
    connect_seconds: float = 10.0
    """Seconds to connect to each address of a host."""
    connections: int = 512
    """Concurrent connections. Chromium opens up to 32 to a proxy, and 255 more for web sockets."""


class _RefusedError(Exception):
    """A request is answered with a status and a reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class BrowserProxy(AsyncClosing):
    """A forward proxy on 127.0.0.1 for http in absolute form with one request per connection, and for CONNECT."""

    def __init__(
        self,
        guard: Guard,
        before_request: BeforeRequest | None = None,
        limits: ProxyLimits | None = None,
        proxies: Proxies | None = None,
    ) -> None:
        """Create a proxy; `start` opens its port.

        Args:
            guard: address check of connections.
            before_request: awaited before every plain request and every CONNECT.
            limits: limits on the traffic.
            proxies: choice of a further proxy for each host; without it, connections are direct.
        """
        self._proxies = proxies
        self._guard = guard
        self._before_request = before_request
        self._limits = limits or ProxyLimits()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._failures: OrderedDict[tuple[str, int], FetchError] = OrderedDict()
        self._cut_off: OrderedDict[str, None] = OrderedDict()
        self._closed_ports: set[int] = set()

    @property
    def port(self) -> int:
        """Port on 127.0.0.1."""
        if self._server is None:
            raise RuntimeError("the proxy has not been started")
        return int(self._server.sockets[0].getsockname()[1])

    def cut_off(self, url: str) -> bool:
        """Return whether the last response of a URL over plain http was ended because it is too large."""
        return url in self._cut_off

    def failure(self, host: str, port: int) -> FetchError | None:
        """Return the error of the last connection to a host and port, None where it succeeded."""
        found = self._failures.get((host, port))
        if found is None:
            return None
        # A new exception for each page, because a raised exception keeps its traceback.
        return FetchError(
            str(found),
            transient=found.transient,
            retry_after=found.retry_after,
            host_failed=found.host_failed,
            failure_class=found.failure_class,
        )

    def close_port(self, port: int) -> None:
        """Refuse a port of this machine in any case, such as the DevTools port of a browser."""
        self._closed_ports.add(port)

    async def start(self) -> None:
        """Open a port and accept connections."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.close_port(self.port)

    async def close(self) -> None:
        """Close the port and every connection; repeated calls do nothing."""
        if self._server is not None:
            self._server.close()
            connections = list(self._connections)
            for connection in connections:
                connection.cancel()
            await asyncio.gather(*connections, return_exceptions=True)
            await self._server.wait_closed()
            self._server = None

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with closing(writer):
            try:
                await self._answer(reader, writer)
            except _RefusedError as refused:
                writer.write(_message(refused.status, str(refused)))
            except ValueError as error:
                writer.write(_message(400, str(error)))
            except (OSError, EOFError):
                reset(writer)  # an orderly end might be taken for the end of a response

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) > self._limits.connections:
            raise _RefusedError(503, "too many connections")
        async with asyncio.timeout(self._limits.idle_seconds):
            head = await read_head(reader)
        method, target = head.request()
        if method == "CONNECT":
            await self._tunnel(urlsplit(f"//{target}"), reader, writer)
            return
        if head.asks_for_image():
            # Images are not loaded; a request for the icon of a page that is being closed comes this far.
            raise ConnectionRefusedError("images are not loaded")
        try:
            await self._forward(method, target, head, reader, writer)
        except _RefusedError as refused:
            if head.asks_for_html():
                raise
            # A script would take the reason for its data.
            raise ConnectionRefusedError from refused

    async def _tunnel(self, target: SplitResult, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server, _ = await self._connect(target, 443, reader)
        async with closing(to_server), asyncio.timeout(self._limits.idle_seconds) as idle:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            limit = self._limits.tunnel_bytes
            await until_first(
                copy(reader, to_server, limit, self._keep_alive(idle)),
                copy(from_server, writer, limit, self._keep_alive(idle)),
            )

    async def _forward(
        self,
        method: str,
        url: str,
        head: Head,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        target = urlsplit(url)
        if target.scheme != "http":
            raise ValueError("only http and https are let through")
        length = head.body_length()
        path = "/" + "".join(url.split("/", 3)[3:])
        self._cut_off.pop(url, None)
        from_server, to_server, proxy = await self._connect(target, 80, reader)
        async with closing(to_server), asyncio.timeout(self._limits.idle_seconds) as idle:
            first = f"{method} {path} HTTP/1.1"
            if proxy is not None:
                first = "\r\n".join([f"{method} {url} HTTP/1.1", *proxy_fields(proxy)])
            to_server.write(head.for_one_message(first))
            await copy_exactly(reader, to_server, length, self._keep_alive(idle))
            try:
                answer = await _final_head(from_server)
            except ValueError as error:
                unreadable = FetchError(
                    f"the server's answer cannot be read: {error}", transient=True, failure_class=FailureClass.SERVER
                )
                raise self._refused(502, str(target.hostname), target.port or 80, unreadable) from error
            writer.write(answer.for_one_message(answer.first))
            # No further request is read, because it might be for another server.
            try:
                await until_first(
                    copy(from_server, writer, self._limits.response_bytes, self._keep_alive(idle)), read_to_end(reader)
                )
            except TooManyBytesError:
                _remember(self._cut_off, url, None)
                raise

    def _keep_alive(self, idle: asyncio.Timeout) -> Callable[[], None]:
        loop = asyncio.get_running_loop()
        return lambda: idle.reschedule(loop.time() + self._limits.idle_seconds)

    async def _connect(
        self, target: SplitResult, default_port: int, client: asyncio.StreamReader
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, Proxy | None]:
        """Return a connection to a host, with the further proxy that it ends at; a tunnel ends at the host."""
        host, port = target.hostname, target.port or default_port
        if not host:
            raise ValueError("no host is named")
        is_tunnel = default_port == 443
        try:
            proxy = self._proxies.of("https" if is_tunnel else "http", host, port) if self._proxies else None
            addresses = [] if proxy is not None else await self._guard.resolve(host, port)
            await self._permit(host, port, addresses, client)
        except FetchError as error:
            raise self._refused(403, host, port, error) from error
        if proxy is not None:
            streams = await self._connect_by(proxy, host, port, is_tunnel=is_tunnel)
            self._failures.pop((host, port), None)
            return *streams, proxy
        reasons = []
        for address in addresses:
            try:
                async with asyncio.timeout(self._limits.connect_seconds):
                    connection = await asyncio.open_connection(address, port)
            except OSError as error:
                reasons.append(f"{address}: {_reason(error)}")
            else:
                self._failures.pop((host, port), None)
                return *connection, None
        reason = f"{host}, port {port}, cannot be reached ({'; '.join(reasons)})"
        raise self._refused(
            502, host, port, FetchError(reason, transient=True, host_failed=True, failure_class=FailureClass.NETWORK)
        )

    async def _connect_by(self, proxy: Proxy, host: str, port: int, *, is_tunnel: bool) -> Streams:
        try:
            async with asyncio.timeout(self._limits.connect_seconds):
                return await (open_tunnel(proxy, host, port) if is_tunnel else open_proxy(proxy))
        except FetchError as error:
            raise self._refused(502, host, port, error) from error
        except OSError as error:
            reason = f"the proxy could not be reached: {_reason(error)}"
            failure = FetchError(reason, transient=True, host_failed=True, failure_class=FailureClass.NETWORK)
            raise self._refused(502, host, port, failure) from error

    async def _permit(self, host: str, port: int, addresses: list[str], client: asyncio.StreamReader) -> None:
        if not addresses:
            await self._guard.check_behind_proxy(host, port)
        if port in self._closed_ports and any(ip_address(address).is_loopback for address in addresses):
            raise FetchError(
                f"port {port} of this machine is the browser's own",
                transient=False,
                failure_class=FailureClass.FORBIDDEN,
            )
        if self._before_request is not None:
            await while_connected(self._before_request(host), client)

    def _refused(self, status: int, host: str, port: int, error: FetchError) -> _RefusedError:
        """Store the error of a connection, and return the refusal for the browser."""
        _remember(self._failures, (host, port), error)
        return _RefusedError(status, str(error))


def _remember(memory: OrderedDict[K, V], key: K, value: V) -> None:
    """Store a value as the newest one, and forget the oldest where there are too many."""
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > _REMEMBERED_FAILURES:
        memory.popitem(last=False)


async def _final_head(server: asyncio.StreamReader) -> Head:
    """Read the head of a response, skipping interim ones (100 Continue, 103 Early Hints)."""
    while True:
        head = await read_head(server)
        if not head.is_interim():
            return head


def _reason(error: OSError) -> str:
    return "no answer" if isinstance(error, TimeoutError) else (error.strerror or str(error))


def _message(status: int, reason: str) -> bytes:
    body = reason.encode("utf-8", "replace")
    head = (
        f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body
