"""What a server answers, and what it is sent."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web

from sourcebook.web.http_types import Request
from tests.integration.web.fetching import PAGE, failure, fetch, fetch_all, fetcher_of, flags, settings_of
from tests.web_server import WebServer


@pytest.mark.parametrize("status", [200, 203, 400, 403, 404, 410, 429, 500, 503])
def test_every_status_is_an_answer(server: WebServer, status: int) -> None:
    """4xx and 5xx are for the caller to judge; a page is read where the status says that it is one."""
    server.page("/a", PAGE, status=status, headers={"X-Seen": "yes"})
    response = fetch(server, "/a")
    assert (response.status, response.headers["x-seen"]) == (status, "yes")
    assert response.body == (PAGE.encode() if status < 300 else b"")
    assert response.media_type == "text/html"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_answers(server: WebServer, status: int) -> None:
    """No redirect is followed: where it leads is checked first."""
    server.redirect("/old", "/new", status=status)
    response = fetch(server, "/old")
    assert (response.status, response.headers["location"]) == (status, "/new")
    assert server.paths() == ["/old"]


def test_a_page_that_waits_for_its_cookie_is_asked_again(server: WebServer) -> None:
    """It redirects to itself until the cookie comes back; where none is kept, that is the answer."""

    def answer(request: web.BaseRequest) -> web.Response:
        if request.cookies.get("seen") == "1":
            return web.Response(text=PAGE, content_type="text/html")
        return web.Response(status=302, headers={"Location": "/wall?", "Set-Cookie": "seen=1; Path=/"})

    server.route("/wall", answer)
    assert fetch(server, "/wall").status == 302
    assert fetch(server, "/wall", cookies=True).body == PAGE.encode()
    assert server.count("/wall") == 3


def test_what_is_known_is_asked_for_conditionally(server: WebServer) -> None:
    """ETag and Last-Modified are sent; 304 is an answer without a body."""
    date = "Tue, 15 Nov 1994 12:45:26 GMT"
    server.versioned("/etag", PAGE, etag='W/"7"')
    server.versioned("/date", PAGE, modified=date)
    known = [Request(f"{server.url}/etag", etag='W/"7"'), Request(f"{server.url}/date", last_modified=date)]
    changed = Request(f"{server.url}/etag", etag='"6"')
    answers = fetch_all(settings_of(server), [*known, changed])
    assert [(answer.status, answer.body) for answer in answers] == [(304, b""), (304, b""), (200, PAGE.encode())]
    assert answers[0].headers["etag"] == 'W/"7"'


@pytest.mark.parametrize("content_type", [None, "application/pdf", "text/html; charset=nonsense", "image/png", ";;"])
def test_bytes_come_as_they_are_whatever_the_type(server: WebServer, content_type: str | None) -> None:
    """Neither a missing nor a wrong Content-Type changes a byte; the name of a download is no path to write to."""
    body = bytes(range(256))
    server.page("/a", body, content_type=content_type, headers={"Content-Disposition": "attachment; filename=a.bin"})
    response = fetch(server, "/a")
    assert response.body == body
    assert response.headers.get("content-type") == content_type


def test_headers_that_come_twice_are_joined_and_storable(server: WebServer) -> None:
    """Names are in lower case; bytes that are no UTF-8 do not become text that no database takes."""
    server.raw("/a", b"HTTP/1.1 200 OK\r\nLink: <a>\r\nLINK: <b>\r\nX-Old: caf\xe9\r\nContent-Length: 2\r\n\r\nok")
    response = fetch(server, "/a")
    assert response.headers["link"] == "<a>, <b>"
    assert response.headers["x-old"].encode() == "caf\ufffd".encode()


def test_a_long_header_is_no_failure(server: WebServer) -> None:
    """Content policies of 30 KB exist."""
    server.page("/a", PAGE, headers={"Content-Security-Policy": "x" * 30_000})
    assert fetch(server, "/a").status == 200


def test_what_a_request_says_of_us(server: WebServer) -> None:
    """The user agent is the site's setting, and only what we can unpack is asked for."""
    server.page("/a", PAGE)
    fetch(server, "/a", user_agent="Reader/2 (+https://example.com)")
    headers = server.requests[0].headers
    assert headers["user-agent"] == "Reader/2 (+https://example.com)"
    assert headers["accept-encoding"] == "gzip, deflate, br, zstd"
    assert "text/html" in headers["accept"]


