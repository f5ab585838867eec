"""What `browser` of a site does on pages before they are read, in a real Chromium."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from sourcebook.errors import FailureClass
from sourcebook.web.browser.crawler_browser import GRACE_SECONDS
from sourcebook.web.http_types import FetchError, Response
from tests.browser.acting_pages import ACTING_PAGES
from tests.browser.conftest import Loop, Rendering
from tests.browser.site import WORDS, Site

TEXT = WORDS.strip()
MOST_PATHS = 4
"""Pages that are opened at the same time."""


@pytest.fixture(scope="module")
def acting(loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rendering]:
    """A site of such pages."""
    site = Site(ACTING_PAGES)
    loop.run(site.start())
    acting = Rendering(loop, site, tmp_path_factory.mktemp("crawl4ai"))
    shared = acting.renderer(politeness={"concurrency": MOST_PATHS})
    acting.shared = loop.run(shared.__aenter__())
    yield acting
    loop.run(shared.__aexit__(None, None, None))
    loop.run(site.close())


def read(acting: Rendering, *paths: str, timeout: float = 30, **browser: Any) -> list[Response | BaseException]:
    """Open pages at the same time in the browser that the tests share; what fails is returned as well."""
    assert len(paths) <= MOST_PATHS
    acting.set(browser=browser, request={"timeout": timeout})
    return acting.render_all(*paths)


def text_of(page: Response | BaseException) -> str:
    """Return what a page shows; its scripts hold much of it, too."""
    if isinstance(page, BaseException):
        raise page
    return re.sub(r"<script>.*?</script>", "", page.body.decode(), flags=re.DOTALL)


def failure_of(page: Response | BaseException) -> FetchError:
    assert isinstance(page, FetchError), page
    return page


def parts(page: Response | BaseException) -> int:
    """Number of the parts that came by clicking or scrolling."""
    return len(re.findall(r"<p>Part [1-9]", text_of(page)))


def test_an_element_is_waited_for(acting: Rendering) -> None:
    """A page is read once a visible element matches, even where it had been still for seconds before."""
    (page,) = read(acting, "/late", wait_for="article")
    assert TEXT in text_of(page)


def test_an_element_that_never_comes_is_a_failure(acting: Rendering) -> None:
    """A page without it is no document but a failure that may pass, with the selector and what to do."""
    begun = time.monotonic()
    failures = [failure_of(page) for page in read(acting, "/text", "/late", wait_for="aside, #no", page_timeout="3s")]
    assert time.monotonic() - begun < 3 + GRACE_SECONDS + 30
    for failure in failures:
        assert "`browser.wait_for` (aside, #no) within 3 s" in str(failure)
        assert "correct the selector, or raise `browser.page_timeout`" in str(failure)
        assert (failure.transient, failure.failure_class, failure.host_failed) == (True, FailureClass.TIMEOUT, False)


@pytest.mark.parametrize(
    ("setting", "name"),
    [({"wait_for": "p:nonsense"}, "`browser.wait_for`"), ({"clicks": ["p", "p!!"]}, "`browser.clicks` 2")],
)
def test_a_selector_that_is_none_is_a_lasting_failure(acting: Rendering, setting: dict[str, Any], name: str) -> None:
    """What the configuration could not tell, the browser does, at once and with the name of the setting."""
    failure = failure_of(read(acting, "/text", **setting)[0])
    assert name in str(failure)
    assert "is no CSS selector" in str(failure)
    assert not failure.transient


def test_clicks_are_repeated_as_long_as_there_is_an_element(acting: Rendering) -> None:
    """At most as often as the settings say; elements that are not there or disabled are left out."""
    clicks = ["#absent", {"selector": "button.more", "times": 50}]
    pages = read(acting, "/more", "/disabled", "/does-nothing", "/text", clicks=clicks)
    assert [parts(page) for page in pages] == [3, 0, 0, 0]
    assert [parts(page) for page in read(acting, "/more", clicks=["button.more", "button.more"])] == [2]


def test_clicks_that_change_nothing_end(acting: Rendering) -> None:
    """A button that stays and brings nothing is not clicked a thousand times."""
    before = acting.site.hits["/tick"]
    assert TEXT in text_of(read(acting, "/does-nothing", clicks=[{"selector": "button", "times": 1000}])[0])
    assert acting.site.hits["/tick"] == before + 1


def test_covered_elements_are_clicked(acting: Rendering) -> None:
    """A banner above the page keeps no element from its click."""
    assert parts(read(acting, "/covered", clicks=["button.more"])[0]) == 1


def test_a_click_may_come_before_the_element_that_is_waited_for(acting: Rendering) -> None:
    """Pages behind a button are read, whether it shows them or loads the page again; so are those without a button."""
    pages = read(acting, "/consent", "/reloads", clicks=["#accept"], wait_for="main")
    assert all(TEXT in text_of(page) for page in pages)
    assert all(isinstance(page, Response) and page.final_url is None for page in pages)
    assert TEXT in text_of(read(acting, "/tabs", clicks=["#accept"], wait_for="main")[0])


@pytest.mark.parametrize(("path", "selector"), [("/link", "a.next"), ("/form", "button"), ("/tabs", "button.route")])
def test_a_click_that_leads_away_is_a_lasting_failure(acting: Rendering, path: str, selector: str) -> None:
    """Another page's text is not taken for the page's; the other page is not even requested."""
    hits = acting.site.hits.copy()
    failure = failure_of(read(acting, path, clicks=[selector])[0])
    assert "leads away from the page, to " in str(failure)
    assert not failure.transient
    assert acting.site.hits - hits == {path: 1}


def test_windows_fragments_and_queries_are_the_page(acting: Rendering) -> None:
    """Windows are not opened, so they ask for nothing; a fragment or a query that a click sets is no other page."""
    before = acting.site.hits["/text"]
    clicks = ["[target=_blank]", "#opens", "a.jump", "button.tab"]
    pages = read(acting, "/window", "/link", "/tabs", clicks=clicks)
    assert all(TEXT in text_of(page) for page in pages)
    assert all(isinstance(page, Response) and page.final_url is None for page in pages)
    assert "The second tab." in text_of(pages[2])
    assert acting.site.hits["/text"] == before


def test_scrolling_ends_where_nothing_more_comes(acting: Rendering) -> None:
    """What a page loads at its bottom is read, in the window and in an element that scrolls."""
    assert [parts(page) for page in read(acting, "/feed", "/boxed-feed", scroll=True)] == [6, 6]
    assert all(parts(page) < 6 for page in read(acting, "/feed", "/boxed-feed"))


def test_endless_scrolling_is_bounded(acting: Rendering) -> None:
    """By a number of screens, or by the time of the page, which is then read as it is."""
    assert 0 < parts(read(acting, "/endless-feed", scroll=3)[0]) < 30
    begun = time.monotonic()
    assert parts(read(acting, "/endless-feed", scroll=True, page_timeout="8s")[0]) > 0
    assert time.monotonic() - begun < 8 + GRACE_SECONDS + 30


def test_scripts_run_before_a_page_is_read(acting: Rendering) -> None:
    """With the page's own functions, one after the other; what they load is waited for."""
    load = "const answer = await fetch('/data/1?loaded'); document.body.append(await answer.text()) // a comment"
    (page,) = read(acting, "/menu", js_code=["openMenu('A')", load, "setTimeout(() => openMenu('B'), 100)"])
    assert all(text in text_of(page) for text in ("Menu A", "loaded: ", "Menu B"))


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("openMenu()\n}} throw new Error('no such menu')", "SyntaxError"),
        ("throw new Error('no such menu')", "no such menu"),
        ("await openNothing()", "openNothing is not defined"),
    ],
)
def test_a_script_that_fails_is_named(acting: Rendering, script: str, reason: str) -> None:
    """Its page is a lasting failure, with the number of the script and its message."""
    failure = failure_of(read(acting, "/menu", js_code=["openMenu('A')", script])[0])
    assert "script 2 of `browser.js_code` failed" in str(failure)
    assert reason in str(failure)
    assert not failure.transient


