"""The proxy of a browser behind a further proxy."""

import asyncio
from collections.abc import Iterator

import pytest

from sourcebook.config.sites import SiteSource
from sourcebook.web.browser.proxy import BrowserProxy
from sourcebook.web.fetching.addresses import AddressGuard
from sourcebook.web.fetching.proxies import Proxies
from tests.http_proxy import HttpProxy
from tests.web_server import WebServer


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer() as server:
        server.page("/a", "<p>Hello, reader.</p>")
        yield server


def ask(site: SiteSource, request: str, more: str = "") -> bytes:
    """Return the answer of a browser's proxy to a request, and to what follows when it has answered."""

    async def work() -> bytes:
        async with BrowserProxy(AddressGuard(site), proxies=Proxies(site)) as proxy:
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            writer.write(f"{request} HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n".encode())
            async with asyncio.timeout(60):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(more.encode())
                answer = head + await reader.read()
            writer.close()
            return answer

    return asyncio.run(work())


def site_of(proxy: str) -> SiteSource:
    return SiteSource.model_validate({"url": "http://docs.test/", "request": {"proxy": proxy}})


def test_requests_and_tunnels_go_through_it(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both with its user and password, to names that only it knows."""
    monkeypatch.setenv("TEST_USER", "ada:s3cr3t")
    with HttpProxy("ada:s3cr3t") as further:
        site = site_of(further.url.replace("//", "//${TEST_USER}@"))
        assert b"Hello, reader." in ask(site, f"GET http://docs.test:{server.port}/a")
        inner = "GET /a HTTP/1.1\r\nHost: docs.test\r\nConnection: close\r\n\r\n"
        tunnelled = ask(site, f"CONNECT docs.test:{server.port}", inner)
        assert tunnelled.startswith(b"HTTP/1.1 200 Connection established")
        assert b"Hello, reader." in tunnelled
        lines = [f"GET http://docs.test:{server.port}/a HTTP/1.1", f"CONNECT docs.test:{server.port} HTTP/1.1"]
        assert further.requests == lines
        assert all("Proxy-Authorization" not in arrival.headers for arrival in server.requests)


@pytest.mark.parametrize("request_line", ["GET http://10.0.0.1/", "CONNECT 169.254.169.254:443"])
def test_private_addresses_are_refused_all_the_same(request_line: str) -> None:
    with HttpProxy() as further:
        assert ask(site_of(further.url), request_line).startswith(b"HTTP/1.1 403 ")
        assert further.requests == []


def test_its_refusal_is_told(server: WebServer) -> None:
    with HttpProxy("ada:s3cr3t") as further:
        refused = ask(site_of(further.url), f"CONNECT docs.test:{server.port}")
        assert b"does not connect to docs.test (status 407)" in refused
    assert b"the proxy could not be reached" in ask(site_of("http://127.0.0.1:1"), "CONNECT docs.test:443")
