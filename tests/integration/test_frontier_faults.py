"""The list of a site's URLs is found again by its next crawl, whatever anybody has done to it by SQL."""

from random import Random

import psycopg
import pytest

from benchmarks.harness.faults.random_fault import FaultMaker
from sourcebook.model.selection import Selection
from tests.integration.stages import Row, Stages, html

SEED = 20_261_123
ROUNDS = 12
TREE = {
    "/": ("/guide", "/pier"),
    "/guide": ("/guide/tides",),
    "/guide/tides": ("/guide/tides/low", "/"),
    "/guide/tides/low": ("/guide/tides/low/water",),
    "/guide/tides/low/water": (),
    "/pier": ("/gone",),
    "/listed": ("/listed/more",),
    "/listed/more": (),
}
"""The links of each page; one page is named by the sitemap alone, and one link leads nowhere."""


@pytest.fixture
def site(stages: Stages) -> Stages:
    """A site of pages below each other and one that only the sitemap names, crawled; nothing of it is sent twice."""
    for path, links in TREE.items():
        text = html(path, f"What {path} says of the sea.", links=links)
        stages.web.page(path, text)
    stages.web.robots(f"User-agent: *\nSitemap: {stages.web.url}/sitemap.xml\n")
    stages.web.sitemap("/sitemap.xml", ["/listed"])
    stages.configure_site("/", max_depth=3)
    stages.run()
    assert stages.pages() == set(TREE) - {"/guide/tides/low/water"}, "it is too deep"
    stages.refresh()
    stages.run()
    return stages


def frontier(stages: Stages) -> dict[str, Row]:
    """Return what decides the next crawl, by URL."""
    rows = stages.rows("SELECT source_id, url, role, listed, depth, state, redirects_to, last_error FROM frontier")
    return {row["url"]: row for row in rows}


def documents(stages: Stages) -> list[Row]:
    return stages.rows("SELECT id, uri, version, content_hash, removed_at FROM document ORDER BY uri")


def crawl(stages: Stages) -> None:
    stages.refresh()
    stages.run()
    assert not stages.pending().work
    stages.assert_sound()


def test_random_faults_in_the_list_of_urls_are_gone_after_the_next_crawl(site: Stages) -> None:
    """Rows deleted, doubled or changed: the next crawl asks for the same URLs, and every document is as before."""
    fresh, before = frontier(site), documents(site)
    with psycopg.connect(site.database.url, autocommit=True) as connection:
        connection.execute("SET search_path TO sourcebook, public")
        maker = FaultMaker(connection, Random(SEED), ["frontier"])
        for turn in range(ROUNDS):
            faults = [str(maker.make()) for _ in range(3)]
            crawl(site)
            assert frontier(site) == fresh, (turn, faults)
            assert documents(site) == before, (turn, faults)


def test_an_emptied_list_is_found_again_by_the_links_of_the_stored_pages(site: Stages) -> None:
    """Each page is asked for once more; the schedule stays, and nothing happens before it."""
    fresh, before = frontier(site), documents(site)
    with psycopg.connect(site.database.url, autocommit=True) as foreign:
        foreign.execute("TRUNCATE sourcebook.frontier")
    asked = len(site.web.requests)
    site.run()
    assert len(site.web.requests) == asked, "the site is not due"
    crawl(site)
    paths = [arrival.path for arrival in site.web.requests[asked:]]
    assert sorted(path for path in paths if path in TREE) == sorted(set(TREE) - {"/guide/tides/low/water"})
    assert frontier(site) == fresh
    assert documents(site) == before


def test_a_page_whose_url_was_lost_past_the_triggers_is_found_by_a_thorough_run(site: Stages) -> None:
    """A live page without a URL would never be asked for again, and stay when its site drops it."""
    fresh = frontier(site)
    with psycopg.connect(site.database.url, autocommit=True) as foreign:
        foreign.execute("SET search_path TO sourcebook, public")
        foreign.execute("ALTER TABLE frontier DISABLE TRIGGER USER")
        foreign.execute("DELETE FROM frontier WHERE url LIKE '%/guide/tides'")
        foreign.execute("UPDATE frontier SET state = 'gone' WHERE url LIKE '%/pier'")
    assert not site.rows("SELECT FROM source WHERE crawl_scope = ''")
    site.run(Selection(thorough=True))
    crawl(site)
    assert frontier(site) == fresh
