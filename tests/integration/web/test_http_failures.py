"""Connections that break, answers that are none, and TLS."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from sourcebook.errors import FailureClass
from sourcebook.web.http_types import FetchError, Request
from tests.integration.web.fetching import PAGE, failure, fetch, fetcher_of, flags, settings_of
from tests.web_certificate import certificate
from tests.web_server import WebServer


def test_a_reset_in_the_middle_is_told(server: WebServer) -> None:
    """The failure is the URL's, and may pass."""
    server.broken_off("/a")
    error = failure(server, "/a")
    assert "was cut off in the middle of the response" in str(error)
    assert flags(error) == (True, False)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
    ],
)
def test_a_body_that_ends_early_is_no_page(server: WebServer, answer: bytes) -> None:
    """A Content-Length that lies, and chunks that stop."""
    server.raw("/a", answer)
    error = failure(server, "/a")
    assert "was cut off" in str(error)
    assert not error.host_failed


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>HTTP/0.9 was simple</html>",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 two hundred\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nshort\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
    ],
)
def test_what_is_not_http_is_told(server: WebServer, answer: bytes) -> None:
    """Junk in place of an answer does not help a second time."""
    server.raw("/a", answer)
    error = failure(server, "/a")
    assert "not valid HTTP" in str(error)
    assert flags(error) == (False, False)


def test_a_longer_body_than_announced_harms_no_other_page(server: WebServer) -> None:
    """The surplus is not taken for the next answer."""
    server.raw(
        "/a", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    )
    server.page("/b", PAGE)

    async def both() -> bytes:
        async with fetcher_of(settings_of(server)) as fetcher:
            with suppress(FetchError):
                assert (await fetcher.fetch(Request(f"{server.url}/a"))).body == b"ok"
            return (await fetcher.fetch(Request(f"{server.url}/b"))).body

    assert asyncio.run(both()) == PAGE.encode()


@pytest.mark.parametrize("reset", [True, False])
def test_a_connection_closed_without_an_answer_is_the_hosts_failure(server: WebServer, reset: bool) -> None:
    """Whether it is closed in order or reset."""
    server.raw("/a", b"", reset=reset)
    error = failure(server, "/a")
    assert "closed the connection without an answer" in str(error)
    assert flags(error) == (True, True)


def test_a_kept_connection_that_breaks_costs_one_request(server: WebServer) -> None:
    """Nothing is sent again behind the back of the rate limit."""
    server.page("/a", PAGE)

    async def twice() -> None:
        async with fetcher_of(settings_of(server)) as fetcher:
            await fetcher.fetch(Request(f"{server.url}/a"))
            server.down = True
            with pytest.raises(FetchError):
                await fetcher.fetch(Request(f"{server.url}/a"))

    asyncio.run(twice())
    assert server.count("/a") == 2


def test_a_refused_connection_is_the_hosts_failure(server: WebServer) -> None:
    """A server that is not there."""
    with WebServer() as gone:
        pass
    error = failure(gone, "/a")
    assert f"127.0.0.1 could not be reached on port {gone.port}: connection refused" in str(error)
    assert flags(error) == (True, True)


def test_a_name_that_is_not_found_is_the_hosts_failure(server: WebServer) -> None:
    """DNS failure."""
    error = failure(server, "http://no-such-host.invalid/")
    assert "no-such-host.invalid could not be looked up" in str(error)
    assert flags(error) == (True, True)


def test_a_self_signed_certificate_is_refused(tmp_path: Path) -> None:
    """With the reason, and what to do where it is one's own."""
    with WebServer(tls=certificate(tmp_path)) as server:
        error = failure(server, "/a")
    assert "self-signed certificate" in str(error)
    assert "SSL_CERT_FILE" in str(error)
    assert flags(error) == (False, True)
    assert server.paths() == []


def test_a_certificate_is_trusted_as_ssl_cert_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy that the message names works."""
    file = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with WebServer(tls=file) as server:
        server.page("/a", PAGE)
        assert fetch(server, "/a").body == PAGE.encode()


@pytest.mark.parametrize(("kind", "reason"), [("expired", "expired"), ("wrong host", "mismatch")])
def test_a_wrong_certificate_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, reason: str
) -> None:
    """One that has expired, and one of another host."""
    host = "127.0.0.1" if kind == "expired" else "docs.example.com"
    file = certificate(tmp_path, host=host, expired=kind == "expired")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with WebServer(tls=file) as server:
        error = failure(server, "/a")
    assert reason in str(error)
    assert flags(error) == (False, True)


def test_tls_to_a_server_without_it_is_told(server: WebServer) -> None:
    """https on a port that speaks http."""
    error = failure(server, f"https://127.0.0.1:{server.port}/a")
    assert "could not agree on TLS" in str(error)
    assert flags(error) == (False, True)


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b"X: " + b"x" * 200_000 + b"\r\n", "a header of more than 65,536 bytes"),
        (b"X-One: 1\r\n" * 5_000, "too many headers"),
    ],
)
def test_headers_that_are_too_large_are_named_so(server: WebServer, head: bytes, told: str) -> None:
    """One header, or all of them together."""
    server.raw("/a", b"HTTP/1.1 200 OK\r\n" + head + b"Content-Length: 2\r\n\r\nhi")
    error = failure(server, "/a")
    assert told in str(error)
    assert (error.failure_class, flags(error)) == (FailureClass.TOO_LARGE, (False, False))
