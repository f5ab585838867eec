"""The proxy between a browser and the world, spoken to over real sockets."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from sourcebook.errors import FailureClass
from sourcebook.web.browser.proxy import BeforeRequest, BrowserProxy, ProxyLimits
from sourcebook.web.http_types import FetchError

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\nX-Kept: yes\r\n\r\nhi"


class Echo:
    """A server that gives one answer to whatever comes, and remembers what came."""

    def __init__(self, answer: bytes = ANSWER, *, keeps_open: bool = False) -> None:
        self.answer = answer
        self.keeps_open = keeps_open
        self.received = b""
        self.connections = 0
        self.port = 0

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.connections += 1
        with suppress(OSError):
            while chunk := await reader.read(65536):
                self.received += chunk
                if b"\r\n\r\n" in chunk:
                    writer.write(self.answer)
                    await writer.drain()
                    if not self.keeps_open:
                        break
        writer.close()


class Guard:
    """Lets names through that end in `.test`, at this machine."""

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return loopback."""
        if not host.endswith(".test"):
            raise FetchError(f"{host} is not for you", transient=False, failure_class=FailureClass.FORBIDDEN)
        return ["127.0.0.1"]

    async def check_behind_proxy(self, host: str, port: int) -> None:
        """Check the same."""
        await self.resolve(host, port)


@asynccontextmanager
async def running(
    server: Echo, before_request: BeforeRequest | None = None, limits: ProxyLimits | None = None
) -> AsyncIterator[BrowserProxy]:
    """A proxy, and a server behind it."""
    listening = await asyncio.start_server(server.accept, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    async with listening, BrowserProxy(Guard(), before_request, limits) as proxy:
        yield proxy


async def ask(proxy: BrowserProxy, request: str | bytes) -> bytes:
    """Send bytes to the proxy and return all that comes back; it ends with `reset` where the connection broke off."""
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
    received = b""
    try:
        writer.write(request.encode() if isinstance(request, str) else request)
        async with asyncio.timeout(60):
            while chunk := await reader.read(65536):
                received += chunk
    except ConnectionResetError:
        received += b"reset"
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    return received


def get(url: str, *headers: str) -> str:
    """Return a request for a page."""
    host = url.split("/")[2]
    return "\r\n".join([f"GET {url} HTTP/1.1", f"Host: {host}", "Accept: text/html", *headers, "", ""])


def run(work: Callable[[], Awaitable[None]]) -> None:
    """Run a test's coroutine."""

    async def main() -> None:
        await work()

    asyncio.run(main())


def test_request_and_answer() -> None:
    """A request goes on in origin form without the proxy's headers; the answer says that the connection ends."""

    async def work() -> None:
        server = Echo()
        async with running(server) as proxy:
            url = f"http://docs.test:{server.port}//a//b?c=d?&e="
            answer = await ask(proxy, get(url, "Proxy-Connection: keep-alive", "X-Own: 1"))
        assert answer == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Kept: yes\r\nConnection: close\r\n\r\nhi"
        lines = server.received.decode().split("\r\n")
        assert lines[0] == "GET //a//b?c=d?&e= HTTP/1.1"
        assert {"X-Own: 1", "Connection: close"} <= set(lines)
        assert not re.search("proxy", server.received.decode(), re.IGNORECASE)

    run(work)


def test_one_request_a_connection() -> None:
    """A second request on the same connection reaches no server: it could be meant for another."""

    async def work() -> None:
        server = Echo(keeps_open=True)
        async with running(server, limits=ProxyLimits(idle_seconds=0.5)) as proxy:
            await ask(proxy, get(f"http://docs.test:{server.port}/1") + get("http://other.test/2"))
        assert server.received.count(b"HTTP/1.1") == 1
        assert server.connections == 1

    run(work)


def test_body_of_a_request() -> None:
    """A request's body goes on as long as it says it is, and no byte more."""

    async def work() -> None:
        server = Echo(keeps_open=True)
        async with running(server, limits=ProxyLimits(idle_seconds=0.5)) as proxy:
            url = f"http://docs.test:{server.port}/"
            await ask(proxy, f"POST {url} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbodyGET / HTTP/1.1\r\n\r\n")
        assert server.received.endswith(b"\r\n\r\nbody")

    run(work)


def test_tunnel() -> None:
    """CONNECT makes a tunnel that bytes go through both ways, untouched."""

    async def work() -> None:
        server = Echo(b"\x00\xff answer")
        async with running(server) as proxy:
            answer = await ask(proxy, f"CONNECT docs.test:{server.port} HTTP/1.1\r\n\r\n\x01\x02\r\n\r\n")
            assert proxy.failure("docs.test", server.port) is None
        assert server.received == b"\x01\x02\r\n\r\n"
        assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n\x00\xff answer"

    run(work)


@pytest.mark.parametrize("request_line", ["CONNECT 169.254.169.254:80 HTTP/1.1", "GET http://10.0.0.1/ HTTP/1.1"])
def test_refused(request_line: str) -> None:
    """What the guard refuses is answered with 403 and its reason, and the reason is kept."""

    async def work() -> None:
        server = Echo()
        async with running(server) as proxy:
            answer = await ask(proxy, f"{request_line}\r\nAccept: text/html\r\n\r\n")
            host = "10.0.0.1" if "10.0.0.1" in request_line else "169.254.169.254"
            assert str(proxy.failure(host, 80)) == f"{host} is not for you"
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert answer.endswith(b" is not for you")
        assert server.connections == 0

    run(work)


def test_refused_to_a_script() -> None:
    """What asks for no page gets no reason that it could take for data: the connection breaks off."""

    async def work() -> None:
        async with running(Echo()) as proxy:
            assert await ask(proxy, "GET http://10.0.0.1/ HTTP/1.1\r\nAccept: */*\r\n\r\n") == b"reset"

    run(work)


def test_own_ports_are_closed() -> None:
    """The proxy's and the browser's own ports are refused, whatever the guard allows."""

    async def work() -> None:
        server = Echo()
        async with running(server) as proxy:
            proxy.close_port(server.port)
            for port in (proxy.port, server.port):
                assert b" 403 " in await ask(proxy, f"CONNECT this.test:{port} HTTP/1.1\r\n\r\n")
        assert server.connections == 0

    run(work)


@pytest.mark.parametrize(
    "request_text",
    [
        "GET ftp://docs.test/ HTTP/1.1\r\n\r\n",
        "GET file:///etc/passwd HTTP/1.1\r\n\r\n",
        "GET /origin-form HTTP/1.1\r\n\r\n",
        "GET http:///nowhere HTTP/1.1\r\n\r\n",
        "GET http://docs.test:notaport/ HTTP/1.1\r\n\r\n",
        "CONNECT docs.test:99999 HTTP/1.1\r\n\r\n",
        "POST http://docs.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST http://docs.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "POST http://docs.test/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "nonsense\r\n\r\n",
        "\x16\x03\x01 a TLS hello\r\n\r\n",
        "GET http://docs.test/ HTTP/1.1\r\n" + "X: y\r\n" * 20_000,
        "GET http://docs.test/" + "x" * 100_000,
    ],
)
def test_nonsense(request_text: str) -> None:
    """What is no request for http or a tunnel is answered with 400 or a reset, and goes nowhere."""

    async def work() -> None:
        server = Echo()
        async with running(server) as proxy:
            answer = await ask(proxy, request_text)
            assert answer.startswith(b"HTTP/1.1 400 ") or answer.endswith(b"reset")
        assert server.connections == 0

    run(work)


def test_server_out_of_reach() -> None:
    """A server that is not there is 502, and the reason says so of the host."""

    async def work() -> None:
        server = Echo()
        async with running(server):
            pass
        async with BrowserProxy(Guard()) as proxy:
            answer = await ask(proxy, get(f"http://docs.test:{server.port}/"))
            failure = proxy.failure("docs.test", server.port)
        assert answer.startswith(b"HTTP/1.1 502 ")
        assert failure is not None
        assert failure.host_failed
        assert failure.transient

    run(work)


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 5000, b"HTTP/1.1 200 OK\r\n\r\nhalf"]
)
def test_half_an_answer_is_no_answer(answer: bytes) -> None:
    """Too many bytes, or none for too long, break the connection off; it does not end as if all had come."""

    async def work() -> None:
        limits = ProxyLimits(response_bytes=4000, idle_seconds=0.3)
        async with running(server := Echo(answer, keeps_open=True), limits=limits) as proxy:
            assert (await ask(proxy, get(f"http://docs.test:{server.port}/"))).endswith(b"reset")

    run(work)


