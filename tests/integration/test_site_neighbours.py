"""The stage `crawled_pages`: a site that wants to be asked slowly, and the other sites of its collection."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orchestration.ingest import IngestEvents, ingest, paused_crawls
from sourcebook.config.loading import load_configuration
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.web import patience
from sourcebook.web.due import next_due
from tests.exported import link_model
from tests.integration.stages import Stages, html
from tests.web_server import WebServer


@pytest.fixture
def other() -> Iterator[WebServer]:
    """A second server; the test names it `localhost`, which is another domain than 127.0.0.1."""
    with WebServer() as server:
        server.page("/", html("Other", links=["/a", "/b"]))
        server.page("/a", html("A"))
        server.page("/b", html("B"))
        yield server


def test_a_huge_crawl_delay_postpones_the_site_and_says_why(stages: Stages) -> None:
    """One request, at once; the sentence has the delay and what to do; with a larger limit the delay is kept."""
    stages.web.robots("User-agent: *\nCrawl-delay: 100000\n")
    stages.web.page("/", html("Start", links=["/a"]))
    stages.web.page("/a", html("A"))
    stages.configure_site("/", refresh="12h")
    report = stages.crawl()
    assert (stages.web.paths(), report.failed) == (["/robots.txt"], 1)
    error = str(stages.site_error())
    assert "asks for a Crawl-delay of 100,000 seconds" in error
    assert "`politeness.max_crawl_delay` of 60 seconds" in error
    assert "`respect_robots: false`" in error
    with stages.connection() as connection:
        due = next_due(connection, stages.collection)
    assert due is not None
    assert timedelta(hours=11.9) < due - datetime.now(UTC) < timedelta(hours=12.1)

    stages.web.robots("User-agent: *\nCrawl-delay: 0.2\n")
    stages.configure_site("/", politeness={"max_crawl_delay": 0.1})
    stages.refresh()
    assert "Crawl-delay of 0.2 seconds" in str(stages.site_error())
    stages.configure_site("/", politeness={"max_crawl_delay": 0.3})
    stages.crawl()
    assert (stages.site_error(), stages.pages()) == (None, {"/", "/a"})


def test_a_slow_site_does_not_hold_up_the_others_of_its_collection(stages: Stages, other: WebServer) -> None:
    """The sites are crawled beside each other: the second ends long before the first."""
    stages.web.robots("User-agent: *\nCrawl-delay: 0.5\n")
    stages.web.page("/", html("Start", links=["/a"]))
    stages.web.page("/a", html("A"))
    stages.configure_sites({"url": "/"}, {"url": f"http://localhost:{other.port}/"})
    report = stages.crawl()
    assert (report.added, report.failed) == (5, 0)
    assert max(other.times()) < max(stages.web.times()) - 0.5
    assert other.paths().count("/a") == 1


def test_the_pages_of_a_finished_site_are_marked_as_such(stages: Stages, other: WebServer) -> None:
    """Two sites of one domain are crawled one after the other, and nothing is being processed at the end."""
    stages.web.page("/", html("Start"))
    stages.configure_sites({"url": "/"}, {"url": f"{other.url}/"})
    stages.crawl()
    assert len(stages.rows("SELECT FROM crawled_page")) == 4
    first, second = sorted([stages.web.times(), other.times()])
    assert max(first) < min(second)
    assert not stages.status().processing


def test_slow_sites_pause_until_the_pages_of_a_finished_one_are_searchable(
    stages: Stages, other: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pause is no failure; the next run goes on where it was, also through a second pause."""
    monkeypatch.setattr(patience, "SECONDS", 0.0)
    stages.web.robots("User-agent: *\nCrawl-delay: 0.2\n")
    stages.web.page("/", html("Start", links=["/a", "/b", "/c"]))
    for path in ("/a", "/b", "/c"):
        stages.web.page(path, html(f"Page {path}"))
    stages.configure_sites({"url": "/", "politeness": {"concurrency": 1}}, {"url": f"http://localhost:{other.port}/"})
    report = stages.crawl()
    assert report.failed == 0
    fast = {f"http://localhost:{other.port}{path}" for path in ("/", "/a", "/b")}
    assert fast <= stages.pages()
    assert len(stages.pages()) < 7, "the slow site has paused"
    assert [source.listing_error for source in stages.status().sources] == [None, None]
    with stages.connection() as connection:
        assert paused_crawls(connection, stages.collection, EVERYTHING) == 1
        assert paused_crawls(connection, stages.collection, Selection(force=True)) == 0
    asked = set(stages.web.paths())
    assert stages.pending().pages
    stages.web.requests.clear()
    stages.crawl()
    assert len(stages.pages()) == 7
    assert not (asked - {"/robots.txt"}) & set(stages.web.paths())
    with stages.connection() as connection:
        assert paused_crawls(connection, stages.collection, EVERYTHING) == 0


def test_one_ingest_goes_on_through_the_pauses(
    stages: Stages, other: WebServer, monkeypatch: pytest.MonkeyPatch, exported_model: Path
) -> None:
    """Two runs follow each other, and the counts are those of one."""
    link_model(exported_model, stages.root.parent / ".sourcebook")
    monkeypatch.setattr(patience, "SECONDS", 0.0)
    stages.web.robots("User-agent: *\nCrawl-delay: 0.2\n")
    stages.web.page("/", html("Start", links=["/a", "/b"]))
    for path in ("/a", "/b"):
        stages.web.page(path, html(f"Page {path}"))
    stages.configure_sites({"url": "/", "politeness": {"concurrency": 1}}, {"url": f"http://localhost:{other.port}/"})
    started: list[int] = []
    (done,) = ingest(
        load_configuration(stages.root.parent / "sourcebook.yaml"),
        stages.database,
        collections=[stages.collection],
        selection=EVERYTHING,
        events=IngestEvents(started=lambda _, pending: started.append(pending.pages)),
    )
    assert len(started) == 2
    assert (done.assets["crawled_pages"]["added"], done.assets["documents"]["added"]) == (6, 6)
    assert (done.assets["documents"]["unchanged"], done.failed_items, done.unread_sites) == (0, 0, ())
    assert len(stages.pages()) == 6
