"""The stage `crawled_pages`: pages that lead on at once, and pages that show other pages in frames."""

import pytest
from aiohttp import web

from tests.integration.stages import Stages, html

_FRAMES = '<frameset cols="20%,80%"><frame src="{}"><frame src="{}"><noframes>Get a browser!</noframes></frameset>'


def stub(target: str, seconds: str = "0; url=", body: str = "Redirecting …") -> str:
    return (
        f'<!doctype html><html><head><title>Redirecting</title><meta name="robots" content="noindex">'
        f'<meta http-equiv="Refresh" content="{seconds}{target}"></head><body><p>{body}</p></body></html>'
    )


def test_a_refresh_of_no_seconds_is_a_redirect(stages: Stages) -> None:
    """The stub is no document, not even the start; the old URL finds the page; a refresh after seconds is a page."""
    stages.web.page("/", stub("docs/", "0;url="))
    stages.web.page("/docs/", html("Docs", links=["/docs/old", "/docs/slow", "/docs/away", "/docs/self"]))
    stages.web.page("/docs/old", stub("'new'", "0;URL="))
    stages.web.page("/docs/new", html("New"))
    stages.web.page("/docs/slow", stub("new", "5; url=", "In five seconds there is more.").replace("noindex", "all"))
    stages.web.page("/docs/away", stub("https://elsewhere.example/"))
    stages.web.page("/docs/self", stub("#part", body="Here is my part.").replace("noindex", "all"))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/docs/", "/docs/new", "/docs/slow", "/docs/self"}
    states = {path: stages.frontier(path)["state"] for path in ("/", "/docs/old", "/docs/away")}
    assert states == {"/": "redirected", "/docs/old": "redirected", "/docs/away": "refused"}
    assert stages.frontier("/docs/old")["redirects_to"] == stages.address("/docs/new")
    assert "https://elsewhere.example/" in stages.problems()["/docs/away"]
    assert stages.site_error() is None