def test_scripts_have_the_time_of_the_page(acting: Rendering) -> None:
    """One that never ends is a failure that names the setting, and the next page is fine."""
    for script in ("for (;;);", "await new Promise(() => {})"):
        code = f"if (location.pathname === '/menu') {{ {script} }}"
        failure = failure_of(read(acting, "/menu", js_code=[code], page_timeout="3s")[0])
        (page,) = read(acting, "/text", js_code=[code], page_timeout="3s")
        assert "`browser.js_code` did not end within 3 s" in str(failure)
        assert (failure.transient, failure.failure_class) == (True, FailureClass.TIMEOUT)
        assert TEXT in text_of(page)


def test_a_script_that_leads_away_is_a_lasting_failure(acting: Rendering) -> None:
    """The other page is not requested."""
    before = acting.site.hits["/text"]
    failure = failure_of(read(acting, "/menu", js_code=["location.href = '/text'"])[0])
    assert "`browser.js_code` leads away from the page, to " in str(failure)
    assert not failure.transient
    assert acting.site.hits["/text"] == before


def test_a_page_may_have_more_time_than_a_response(acting: Rendering) -> None:
    """`page_timeout` counts in the browser, whether it is shorter or longer than `timeout`."""
    assert TEXT in text_of(read(acting, "/late", timeout=2, page_timeout="30s", wait_for="article")[0])


def test_window_and_language(acting: Rendering) -> None:
    """Pages see the size and the language of the settings, and the server is asked for that language."""

    async def render() -> Response:
        async with acting.renderer(browser={"viewport": "1280x800", "locale": "de-DE"}) as renderer:
            return await renderer.render(acting.site.url("/window-size"))

    assert "1280x800 de-DE Januar" in text_of(acting.loop.run(render()))
    path, headers = acting.site.headers[-1]
    assert (path, headers["Accept-Language"][:5]) == ("/window-size", "de-DE")
