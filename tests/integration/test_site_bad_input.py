"""The stage `crawled_pages` on everything a server may do wrong: a clear failure on that URL, and the crawl goes on."""

import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.stages import Stages, html
from tests.web_certificate import certificate
from tests.web_server import WebServer

BOMB = """<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<urlset><url><loc>http://127.0.0.1/&b;</loc></url></urlset>"""

FAILURES: dict[str, tuple[Callable[[WebServer, str], None], str]] = {
    "huge": (lambda web, path: web.huge(path), "max_bytes"),
    "endless": (lambda web, path: web.endless(path), "max_bytes"),
    "drip": (lambda web, path: web.slow_drip(path), "timeout"),
    "bomb": (lambda web, path: web.gzip_bomb(path, 50_000_000), "max_bytes"),
    "gzip": (lambda web, path: web.packed(path, b"this is not gzip"), "not valid gzip"),
    "brotli": (lambda web, path: web.packed(path, b"this", encoding="br"), "not valid br"),
    "lzw": (lambda web, path: web.packed(path, b"this", encoding="compress"), "only gzip, deflate, br, zstd"),
    "half": (lambda web, path: web.packed(path, zlib.compress(b"x" * 9999)[:20], encoding="deflate"), "before its end"),
    "reset": (lambda web, path: web.broken_off(path), "was cut off"),
    "junk": (lambda web, path: web.raw(path, b"SSH-2.0-OpenSSH_9.6\r\n"), "not valid HTTP"),
    "teapot": (lambda web, path: web.page(path, "", status=418), "418"),
    "locked": (lambda web, path: web.page(path, "", status=401), "401"),
    "trouble": (lambda web, path: web.page(path, "", status=500), "500"),
    "lost": (lambda web, path: web.page(path, "", status=302), "no web address"),
    "unchanged": (lambda web, path: web.page(path, "", status=304), "304"),
}
"""How to serve each, and a word of the reason that is told."""

SKIPPED: dict[str, tuple[Callable[[WebServer, str], None], str]] = {
    "empty": (lambda web, path: web.page(path, ""), "no text"),
    "blank": (lambda web, path: web.page(path, "<html><body> <img src=x> </body></html>"), "no text"),
    "image": (lambda web, path: web.page(path, b"\x89PNG\r\n\x1a\n" + bytes(99)), "image"),
    "program": (lambda web, path: web.page(path, b"\x7fELF" + bytes(range(256)) * 9), ""),
    "missing": (lambda web, path: web.page(path, "", status=404), "404"),
    "away": (lambda web, path: web.redirect(path, "https://elsewhere.example/"), "does not belong to the site"),
    "metadata": (lambda web, path: web.redirect(path, "http://169.254.169.254/latest/"), "does not belong to the site"),
    "noindex": (
        lambda web, path: web.page(path, html("x", head='<meta name="robots" content="noindex">')),
        "not to be indexed",
    ),
}

TAKEN: dict[str, Callable[[WebServer, str], None]] = {
    "broken": lambda web, path: web.page(path, "<p>tide <b>is <i>high</p></b><table><tr><td>1<div></table></html></p>"),
    "latin": lambda web, path: web.page(path, "<p>tide latin: Küste</p>".encode("latin-1"), content_type="text/html"),
    "liar": lambda web, path: web.page(path, "<p>tide liar: Küste</p>", content_type="text/html; charset=ascii"),
    "unknown": lambda web, path: web.page(path, "<p>tide: Küste</p>", content_type="text/html; charset=klingon"),
    "untyped": lambda web, path: web.page(path, "<html><body><p>tide untyped</p></body></html>", content_type=None),
    "mistyped": lambda web, path: web.page(
        path, "<!doctype html><html><body><p>tide mistyped</p></body></html>", content_type="application/octet-stream"
    ),
    "nul": lambda web, path: web.page(path, "<html><title>n\0ul</title><body><p>tide \0 nul &#0; &#xD800;</p></body>"),
    "nested": lambda web, path: web.page(path, "<div>" * 5000 + "<p>tide nested</p>" + "</div>" * 5000),
    "header": lambda web, path: web.raw(
        path,
        b'HTTP/1.1 200 OK\r\nETag: "\xff\xfe"\r\nLast-Modified: \xe4\r\nContent-Type: text/html; \xff\r\n'
        b"Content-Length: 18\r\n\r\n<p>tide header</p>",
    ),
    "meta": lambda web, path: web.page(
        path,
        '<html lang="x\0y"><head><meta name=description content="a&#0;b\0c&#xDFFF;">'
        '<link rel=canonical href="http://[::bad/"><meta property="article:published_time" content="0000-99-99"></head>'
        '<body><p>tide meta <a href="http://[broken">x</a> <a href="//">y</a> <a href="&#xD800;">z</a></p></body>',
    ),
}


