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


def by_hand(stages: Stages, *statements: str) -> None:
    """Change the list of URLs as somebody does who is not the library."""
    with psycopg.connect(stages.database.url, autocommit=True) as foreign:
        foreign.execute("SET search_path TO sourcebook, public")
        for statement in statements:
            foreign.execute(statement.encode())


def test_a_sitemap_at_the_place_of_a_start_is_none(site: Stages) -> None:
    """A site that starts with a list is not followed by links: whether one does is not asked of the changed list."""
    fresh, before = frontier(site), documents(site)
    by_hand(
        site,
        "UPDATE frontier SET depth = 1 WHERE url LIKE '%/sitemap.xml'",
        "UPDATE frontier SET url = url || ' changed' WHERE url LIKE '%/pier'",
        "DELETE FROM frontier WHERE url LIKE '%/guide'",
    )
    crawl(site)
    assert frontier(site) == fresh
    assert documents(site) == before


def test_a_site_that_starts_with_a_list_is_no_larger_after_its_row_was_lost(stages: Stages) -> None:
    """Links of its pages lead on: they would be followed if the start were taken for a page."""
    stages.web.sitemap("/map.xml", ["/tides"])
    stages.web.page("/tides", html("Tides", links=["/private"]))
    stages.web.page("/private", html("Private"))
    stages.configure_site("/map.xml")
    stages.run()
    fresh = frontier(stages)
    by_hand(stages, "DELETE FROM frontier WHERE url LIKE '%/map.xml'")
    crawl(stages)
    assert stages.pages() == {"/tides"}
    assert frontier(stages) == fresh


def test_pages_that_no_link_leads_to_keep_their_depth(stages: Stages) -> None:
    """One behind a redirect, and those below a start that redirects, are no nearer to it than they were."""
    stages.web.redirect("/", "/docs/en/")
    stages.web.page("/docs/en/", html("Docs", links=["/about", "/old"]))
    stages.web.page("/about", html("About"))
    stages.web.redirect("/old", "/new")
    stages.web.page("/new", html("New", links=["/new/deep"]))
    stages.web.page("/new/deep", html("Deep", links=["/new/deep/deeper"]))
    stages.web.page("/new/deep/deeper", html("Deeper"))
    stages.configure_site("/", max_depth=2)
    stages.run()
    stages.refresh()
    stages.run()
    assert stages.pages() == {"/docs/en/", "/about", "/new", "/new/deep"}
    fresh, before = frontier(stages), documents(stages)
    by_hand(
        stages,
        "UPDATE frontier SET redirects_to = redirects_to || 'changed', depth = depth + 1",
    )
    crawl(stages)
    assert frontier(stages) == fresh
    assert documents(stages) == before


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
