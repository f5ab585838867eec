"""The report of a crawl from the ledger, the same without keeping anything, and the dead links after an ingest."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from aiohttp import web

from sourcebook.admin.crawl_reports import crawl_notes, crawl_reports
from sourcebook.config.sites import SiteSource
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.web.crawl_report import CrawlReport
from sourcebook.web.dry_run import dry_run
from tests.integration.stages import Stages, html

SETTINGS: dict[str, Any] = {"exclude": ["/drafts/**"], "max_depth": 1}


@pytest.fixture
def site(stages: Stages) -> Stages:
    """A site of which every kind of URL exists once or twice."""
    web_ = stages.web
    links = ["/a", "/copy", "/moved", "/missing", "/secret/x", "/noindex", "/broken", "/away", "/drafts/1", "/pic.png"]
    web_.robots(f"User-agent: *\nDisallow: /secret/\nSitemap: {web_.url}/map.xml\n")
    web_.sitemap("/map.xml", ["/a", "/listed-missing"])
    web_.page("/", html("Start", links=links))
    web_.page("/a", html("A", links=["/missing", "/deep"]))
    web_.page("/copy", html("A", links=["/missing", "/deep"]))
    web_.redirect("/moved", "/a", status=301)
    web_.redirect("/away", "https://elsewhere.example/", status=301)
    web_.page("/noindex", html("Hidden", head='<meta name="robots" content="noindex">'))
    web_.page("/broken", "trouble", status=403)
    web_.page("/deep", html("Deep", links=["/too-deep"]))

    async def slow(_: web.BaseRequest) -> web.Response:
        await asyncio.sleep(0.2)  # the response takes so long
        return web.Response(text=html("Deep", links=["/too-deep"]), content_type="text/html")

    web_.route("/listed-missing", lambda _: web.Response(status=404))
    web_.page("/too-deep", html("Too deep"))
    web_.route("/deep", slow)
    return stages


def paths(stages: Stages, urls: Any) -> set[str]:
    return {str(url).removeprefix(stages.web.url) for url in urls}


def check(stages: Stages, report: CrawlReport) -> None:
    """Assert what a report of the site says, from the ledger or from a dry run."""
    assert paths(stages, (each.url for each in report.fetched)) == {"/", "/a", "/copy", "/deep"}
    assert [(each.url, each.target) for each in report.redirected] == [(stages.address("/moved"), stages.address("/a"))]
    refused = {group.rule: paths(stages, group.urls) for group in report.refused}
    assert refused == {"robots": {"/secret/x"}, "noindex": {"/noindex"}, "redirect": {"/away"}}
    dead = {
        str(each.url).removeprefix(stages.web.url): [url.removeprefix(stages.web.url) for url in each.referrers]
        for each in report.dead
    }
    assert dead == {"/missing": ["/", "/a", "/copy"], "/listed-missing": ["/map.xml"]}
    assert paths(stages, (each.url for each in report.failed)) == {"/broken"}
    assert [(each.url, each.of, each.by) for each in report.duplicates] == [
        (stages.address("/copy"), stages.address("/a"), "content")
    ]
    left_out = {group.rule: paths(stages, group.urls) for group in report.left_out}
    assert left_out == {"patterns": {"/drafts/1"}, "type": {"/pic.png"}, "max_depth": {"/too-deep"}}
    assert report.slow[0].url == stages.address("/deep")
    assert report.slow[0].seconds >= 0.2
    assert all(each.seconds is not None for each in report.fetched)
    assert report.counts["fetched"] == 4
    assert report.as_dict()["counts"]["dead"] == 2


def test_a_report_says_what_became_of_every_url(site: Stages) -> None:
    """By kind, rule, referrer and time, from the ledger, without a request."""
    site.configure_site("", **SETTINGS)
    site.crawl()
    site.web.requests.clear()
    with site.connection() as connection:
        (report,) = crawl_reports(connection, [])
        assert crawl_reports(connection, [site.collection], site.web.url) == [report]
        with pytest.raises(QueryError, match="no collection has a site"):
            crawl_reports(connection, [], "https://elsewhere.example/")
    assert (report.collection, report.error) == (site.collection, None)
    check(site, report)
    assert not site.web.requests


def test_a_dry_run_reports_the_same_and_keeps_nothing(site: Stages) -> None:
    """It needs no database, and a second one finds the same."""
    settings = {
        "url": f"{site.web.url}/",
        "politeness": {"requests_per_second": "unlimited", "concurrency": 1},
        "render": "never",
        **SETTINGS,
    }
    shown: list[tuple[int, int]] = []
    report = dry_run(SiteSource.model_validate(settings), lambda done, total, failed=0: shown.append((done, total)))
    check(site, report)
    assert (report.collection, report.error) == (None, None)
    assert shown[-1][0] == shown[-1][1] > 8
    for table in ("source", "frontier", "crawled_page", "parsed_content"):
        assert not site.rows(f"SELECT FROM {table}")


def test_a_dry_run_waits_for_another_crawl_of_the_domain(stages: Stages) -> None:
    """Both together would exceed the rate; after it the domain is free again."""
    stages.web.page("/", html("Start"))
    settings = SiteSource.model_validate(
        {"url": f"{stages.web.url}/", "politeness": {"requests_per_second": None}, "render": "never"}
    )
    waits = Event()
    with stages.connection() as other, stages.connection() as own, ThreadPoolExecutor(1) as threads:
        assert other.execute(queries["lock_host"], {"host": "127.0.0.1"}).fetchone() == (True,)
        running = threads.submit(dry_run, settings, connection=own, waiting=lambda _: waits.set())
        assert waits.wait(60)
        assert not stages.web.requests
        other.execute(queries["unlock_host"], {"host": "127.0.0.1"})
        assert running.result(60).counts["fetched"] == 1
        assert other.execute(queries["lock_host"], {"host": "127.0.0.1"}).fetchone() == (True,)
        other.execute(queries["unlock_host"], {"host": "127.0.0.1"})


def test_a_dry_run_ends_at_max_pages_and_says_what_is_beyond(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=[f"/{number}" for number in range(20)]))
    stages.web.route("/*", lambda request: html("Page", f"It holds {hash(request.path)} sacks."))
    settings = {
        "url": f"{stages.web.url}/",
        "politeness": {"requests_per_second": "unlimited"},
        "render": "never",
        "max_pages": 5,
    }
    report = dry_run(SiteSource.model_validate(settings))
    assert (report.counts["fetched"], report.counts["beyond"]) == (5, 16)
    assert len([path for path in stages.web.paths() if path[1:].isdigit()]) == 4


def test_a_dry_run_of_a_site_that_is_down_says_why(stages: Stages) -> None:
    stages.web.page("/", "trouble", status=403)
    stages.web.robots("")
    settings = {"url": f"{stages.web.url}/", "politeness": {"requests_per_second": "unlimited"}, "render": "never"}
    report = dry_run(SiteSource.model_validate(settings))
    assert "the server answers 403" in str(report.error)


def test_dead_links_are_told_with_the_pages_that_name_them(site: Stages) -> None:
    """After an ingest, grouped; a page that was removed counts as long as a page links to it."""
    site.configure_site("", **SETTINGS)
    site.crawl()
    site.web.page("/deep", "gone", status=410)
    site.refresh()
    with site.connection() as connection:
        notes = crawl_notes(connection, site.collection)
    told = {each.url.removeprefix(site.web.url): paths(site, each.referrers) for each in notes.dead_links}
    assert told == {
        "/missing": {"/", "/a", "/copy"},
        "/listed-missing": {"/map.xml"},
        "/deep": {"/a", "/copy"},
    }
    assert all("the server answers 4" in each.reason for each in notes.dead_links)
    assert notes.notices == ()