def test_no_cookie_is_kept(server: WebServer) -> None:
    """A page is the same for the first and the thousandth request."""
    server.page("/a", PAGE, headers={"Set-Cookie": "session=1; Path=/"})
    fetch_all(settings_of(server), [Request(f"{server.url}/a")] * 2)
    assert all("cookie" not in arrival.headers for arrival in server.requests)


def test_the_sites_headers_go_to_the_site_only(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are filled in from the environment, and no other origin sees them."""
    monkeypatch.setenv("DOCS_TOKEN", "s3cret\n")
    headers = {"Authorization": "Bearer ${DOCS_TOKEN}", "accept": "text/plain"}
    with WebServer() as other:
        server.page("/a", PAGE)
        other.page("/a", PAGE)
        site = settings_of(server, headers=headers, private_networks=["127.0.0.0/8"])
        fetch_all(site, [Request(f"{server.url}/a"), Request(f"{other.url}/a")])
        assert server.requests[0].headers["authorization"] == "Bearer s3cret"
        assert server.requests[0].headers["accept"] == "text/plain"
        assert "authorization" not in other.requests[0].headers
        fetch(server, f"{other.url}/a", headers=headers, private_networks=["127.0.0.0/8"])
        assert "authorization" not in other.requests[1].headers


def test_origins_that_the_caller_adds_get_the_headers(server: WebServer) -> None:
    """A site of several hosts can be given its headers everywhere."""

    async def from_other(other: WebServer) -> None:
        site = settings_of(server, headers={"X-Key": "k"}, private_networks=["127.0.0.0/8"])
        async with fetcher_of(site, header_origins=[other.url]) as fetcher:
            await fetcher.fetch(Request(f"{other.url}/a"))

    with WebServer() as other:
        asyncio.run(from_other(other))
        assert other.requests[0].headers["x-key"] == "k"


def test_a_missing_variable_is_named(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent without the token that the site needs."""
    monkeypatch.delenv("NO_SUCH_TOKEN", raising=False)
    error = failure(server, "/a", headers={"Authorization": "Bearer ${NO_SUCH_TOKEN}"})
    assert "NO_SUCH_TOKEN" in str(error)
    assert flags(error) == (False, False)
    assert server.paths() == []


def test_a_value_that_is_no_header_is_refused_unseen(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable cannot smuggle in a header of its own, and the message does not show it."""
    monkeypatch.setenv("DOCS_TOKEN", "s3cret\r\nX-Evil: 1")
    error = failure(server, "/a", headers={"Authorization": "Bearer ${DOCS_TOKEN}"})
    assert "Authorization" in str(error)
    assert "s3cret" not in str(error)
    assert server.paths() == []


def test_nothing_is_written_or_printed(server: WebServer, tmp_path: Path) -> None:
    """No download is saved, nothing is said, and neither crawl4ai nor a browser is loaded for plain HTTP."""
    server.page("/a", b"%PDF-1.7", content_type="application/pdf")
    program = f"""
import asyncio, sys
from sourcebook.config.sites import SiteSource
from sourcebook.web.http_types import FetchError, Request
from sourcebook.web.fetching.fetcher import HttpFetcher
from sourcebook.web.site_crawl import crawl_site
async def main():
    async with HttpFetcher(SiteSource(url={server.url!r})) as fetcher:
        assert (await fetcher.fetch(Request({server.url + "/a"!r}))).body == b"%PDF-1.7"
        assert (await fetcher.fetch(Request({server.url + "/gone"!r}))).status == 404
        try:
            await fetcher.fetch(Request("http://127.0.0.1:1/"))
        except FetchError:
            pass
asyncio.run(main())
assert not {{"crawl4ai", "litellm", "playwright"}} & sys.modules.keys()
"""
    home = tmp_path / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(home.iterdir()) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_many_at_once_keep_apart(server: WebServer) -> None:
    """Answers do not mix, whatever the order they come in."""

    async def numbered(request: web.BaseRequest) -> str:
        number = int(request.path.rpartition("/")[2])
        await asyncio.sleep(number % 7 / 100)  # later ones answer first
        return f"page {number}"

    server.route("/n/*", numbered)

    async def all_at_once() -> list[bytes]:
        async with fetcher_of(settings_of(server)) as fetcher:
            requests = [Request(f"{server.url}/n/{number}") for number in range(100)]
            return [response.body for response in await asyncio.gather(*map(fetcher.fetch, requests))]

    assert asyncio.run(all_at_once()) == [f"page {number}".encode() for number in range(100)]
