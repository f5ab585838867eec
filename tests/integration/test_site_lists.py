"""The stage `crawled_pages`: lists that multiply are cut, pages come meanwhile, and what was cut is said."""

from threading import current_thread
from typing import Any

import pytest
from aiohttp import web

from sourcebook.web import discovery
from sourcebook.web.lists.sitemap import Sitemap, read_sitemap
from tests.integration.stages import Stages, html


def multiply(stages: Stages, *, urls: int, lists: int) -> None:
    """Serve sitemap indexes that name more of themselves, and sitemaps of pages, without end."""

    def sitemap(request: web.BaseRequest) -> web.Response:
        name = request.path.removeprefix("/maps/").removesuffix(".xml")
        pages = "".join(f"<url><loc>{stages.web.url}/p/{name}-{number}</loc></url>" for number in range(urls))
        more = "".join(
            f"<sitemap><loc>{stages.web.url}/maps/{name}.{number}.xml</loc></sitemap>" for number in range(lists)
        )
        return web.Response(text=f"<sitemapindex>{pages}{more}</sitemapindex>", content_type="application/xml")

    stages.web.route("/maps/*", sitemap)
    stages.web.route("/p/*", lambda request: html(f"Page {request.path}"))


def notices(stages: Stages) -> dict[str, str]:
    rows = stages.rows("SELECT url, last_error FROM frontier WHERE role <> 'page' AND last_error IS NOT NULL")
    return {row["url"].removeprefix(stages.web.url): row["last_error"] for row in rows}


def test_levels_of_lists_are_bounded(stages: Stages) -> None:
    """An index in an index in an index is read, one more is not, and each list that named one says so."""
    multiply(stages, urls=1, lists=2)
    stages.configure_site("/maps/a.xml")
    stages.crawl()
    asked = [path for path in stages.web.paths() if path.startswith("/maps/")]
    assert len(asked) == 1 + 2 + 4 + 8
    assert len(stages.pages()) == 15
    told = notices(stages)
    assert len(told) == 8
    assert all("2 lists that it names are not read" in notice for notice in told.values())
    stages.web.requests.clear()
    stages.refresh()
    assert sorted(path for path in stages.web.paths() if path.startswith("/maps/")) == sorted(asked)


def test_a_list_is_read_beside_the_visits(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of 50,000 URLs takes more than a second, in which responses would wait and time limits would pass."""
    threads: list[str] = []

    def read(body: bytes, base_url: str, *, max_bytes: int) -> Sitemap:
        threads.append(current_thread().name)
        return read_sitemap(body, base_url, max_bytes=max_bytes)

    monkeypatch.setattr("sourcebook.web.visit.read_sitemap", read)
    multiply(stages, urls=2, lists=0)
    stages.configure_site("/maps/a.xml")
    stages.crawl()
    assert len(stages.pages()) == 2
    assert len(threads) == 1
    assert threads[0].startswith("cleaner")


def test_pages_come_while_lists_multiply(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of lists is bounded, and long before the last one pages are read."""
    monkeypatch.setattr(discovery, "MOST_LISTS", 60)
    multiply(stages, urls=2, lists=9)
    stages.configure_site("/maps/a.xml", max_pages=50)
    report = stages.crawl()
    paths = stages.web.paths()
    lists = [place for place, path in enumerate(paths) if path.startswith("/maps/")]
    pages = [place for place, path in enumerate(paths) if path.startswith("/p/")]
    assert len(lists) <= 61
    assert len(pages) == 50
    assert pages[0] < lists[30], "the first page comes before half of the lists"
    assert any("no more than 60 lists are" in reason for reason in notices(stages).values())
    assert any("no more than 60 lists are" in failure.reason for failure in report.failures)
    assert stages.site_error() is None

    stages.web.requests.clear()
    stages.refresh()
    assert sum(path.startswith("/maps/") for path in stages.web.paths()) <= 61, "nor does it grow with each round"


def test_urls_of_a_list_and_of_all_lists_are_bounded(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left out is said with its number; the rest of the site is crawled."""
    monkeypatch.setattr(discovery, "MOST_URLS", 30)
    monkeypatch.setattr(discovery, "MOST_URLS_TOGETHER", 70)
    stages.web.sitemap_index("/all.xml", [f"/{name}.xml" for name in "abc"])
    for name in "abc":
        stages.web.sitemap(f"/{name}.xml", [f"/p/{name}{number}" for number in range(40)])
    stages.web.route("/p/*", lambda request: html(f"Page {request.path}"))
    stages.configure_site("/all.xml", max_pages=20, politeness={"concurrency": 1})
    stages.crawl()
    assert len(stages.pages()) == 20
    assert len(stages.rows("SELECT FROM frontier WHERE role = 'page'")) == 70
    told = notices(stages)
    assert told["/a.xml"] == "10 of its 40 URLs are left out: no more than 30 of a list are taken"
    assert told["/c.xml"] == "30 of its 40 URLs are left out: no more than 70 of all lists together are taken"


def test_a_sitemap_never_makes_a_list_of_a_page(stages: Stages) -> None:
    """A page that an index names as a sitemap stays a page; the start that names itself stays the start."""
    stages.web.page("/", html("Start", links=["/about"]))
    stages.web.robots(f"Sitemap: {stages.web.url}/all.xml\n")
    stages.web.page("/about", html("About"))
    stages.configure_site("/")
    stages.crawl()
    stages.web.sitemap_index("/all.xml", ["/about", "/", "/all.xml"])
    stages.refresh()
    stages.refresh()
    assert stages.pages() == {"/", "/about"}
    assert stages.site_error() is None
    assert (stages.frontier("/")["role"], stages.frontier("/")["depth"]) == ("start", 0)


@pytest.mark.parametrize(("settings", "found"), [({}, {"new"}), ({"follow_links": False}, set())])
def test_feeds_that_the_first_page_names_are_read(stages: Stages, settings: dict[str, Any], found: set[str]) -> None:
    """What a feed announces is found before a page links to it; feeds of other sites are not read."""
    link = '<link rel="alternate" type="application/{kind}+xml" href="{url}">'
    head = link.format(kind="atom", url="news.xml") + link.format(kind="rss", url="https://else.example/rss.xml")
    stages.web.page("/", f"<html><head>{head}</head><body><h1>News</h1><p>Of the harbour.</p></body></html>")
    entry = f"<entry><link href='{stages.web.url}/new'/><updated>2026-11-20</updated></entry>"
    stages.web.page("/news.xml", f"<feed>{entry}</feed>", content_type="application/atom+xml")
    stages.web.page("/new", html("New", "The barnacle line."))
    stages.configure_site(**settings)
    stages.run()
    assert stages.found("barnacle") == found
    assert not stages.problems()