def test_a_page_that_becomes_a_stub_leaves(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/guide"]))
    stages.web.page("/guide", html("Guide"))
    stages.configure_site()
    stages.crawl()
    stages.web.page("/guide", stub("/manual"))
    stages.web.page("/manual", html("Manual"))
    stages.refresh()
    assert stages.pages() == {"/", "/manual"}


def test_stubs_in_a_circle_fail_alone(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/a"]))
    stages.web.page("/a", stub("/b"))
    stages.web.page("/b", stub("/a"))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/"}
    assert any("circle" in reason for reason in stages.problems().values())
    assert max(stages.web.count(path) for path in ("/a", "/b")) == 1


def test_a_frameset_is_one_document_with_the_text_and_the_links_of_its_frames(stages: Stages) -> None:
    """Also frames within frames; their pages are no documents of their own unless something links to them."""
    stages.web.page("/", f"<title>Handbook</title>{_FRAMES.format('menu.html', 'inner/')}")
    stages.web.page("/menu.html", '<ul><li><a href="a.html" target="main">Chapter A</a></li></ul>')
    stages.web.page("/inner/", f"<title>Inner</title>{_FRAMES.format('top.html', '/foreword.html')}")
    stages.web.page("/inner/top.html", '<p>The gribble eats the mole.</p><p><a href="b.html">Chapter B</a></p>')
    stages.web.page("/foreword.html", "<h1 id=fore>Foreword</h1><p>The anemometer stands on it.</p>")
    stages.web.page("/a.html", html("A"))
    stages.web.page("/inner/b.html", html("B"))
    stages.configure_site()
    stages.run()
    assert stages.pages() == {"/", "/a.html", "/inner/b.html"}
    home = {stages.web.url.removeprefix("http://")}
    assert stages.page("/")["title"] == "Handbook"
    assert (stages.found("gribble"), stages.found("anemometer"), stages.found("browser")) == (home, home, set())
    assert stages.search("anemometer", mode="keyword").results[0].anchor is None, "a browser would not scroll there"
    assert not stages.problems()
    stages.assert_sound()


def test_an_iframe_stands_where_the_page_shows_it(stages: Stages) -> None:
    """Frames of other sites, unseen ones, forbidden ones and those that are no pages are left out."""
    stages.web.robots("User-agent: *\nDisallow: /secret\n")
    unwanted = [
        '<iframe src="https://ads.example/"></iframe>', '<iframe src="/pixel" width="1"></iframe>',
        '<iframe src="/unseen" style="display: none"></iframe>', '<iframe src="/secret/plan"></iframe>',
        '<iframe src="/no-index"></iframe>', '<iframe src="/missing"></iframe>', '<iframe src="/drafts/x"></iframe>',
        '<iframe src="/data"></iframe>', "<iframe></iframe>",
    ]  # fmt: skip
    shown = (
        '<h2>Table</h2><iframe src="/moved?x=1#part">No frames?</iframe><iframe src="/moved?x=1"></iframe><h2>End</h2>'
    )
    stages.web.page("/", f"<title>Start</title><main><h1>Start</h1>{''.join(unwanted)}<p>Before.</p>{shown}</main>")
    stages.web.redirect("/moved", "/table")
    stages.web.page("/table", "<html><body><nav>Menu</nav><main><p>The barnacle line.</p></main></body></html>")
    for path in ("/pixel", "/unseen", "/secret/plan", "/drafts/x"):
        stages.web.page(path, "<p>The limpet.</p>")
    stages.web.page("/no-index", '<meta name="robots" content="noindex"><p>The limpet.</p>')
    stages.web.page("/data", b"\x89PNG\r\n\x1a\n", content_type="image/png")
    stages.configure_site(exclude=["/drafts/**"])
    stages.crawl()
    (page,) = stages.rows("SELECT markdown FROM parsed_content")
    assert page["markdown"] == "# Start\n\nBefore.\n\n## Table\n\nThe barnacle line.\n\n## End\n"
    assert [stages.web.count(path) for path in ("/pixel", "/unseen", "/secret/plan", "/drafts/x")] == [0, 0, 0, 0]
    assert stages.pages() == {"/"}


def test_frames_are_bounded(stages: Stages) -> None:
    """In number, in depth, and where a page shows itself."""
    many = "".join(f'<iframe src="/many/{number}"></iframe>' for number in range(50))
    stages.web.page("/", f"<main><h1>Start</h1><a href='/deep/0'>deep</a> <a href='/self'>self</a>{many}</main>")
    stages.web.page("/many/*", "<p>One of many.</p>")

    def deeper(request: web.BaseRequest) -> str:
        number = int(request.path.rsplit("/", 1)[-1])
        return f'<main><h1>Depth {number}</h1><p>Depth.</p><iframe src="/deep/{number + 1}"></iframe></main>'

    stages.web.route("/deep/*", deeper)
    stages.web.page("/self", '<main><h1>Self</h1><p>I.</p><iframe src="/self"></iframe></main>')
    stages.configure_site()
    stages.crawl()
    paths = stages.web.paths()
    assert sum(path.startswith("/many/") for path in paths) == 20
    assert {path for path in paths if path.startswith("/deep/")} == {f"/deep/{number}" for number in range(4)}
    assert stages.web.count("/self") == 1
    assert stages.pages() == {"/", "/deep/0", "/self"}


def test_a_change_in_a_frame_is_a_change_of_the_page(stages: Stages) -> None:
    """The page's ETag says nothing of it, so the page is requested whole."""
    stages.web.versioned("/", '<main><h1>Tides</h1><iframe src="/table"></iframe></main>', etag='"1"')
    stages.web.page("/table", "<p>The barnacle line.</p>")
    stages.configure_site()
    stages.run()
    stages.web.page("/table", "<p>The limpet line.</p>")
    assert stages.refresh().changed == 1
    stages.run()
    assert (stages.found("barnacle"), bool(stages.found("limpet"))) == (set(), True)


@pytest.mark.parametrize("known", [True, False])
def test_trouble_with_a_frame_removes_nothing(stages: Stages, known: bool) -> None:
    """The page waits for it, as for itself, and is taken without the frame when the trouble lasts."""
    stages.web.page("/", html("Start", links=["/tides"]))
    stages.web.page("/tides", '<main><h1>Tides</h1><p>See below.</p><iframe src="/table"></iframe></main>')
    stages.configure_site()
    if known:
        stages.web.page("/table", "<p>The barnacle line.</p>")
        stages.run()
    stages.web.page("/table", "down", status=503, headers={"Retry-After": "3600"})
    stages.refresh()
    assert "its frame" in (stages.site_error() or "")
    assert stages.pages() == ({"/", "/tides"} if known else {"/"})
    stages.rows("UPDATE frontier SET attempts = 6 WHERE url LIKE '%%/tides' RETURNING 1")
    stages.due_now()
    stages.refresh()
    assert not stages.problems()
    assert stages.pages() == {"/", "/tides"}


def test_frames_are_remembered_up_to_the_bytes_of_one_page(stages: Stages) -> None:
    """Two that have more together are requested again where a later page shows them; a small one is not."""
    stages.web.page("/", html("Start", links=["/1", "/2", "/3"]))
    for frame, size in (("/big-1", 60_000), ("/big-2", 60_000), ("/small", 100)):
        stages.web.page(frame, html(f"Frame {frame}", "word " * (size // 5)))
    for page, frames in (("/1", ["/big-1", "/small"]), ("/2", ["/big-2", "/small"]), ("/3", ["/big-1", "/small"])):
        inner = "".join(f'<iframe src="{frame}"></iframe>' for frame in frames)
        stages.web.page(page, html(f"Page {page}").replace("</main>", f"{inner}</main>"))
    stages.configure_site(request={"max_bytes": 100_000}, politeness={"concurrency": 1})
    stages.crawl()
    assert stages.pages() == {"/", "/1", "/2", "/3"}
    assert [stages.web.count(frame) for frame in ("/big-1", "/big-2", "/small")] == [2, 1, 1]
