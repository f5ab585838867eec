"""The stage `crawled_pages`: how often a host is asked, what it may forbid, and how long trouble is waited for."""

from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Self

import pytest

from sourcebook.admin.crawl_reports import crawl_notes
from sourcebook.model.selection import Selection
from sourcebook.web import frontier, visit
from sourcebook.web.due import next_due
from tests.integration.stages import Stages, html


def hub(stages: Stages, pages: int) -> None:
    """Serve a start page and so many pages that it links to."""
    stages.web.page("/", html("Start", links=[f"/{number}" for number in range(pages)]))
    for number in range(pages):
        stages.web.page(f"/{number}", html(f"Page {number}"))


def wait_of(stages: Stages, path: str) -> timedelta:
    until: datetime = stages.frontier(path)["next_attempt_at"]
    return until - datetime.now(UTC)


def next_crawl(stages: Stages) -> timedelta:
    with stages.connection() as connection:
        due = next_due(connection, stages.collection)
    assert due is not None
    return due - datetime.now(UTC)


def minutes(number: float) -> object:
    return pytest.approx(number * 60, abs=20)


def test_no_second_sees_more_requests_than_the_limit(stages: Stages) -> None:
    """Robots.txt and lists included, however many are asked for at once."""
    hub(stages, 15)
    stages.configure_site(politeness={"requests_per_second": 6, "concurrency": 16})
    stages.crawl()
    assert len(stages.pages()) == 16
    times = stages.web.times()
    assert len(times) == 18
    busiest = max(sum(start <= at < start + 1 for at in times) for start in times)
    assert busiest <= 6
    assert times[-1] - times[0] < 5, "and not much fewer"


def test_a_crawl_delay_is_kept(stages: Stages) -> None:
    stages.web.robots("User-agent: Sourcebook\nCrawl-delay: 0.4\n")
    hub(stages, 3)
    stages.configure_site(politeness={"concurrency": 8, "requests_per_second": 20})
    stages.crawl()
    gaps = [later - earlier for earlier, later in pairwise(stages.web.times())]
    assert len(gaps) == 5
    assert min(gaps) >= 0.37


def test_what_robots_forbids_is_not_asked_for_and_told(stages: Stages) -> None:
    stages.web.robots("User-agent: *\nDisallow: /private/\nAllow: /private/open\n")
    stages.web.page("/", html("Start", links=["/private/a", "/private/open", "/b"]))
    for path in ("/private/a", "/private/open", "/b"):
        stages.web.page(path, html(path))
    stages.configure_site()
    report = stages.crawl()
    assert stages.pages() == {"/", "/private/open", "/b"}
    assert (stages.web.count("/private/a"), report.extra["forbidden"], report.failed) == (0, 1, 0)
    assert "robots.txt" in stages.problems()["/private/a"]
    stages.configure_site(politeness={"respect_robots": False})
    stages.crawl()
    assert "/private/a" in stages.pages()


def test_a_site_that_forbids_everything_says_so_and_is_not_asked_further(stages: Stages) -> None:
    stages.web.robots("User-agent: *\nDisallow: /\n")
    hub(stages, 2)
    stages.configure_site()
    report = stages.crawl()
    assert (stages.web.paths(), report.failed) == (["/robots.txt"], 1)
    assert str(stages.site_error()).startswith("0 pages because robots.txt forbids them to Sourcebook")
    assert next_crawl(stages) > timedelta(hours=23)


def test_while_the_rules_are_not_known_nothing_is_asked_and_nothing_is_lost(stages: Stages) -> None:
    hub(stages, 12)
    stages.configure_site()
    stages.crawl()
    stages.web.robots("trouble", status=503)
    stages.web.requests.clear()
    report = stages.refresh()
    assert set(stages.web.paths()) == {"/robots.txt"}
    assert stages.web.count("/robots.txt") <= 3
    assert (report.removed, len(stages.pages())) == (0, 13)
    assert "robots.txt answers with status 503" in str(stages.site_error())
    assert "13 URLs wait" in str(stages.site_error())
    assert next_crawl(stages).total_seconds() == minutes(5)
    assert not stages.pending().pages, "it is not due before"

    stages.web.robots("")
    stages.due_now()
    assert stages.refresh().unchanged == 13
    assert stages.site_error() is None


def test_a_short_retry_after_is_waited_for_by_everything(stages: Stages) -> None:
    hub(stages, 4)
    stages.web.failing("/0", html("Page 0"), times=1, status=429, retry_after="1")
    stages.configure_site(politeness={"concurrency": 1})
    report = stages.crawl()
    assert (report.failed, len(stages.pages())) == (0, 5)
    first, second = stages.web.times("/0")
    assert second - first >= 1
    assert not [at for at in stages.web.times() if first < at < first + 1]


def test_a_long_retry_after_puts_off_the_rest_and_says_until_when(stages: Stages) -> None:
    hub(stages, 4)
    stages.web.failing("/1", html("Page 1"), times=1, status=429, retry_after="600")
    stages.configure_site(politeness={"concurrency": 1})
    report = stages.crawl()
    assert stages.pages() == {"/", "/0"}
    assert (report.extra["postponed"], stages.web.count("/2")) == (3, 0)
    assert "3 URLs wait" in str(stages.site_error())
    assert stages.status().sources[0].queued == 3
    assert next_crawl(stages).total_seconds() == minutes(10)
    assert not stages.pending().pages
    stages.web.requests.clear()
    assert not stages.crawl().worked
    assert not stages.web.paths()

    stages.due_now()
    stages.refresh()
    assert len(stages.pages()) == 5
    assert not stages.web.count("/"), "it goes on, and does not start over"
    assert stages.site_error() is None


