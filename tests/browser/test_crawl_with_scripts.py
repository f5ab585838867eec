"""A crawl of a site that is made by scripts, in the browser, up to what is searched."""

from collections.abc import Iterator

import pytest

from tests.integration.stages import Stages
from tests.web_server import WebServer


@pytest.fixture
def site() -> Iterator[WebServer]:
    """A start page in plain HTML, and two pages that scripts make."""
    with WebServer() as server:
        links = '<a href="/tides">Tides</a> <a href="/winds">Winds</a> <a href="/alert">Alert</a>'
        server.page("/", f"<title>Start</title><main><h1>Start</h1><p>All of it is below.</p>{links}</main>")
        server.script_app("/tides", "The barnacle line marks high water.")
        server.script_app("/winds", "The anemometer stands on the mole.")
        server.dialogs("/alert")
        yield server


def configure(stages: Stages, site: WebServer, render: str) -> None:
    stages.configure(
        f"collections:\n  {stages.collection}:\n    sites:\n      - url: {site.url}/\n        render: {render}\n"
        "        requests_per_second: unlimited\n        timeout: 15s\n"
    )


def test_auto_renders_only_what_needs_scripts(stages: Stages, site: WebServer) -> None:
    """Pages with text come by HTTP alone; an app shell is opened in the browser, and its text is searchable."""
    configure(stages, site, "auto")
    report = stages.run()["crawled_pages"]
    assert not report.failures
    rendered = {row["url"] for row in stages.rows("SELECT url FROM crawled_page WHERE rendered")}
    assert {f"{site.url}/tides", f"{site.url}/winds"} <= rendered
    assert f"{site.url}/" not in rendered
    assert stages.found("barnacle") == {"tides"}
    assert stages.found("anemometer") == {"winds"}
    assert stages.found("below") == {site.url.removeprefix("http://")}
    stages.assert_sound()


def test_always_opens_every_page_in_the_browser(stages: Stages, site: WebServer) -> None:
    """Every page is the browser's, also one whose HTML has text."""
    configure(stages, site, "always")
    stages.run()
    assert not stages.rows("SELECT url FROM crawled_page WHERE NOT rendered")
    assert stages.found("barnacle") == {"tides"}


def test_a_rendered_page_is_rendered_again_at_a_refresh(stages: Stages, site: WebServer) -> None:
    """That the shell is as it was says nothing of what its scripts fetch."""
    configure(stages, site, "auto")
    stages.run()
    site.script_app("/tides", "The limpet line marks high water.")
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    reports = stages.run()
    assert reports["crawled_pages"].changed == 1
    assert reports["embeddings"].extra["computed"] == 1
    assert stages.found("limpet") == {"tides"}


@pytest.mark.parametrize(("render", "remedy"), [("never", "render: never"), ("auto", "SOURCEBOOK_CHROMIUM")])
def test_without_a_browser_the_failure_says_what_to_do(
    stages: Stages, site: WebServer, monkeypatch: pytest.MonkeyPatch, render: str, remedy: str
) -> None:
    """The page that needs scripts fails with the remedy; the others are taken."""
    monkeypatch.setenv("SOURCEBOOK_CHROMIUM", "/nowhere/chromium")
    configure(stages, site, render)
    stages.run()
    assert stages.found("below") == {site.url.removeprefix("http://")}
    (item,) = stages.rows("SELECT state, error FROM item WHERE uri = %(uri)s", uri=f"{site.url}/tides")
    assert item["state"] == "failed"
    assert remedy in item["error"]
