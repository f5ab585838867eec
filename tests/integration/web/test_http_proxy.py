"""Requests through a proxy: the one of the settings, those of the environment, and what is refused all the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sourcebook.config.sites import SiteSource
from sourcebook.web.fetching.addresses import AddressGuard
from sourcebook.web.http_types import FetchError, Request, Response
from tests.http_proxy import HttpProxy
from tests.integration.web.fetching import PAGE, fetch_all
from tests.web_certificate import certificate
from tests.web_server import WebServer

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def proxy() -> Iterator[HttpProxy]:
    with HttpProxy() as proxy:
        yield proxy


def fetch(url: str, guard: AddressGuard | None = None, **request: object) -> Response:
    """Fetch a URL of a site whose name only the proxy knows."""
    site = SiteSource.model_validate({"url": url, "request": {"timeout": "5s", **request}})
    return fetch_all(site, [Request(url)], guard)[0]


def test_the_proxy_of_the_settings_looks_the_name_up(server: WebServer, proxy: HttpProxy) -> None:
    """And `none` is no proxy, whatever the environment says."""
    server.page("/a", PAGE)
    url = f"http://docs.test:{server.port}/a"
    assert fetch(url, proxy=proxy.url).body == PAGE.encode()
    assert proxy.requests == [f"GET {url} HTTP/1.1"]
    with pytest.raises(FetchError, match=r"docs\.test could not be looked up"):
        fetch(url, proxy="none")


def test_the_proxies_of_the_environment(server: WebServer, proxy: HttpProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """They serve the URLs of their scheme, but neither the hosts of NO_PROXY nor this machine."""
    server.page("/a", PAGE)
    url = f"http://docs.test:{server.port}/a"
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    with pytest.raises(FetchError):
        fetch(url)
    monkeypatch.setenv("HTTP_PROXY", proxy.url.removeprefix("http://"))
    assert fetch(url).status == 200
    assert fetch(f"{server.url}/a").status == 200
    monkeypatch.setenv("NO_PROXY", "example.com,.test")
    with pytest.raises(FetchError):
        fetch(url)
    assert proxy.requests == [f"GET {url} HTTP/1.1"]


def test_https_goes_through_a_tunnel(proxy: HttpProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate is the server's, and is checked."""
    file = certificate(tmp_path, host="docs.test")
    with WebServer(tls=file) as server:
        server.page("/a", PAGE)
        url = f"https://docs.test:{server.port}/a"
        with pytest.raises(FetchError, match="certificate"):
            fetch(url, proxy=proxy.url)
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        assert fetch(url, proxy=proxy.url).body == PAGE.encode()
    assert set(proxy.requests) == {f"CONNECT docs.test:{server.port} HTTP/1.1"}


def test_user_and_password_come_from_the_environment(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them the message says what is missing; none holds the password."""
    server.page("/a", PAGE)
    url = f"http://docs.test:{server.port}/a"
    with HttpProxy("ada:s3cr3t") as proxy:
        named = proxy.url.replace("//", "//${TEST_USER}:${TEST_PASSWORD}@")
        monkeypatch.setenv("TEST_USER", "ada")
        with pytest.raises(FetchError, match="variable TEST_PASSWORD"):
            fetch(url, proxy=named)
        monkeypatch.setenv("TEST_PASSWORD", "wr0ng")
        with pytest.raises(FetchError, match=r"does not connect to docs\.test \(status 407\): it wants") as caught:
            fetch(url, proxy=named)
        assert "wr0ng" not in repr(caught.value)
        with pytest.raises(FetchError, match="status 407"):
            fetch(url.replace("http:", "https:"), proxy=named)
        monkeypatch.setenv("TEST_PASSWORD", "s3cr3t")
        assert fetch(url, proxy=named).status == 200


@pytest.mark.parametrize("password", ["12/34", "p@ss#w?rd", "a:b"])
def test_a_password_of_any_characters_is_no_part_of_the_address(
    server: WebServer, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    server.page("/a", PAGE)
    monkeypatch.setenv("TEST_PASSWORD", password)
    monkeypatch.setenv("TEST_ACCOUNT", f"ada:{password}")
    with HttpProxy(f"ada:{password}") as proxy:
        for account in ("ada:${TEST_PASSWORD}", "${TEST_ACCOUNT}"):
            named = proxy.url.replace("//", f"//{account}@")
            assert fetch(f"http://docs.test:{server.port}/a", proxy=named).status == 200


def test_a_proxy_that_is_out_of_reach_is_named(proxy: HttpProxy) -> None:
    with pytest.raises(FetchError, match=r"the proxy could not be reached: connection refused"):
        fetch("http://docs.test/a", proxy="http://127.0.0.1:1")


@pytest.mark.parametrize("url", ["http://10.0.0.1/a", "http://169.254.169.254/latest", "http://127.0.0.1:8000/a"])
def test_a_private_address_is_refused_behind_a_proxy_too(proxy: HttpProxy, url: str) -> None:
    site = SiteSource.model_validate({"url": "http://docs.test/", "request": {"timeout": "5s", "proxy": proxy.url}})
    with pytest.raises(FetchError, match=r"not connected to|never connected to"):
        fetch_all(site, [Request(url)])
    assert proxy.requests == []


def test_a_name_that_is_private_here_is_refused_and_one_that_is_unknown_here_is_left_to_the_proxy(
    server: WebServer, proxy: HttpProxy
) -> None:
    """The guard keeps its meaning as far as this machine can tell."""
    server.page("/a", PAGE)
    site = SiteSource.model_validate({"url": "http://docs.test/", "request": {"timeout": "5s", "proxy": proxy.url}})

    async def lookup(host: str, port: int) -> list[str]:
        if host == "intranet.test":
            return ["10.0.0.7"]
        raise OSError("no such name")

    guard = AddressGuard(site, lookup)
    with pytest.raises(FetchError, match=r"intranet\.test leads to a private address"):
        fetch_all(site, [Request(f"http://intranet.test:{server.port}/a")], guard)
    assert proxy.requests == []
    assert fetch_all(site, [Request(f"http://docs.test:{server.port}/a")], guard)[0].status == 200


def test_the_address_of_the_proxy_is_not_open_to_direct_requests(
    server: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page on a host of NO_PROXY cannot lead to the proxy's own port by its name."""
    with HttpProxy() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://localhost:{proxy.port}")
        server.page("/a", PAGE)
        site = SiteSource.model_validate({"url": "http://docs.test/", "request": {"timeout": "5s"}})
        url = f"http://docs.test:{server.port}/a"
        with pytest.raises(FetchError, match="localhost leads to"):
            fetch_all(site, [Request(url), Request(f"http://localhost:{proxy.port}/a")])
        assert proxy.requests == [f"GET {url} HTTP/1.1"]