def test_a_response_that_is_too_large_is_cut_off_and_remembered() -> None:
    """It is known as such until the URL is asked for again, and no other response is."""

    async def work() -> None:
        body = b"x" * 5000
        server = Echo(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + body)
        async with running(server, limits=ProxyLimits(response_bytes=4000)) as proxy:
            url = f"http://docs.test:{server.port}/page?q=1"
            assert (await ask(proxy, get(url))).endswith(b"reset")
            assert proxy.cut_off(url)
            assert not proxy.cut_off(f"http://docs.test:{server.port}/")
            server.answer = ANSWER
            assert (await ask(proxy, get(url))).endswith(b"hi")
            assert not proxy.cut_off(url)

    run(work)


def test_answer_that_is_no_http() -> None:
    """A server that does not speak HTTP is 502; a head may announce others before it."""

    async def work() -> None:
        async with running(server := Echo(b"SSH-2.0-OpenSSH\r\n\r\n")) as proxy:
            assert b" 502 " in await ask(proxy, get(f"http://docs.test:{server.port}/"))
        early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ANSWER
        async with running(server := Echo(early)) as proxy:
            assert (await ask(proxy, get(f"http://docs.test:{server.port}/"))).startswith(b"HTTP/1.1 200 OK")

    run(work)


def test_permission() -> None:
    """Requests wait for permission; a browser that goes away does not use one up."""
    asked: list[str] = []
    given: list[str] = []

    async def before_request(host: str) -> None:
        asked.append(host)
        await asyncio.sleep(0.6)  # the permission takes its time
        given.append(host)

    async def work() -> None:
        server = Echo()
        async with running(server, before_request) as proxy:
            assert b" 200 " in await ask(proxy, get(f"http://docs.test:{server.port}/"))
            _, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            writer.write(get(f"http://gone.test:{server.port}/").encode())
            writer.close()
            await writer.wait_closed()
            await asyncio.sleep(1)  # time in which it must not be given
        assert asked == ["docs.test", "gone.test"]
        assert given == ["docs.test"]
        assert server.connections == 1

    run(work)


def test_connections_are_counted() -> None:
    """Beyond the limit a connection is told so; closing the proxy closes the others."""

    async def work() -> None:
        async with running(Echo(), limits=ProxyLimits(connections=2)) as proxy:
            waiting = [await asyncio.open_connection("127.0.0.1", proxy.port) for _ in range(2)]
            assert b" 503 " in await ask(proxy, "")
        for reader, writer in waiting:
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    run(work)
