"""Pages in a real Chromium: what they become, and what comes of those that misbehave."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from sourcebook.web.browser.crawler_browser import GRACE_SECONDS
from sourcebook.web.browser.proxy import ProxyLimits
from sourcebook.web.http_types import FetchError, NotAPageError, Response
from tests.browser.conftest import Rendering
from tests.browser.site import WORDS

TEXT = WORDS.strip()


@pytest.fixture
def next_page_is_fine(rendering: Rendering) -> Iterator[None]:
    """After the test, the next page renders as if nothing had been."""
    yield
    assert TEXT in rendering.render("/text").body.decode()


def test_scripts_fill_an_app_shell(rendering: Rendering) -> None:
    """What a page's scripts fetch is in the body."""
    page = rendering.render("/shell?q=7")
    assert page.status == 200
    assert page.rendered
    assert page.media_type == "text/html"
    assert page.final_url is None
    assert f'<div id="app">q=7: {TEXT}' in page.body.decode()


def test_slow_data_is_waited_for(rendering: Rendering) -> None:
    """A page that says `Loading…` for two seconds is read after them."""
    assert TEXT in rendering.render("/slow").body.decode()


def test_small_or_hidden_is_still_a_page(rendering: Rendering) -> None:
    """A page with little text, or with a hidden body, is a page."""
    for page in rendering.render_all("/tiny", "/hidden"):
        assert isinstance(page, Response)
        assert b"<p>" in page.body


def test_body_is_utf8(rendering: Rendering) -> None:
    """Whatever the server's charset, the body is UTF-8 and the header says so."""
    page = rendering.render("/latin")
    assert "Größe" in page.body.decode()
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "content-length" not in page.headers
    assert "5 €" in rendering.render("/umlauts").body.decode()


def test_status_is_the_documents(rendering: Rendering) -> None:
    """An error's page is a response with the error's status."""
    for status, page in zip((404, 500), rendering.render_all("/status/404/page", "/status/500/page"), strict=True):
        assert isinstance(page, Response)
        assert page.status == status
        assert TEXT in page.body.decode()


def test_status_without_a_body(rendering: Rendering) -> None:
    """A status for which the server sent nothing is a response, not the browser's own error page."""
    statuses = (204, 404, 500)
    pages = rendering.render_all(*(f"/status/{status}/empty" for status in statuses))
    assert [(page.status, page.body) for page in pages if isinstance(page, Response)] == [(n, b"") for n in statuses]


def test_where_the_browser_ends_up(rendering: Rendering) -> None:
    """Redirects by the server, by a script and by meta refresh lead to `final_url`, with that page's status."""
    for page in rendering.render_all("/redirect", "/leaves", "/refreshes"):
        assert isinstance(page, Response)
        assert page.final_url == rendering.site.url("/text")
        assert page.status == 200
        assert TEXT in page.body.decode()


def test_pushed_url(rendering: Rendering) -> None:
    """A URL that a script sets is where the browser ended up."""
    assert rendering.render("/pushes").final_url == rendering.site.url("/pushed")


@pytest.mark.usefixtures("next_page_is_fine")
def test_restless_pages_are_pages(rendering: Rendering, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dialogs, endless timers, downloads and requests that never end do not keep a page from being read."""
    monkeypatch.setattr("sourcebook.web.browser.page_visit.LONGEST_SECONDS", 4.0)
    for page in rendering.render_all("/dialogs", "/timers", "/starts-download", "/waits-for-nothing"):
        assert isinstance(page, Response)
        assert TEXT in page.body.decode()


def test_popups_are_not_opened(rendering: Rendering) -> None:
    """A page that opens others is read, and they ask the server for nothing."""
    before = rendering.site.hits["/text"]
    assert TEXT in rendering.render("/popups").body.decode()
    assert rendering.site.hits["/text"] == before


def test_pages_that_never_get_ready(rendering: Rendering) -> None:
    """A script or a document that never ends, and a server that never answers, are failures in time.

    The next page is fine.
    """
    paths = ("/loop", "/late-loop", "/endless-alerts", "/drip", "/hang")

    async def render() -> tuple[list[Response | BaseException], float, Response]:
        async with rendering.renderer(request={"timeout": 3}, politeness={"concurrency": len(paths)}) as renderer:
            await renderer.render(rendering.site.url("/text"))
            begun = time.monotonic()
            work = (renderer.render(rendering.site.url(path)) for path in paths)
            failures = await asyncio.gather(*work, return_exceptions=True)
            seconds = time.monotonic() - begun
            return failures, seconds, await renderer.render(rendering.site.url("/text"))

    failures, seconds, next_page = rendering.loop.run(render())
    assert seconds < 3 + GRACE_SECONDS + 3
    assert [str(failure) for failure in failures] == [
        *["the page did not load in time"] * 4,
        "the server did not answer in time",
    ]
    errors = [failure for failure in failures if isinstance(failure, FetchError)]
    assert all(error.transient for error in errors)
    assert [error.host_failed for error in errors] == [False, False, False, False, True]
    assert TEXT in next_page.body.decode()


@pytest.mark.usefixtures("next_page_is_fine")
def test_pages_that_are_too_large(rendering: Rendering) -> None:
    """More than `max_bytes`, loaded or made by scripts, is a failure, even where the page hides it."""
    for failure in rendering.render_all("/big", "/becomes-big", "/lies-about-its-size", "/growth", "/stream"):
        assert isinstance(failure, FetchError)
        assert str(failure) == "the page is larger than 200,000 bytes"
        assert not failure.transient


def test_a_page_that_is_cut_off_before_it_is_shown_is_too_large(
    rendering: Rendering, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection that breaks off is our own doing, and no failure of the server that may pass."""
    monkeypatch.setattr("sourcebook.web.browser.rendering.ProxyLimits", lambda **_: ProxyLimits(response_bytes=2000))

    async def render() -> None:
        async with rendering.renderer(request={"max_bytes": 1000}) as renderer:
            with pytest.raises(FetchError, match="the page is larger than 1,000 bytes") as failure:
                await renderer.render(rendering.site.url("/big"))
            assert not failure.value.transient

    rendering.loop.run(render())


def test_what_is_no_page(rendering: Rendering) -> None:
    """Downloads, PDFs and plain text are said to be no pages, so that they can be fetched without a browser."""
    for failure in rendering.render_all("/file.zip", "/paper.pdf", "/plain.txt", "/frames"):
        assert isinstance(failure, NotAPageError)


@pytest.mark.usefixtures("next_page_is_fine")
def test_connection_reset_in_the_middle(rendering: Rendering) -> None:
    """Half a page is not taken for a page."""
    with pytest.raises(FetchError, match=r"connection|content length") as failure:
        rendering.render("/reset")
    assert failure.value.transient


def test_endless_redirects(rendering: Rendering) -> None:
    """A redirect loop is a lasting failure."""
    with pytest.raises(FetchError, match="too many redirects") as failure:
        rendering.render("/redirect-forever")
    assert not failure.value.transient


@pytest.mark.usefixtures("next_page_is_fine")
def test_endless_refreshes(rendering: Rendering) -> None:
    """A page that goes on to itself without end is a lasting failure."""
    with pytest.raises(FetchError, match="endlessly") as failure:
        rendering.render("/circles")
    assert not failure.value.transient


def test_page_that_leaves_the_web(rendering: Rendering) -> None:
    """What a script made up under a URL that is not http is not taken for the site's page."""
    with pytest.raises(FetchError, match="left the web"):
        rendering.render("/leaves-the-web")