def test_each_url_fails_with_its_reason_and_the_crawl_goes_on(stages: Stages) -> None:
    """And none holds the others up; what can be read of broken pages is searchable."""
    for name, (serve, _) in (FAILURES | SKIPPED).items():
        serve(stages.web, f"/{name}")
    for name, serve in TAKEN.items():
        serve(stages.web, f"/{name}")
    names = [*FAILURES, *SKIPPED, *TAKEN]
    stages.web.page("/", html("Start", links=[f"/{name}" for name in names]))
    stages.configure_site(request={"timeout": "1s", "max_bytes": "5MB"}, politeness={"concurrency": 8})
    started = time.monotonic()
    report = stages.run()["crawled_pages"]
    assert time.monotonic() - started < 120
    problems = stages.problems()
    for name, (_, word) in (FAILURES | SKIPPED).items():
        assert word in problems.get(f"/{name}", "nothing is told"), (name, problems.get(f"/{name}"))
    assert stages.pages() == {"/", *(f"/{name}" for name in TAKEN)}
    assert report.failed == len(FAILURES)
    assert {failure.uri.removeprefix(stages.web.url) for failure in report.failures} == {f"/{n}" for n in FAILURES}
    assert stages.found("tide") == set(TAKEN)
    assert len(stages.found("küste")) == 3
    assert stages.site_error() is None
    assert not [reason for reason in problems.values() if "Error" in reason or "object at" in reason]
    stages.assert_sound()

    report = stages.refresh()
    assert (report.added, report.removed) == (0, 0)
    assert stages.pages() == {"/", *(f"/{name}" for name in TAKEN)}


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (BOMB, "document type"),
        ("<urlset><url><loc>/a</loc></url><url><loc>/b", "is broken"),
        ("<urlset><url><loc>/a</loc></url><url><loc>javascript:alert()</loc></url></urlset>", "are no URLs"),
    ],
)
def test_a_sitemap_that_is_broken_is_told_and_what_it_names_is_taken(stages: Stages, body: str, word: str) -> None:
    stages.web.page("/", html("Start", links=["/c"]))
    for path in ("/a", "/c"):
        stages.web.page(path, html(path))
    stages.web.robots(f"Sitemap: {stages.web.url}/sitemap.xml\n")
    stages.web.page("/sitemap.xml", body, content_type="application/xml")
    stages.configure_site()
    started = time.monotonic()
    report = stages.crawl()
    assert stages.pages() == ({"/", "/c"} if body == BOMB else {"/", "/a", "/c"})
    assert [word in failure.reason for failure in report.failures] == [True]
    assert time.monotonic() - started < 60


def test_a_start_that_is_an_xml_bomb_is_told(stages: Stages) -> None:
    stages.web.page("/sitemap.xml", BOMB, content_type="application/xml")
    stages.configure_site("/sitemap.xml")
    stages.crawl()
    assert "document type" in str(stages.site_error())


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://127.0.0.1:9/", "connection refused"),
        ("http://nowhere.invalid/", "could not be looked up"),
    ],
)
def test_a_site_that_cannot_be_reached_is_told(stages: Stages, url: str, word: str) -> None:
    stages.configure_site(url, request={"timeout": "2s"})
    started = time.monotonic()
    report = stages.crawl()
    assert (report.failed, len(report.failures)) == (1, 1)
    assert word in str(stages.site_error())
    assert report.failures[0].uri == url
    assert time.monotonic() - started < 60
    assert stages.status().sources[0].listing_error == stages.site_error()


def test_a_certificate_that_is_not_trusted_is_told(stages: Stages, tmp_path: Path) -> None:
    with WebServer(tls=certificate(tmp_path)) as secure:
        secure.page("/", html("Start"))
        stages.configure_site(f"{secure.url}/")
        stages.crawl()
        assert not secure.requests
    assert "certificate" in str(stages.site_error())
    assert not stages.pages()


def test_a_site_is_no_way_to_the_machines_around_it(stages: Stages) -> None:
    """Another port of the machine is of the same domain, and still not asked, neither by a link nor by a redirect."""
    with WebServer() as inner:
        inner.page("/*", html("Secret"))
        stages.web.page("/", html("Start", links=[f"{inner.url}/linked", "/led", "http://169.254.169.254/x", "/a"]))
        stages.web.redirect("/led", f"{inner.url}/redirected")
        stages.web.page("/a", html("A"))
        stages.configure_site(scope="same_domain")
        stages.crawl()
        assert not inner.requests
        assert stages.pages() == {"/", "/a"}
        reasons = {path: reason for path, reason in stages.problems().items() if path.startswith(inner.url)}
        assert set(reasons) == {f"{inner.url}/linked", f"{inner.url}/redirected"}
        assert all("loopback" in reason for reason in reasons.values())