class SlowClock(datetime):
    """The clock of a machine that is an hour behind the database's."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return super().now(tz) - timedelta(hours=1)


def test_a_retry_that_is_put_off_is_due_at_its_time(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a round, where a failed page is tried again by itself. The worker's clock may be wrong."""
    for module in (visit, frontier):
        monkeypatch.setattr(module, "datetime", SlowClock)
    hub(stages, 2)
    stages.web.page("/1", "trouble", status=503)
    stages.configure_site()
    stages.crawl()
    stages.web.failing("/1", html("Page 1"), times=1, status=429, retry_after="600")
    stages.due_now()
    stages.crawl()
    assert wait_of(stages, "/1").total_seconds() == minutes(10)
    assert next_crawl(stages).total_seconds() == minutes(10)
    stages.due_now()
    assert stages.pending().pages == 1
    stages.crawl()
    assert "/1" in stages.pages()


def test_a_failure_is_retried_later_and_later_and_keeps_what_was_there(stages: Stages) -> None:
    hub(stages, 2)
    stages.configure_site()
    stages.crawl()
    stages.web.page("/1", "trouble", status=500)
    report = stages.refresh()
    assert (report.failed, report.removed, len(stages.pages())) == (1, 0, 3)
    assert "500" in stages.problems()["/1"]
    assert stages.site_error() is None
    waits = [wait_of(stages, "/1")]
    stages.web.requests.clear()
    assert not stages.crawl().worked
    assert not stages.web.paths(), "not before its time"
    for _ in range(2):
        stages.due_now()
        assert stages.pending().pages == 1
        stages.crawl()
        waits.append(wait_of(stages, "/1"))
    assert [round(wait.total_seconds() / 60) for wait in waits] == [1, 2, 4]
    assert not stages.web.count("/0"), "nothing else is asked for"
    hub(stages, 2)
    stages.due_now()
    stages.crawl()
    assert not stages.problems()


def test_only_failed_tries_at_once_what_failed_and_nothing_else(stages: Stages) -> None:
    hub(stages, 3)
    stages.web.page("/1", "trouble", status=500)
    stages.web.page("/2", "who are you", status=403)
    stages.configure_site()
    stages.crawl()
    assert set(stages.problems()) == {"/1", "/2"}
    hub(stages, 3)
    stages.web.requests.clear()
    assert stages.pending(Selection(only_failed=True)).pages == 2
    stages.crawl(Selection(only_failed=True))
    assert set(stages.web.paths()) - {"/robots.txt", "/llms.txt"} == {"/1", "/2"}
    assert not stages.problems()
    assert len(stages.pages()) == 4


def test_named_urls_are_asked_for_and_nothing_else(stages: Stages) -> None:
    hub(stages, 3)
    stages.configure_site()
    stages.crawl()
    stages.web.page("/1", html("Page 1", "Other words."))
    stages.web.requests.clear()
    report = stages.crawl(Selection(documents=(stages.address("/1"),)))
    assert report.changed == 1
    assert set(stages.web.paths()) - {"/robots.txt", "/llms.txt"} == {"/1"}


def test_a_retry_while_max_pages_is_reached_does_not_keep_the_site_due(stages: Stages) -> None:
    hub(stages, 3)
    stages.web.page("/0", "trouble", status=500)
    stages.configure_site(max_pages=2, politeness={"concurrency": 1})
    stages.crawl()
    assert len(stages.pages()) == 2
    with stages.connection() as connection:
        (notice,) = crawl_notes(connection, stages.collection).notices
    assert "max_pages left out 1 of the known URLs" in notice
    stages.due_now()
    stages.refresh()
    assert stages.site_error() is None
    assert next_crawl(stages) > timedelta(seconds=30)
    assert not stages.pending().pages


def test_a_host_that_fails_again_and_again_is_left_alone_and_the_rest_waits(stages: Stages) -> None:
    hub(stages, 30)
    for number in range(30):
        stages.web.page(f"/{number}", "trouble", status=500)
    stages.configure_site(politeness={"concurrency": 2})
    report = stages.crawl()
    asked = {path for path in stages.web.paths() if path.strip("/").isdigit()}
    assert 5 <= len(asked) <= 7
    failed = len(stages.rows("SELECT FROM frontier WHERE state = 'failed'"))
    assert 5 <= failed <= 7
    assert report.extra["postponed"] == 30 - failed
    (status,) = stages.status().sources
    assert status.queued == 30 - failed
    assert status.next_crawl_at is not None
    assert f"gets no requests until {status.next_crawl_at:%H:%M}" in str(status.listing_error)
    assert (status.next_crawl_at - datetime.now(UTC)).total_seconds() == minutes(1)

    hub(stages, 30)
    stages.due_now()
    stages.refresh()
    assert len(stages.pages()) == 31
    assert stages.site_error() is None
