"""The stage `crawled_pages`: a round of a crawl ends, whatever the server does in between."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web

from sourcebook.model.selection import Selection
from tests.integration.stages import Stages, html

PAGES = 90
MOST = 30


class Outage:
    """A site of pages that answers so many requests and is then down, until it is mended."""

    def __init__(self, stages: Stages, answer: Callable[[web.BaseRequest], web.Response], *, after: int) -> None:
        self._left = after
        self._answer = answer
        self.mended = False
        stages.web.route("/robots.txt", self._serve)
        stages.web.route("/*", self._serve)

    def _serve(self, request: web.BaseRequest) -> web.Response:
        if not self.mended:
            self._left -= 1
            if self._left < 0:
                return self._answer(request)
        if request.path == "/robots.txt":
            return web.Response(text="", content_type="text/plain")
        links = [f"/{number}" for number in range(PAGES)] if request.path == "/" else []
        return web.Response(
            text=html("Page", f"It holds {hash(request.path)} sacks.", links=links), content_type="text/html"
        )


def dead(request: web.BaseRequest) -> web.Response:
    """Answer by a broken connection."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def overloaded(_: web.BaseRequest) -> web.Response:
    return web.Response(status=503, headers={"Retry-After": "600"})


def too_many(_: web.BaseRequest) -> web.Response:
    return web.Response(status=429, headers={"Retry-After": "600"})


def states(stages: Stages) -> dict[str, int]:
    rows = stages.rows("SELECT state, count(*) AS urls FROM frontier WHERE role <> 'list' GROUP BY state")
    return {row["state"]: row["urls"] for row in rows}


def let_time_pass(stages: Stages) -> None:
    """Let every pause of the site and its URLs be over."""
    stages.due_now()
    stages.rows("UPDATE source SET next_crawl_at = now() WHERE kind = 'site' RETURNING 1")


@pytest.mark.parametrize("answer", [dead, overloaded, too_many])
def test_a_round_ends_after_an_outage_in_its_middle(
    stages: Stages, answer: Callable[[web.BaseRequest], web.Response]
) -> None:
    """What is beyond max_pages is `beyond`, and the next round looks at the known pages again."""
    outage = Outage(stages, answer, after=12)
    stages.configure_site("/", max_pages=MOST, politeness={"concurrency": 2})
    stages.crawl()
    assert len(stages.pages()) < MOST
    assert states(stages)["queued"] > MOST
    assert stages.site_error()

    outage.mended = True
    let_time_pass(stages)
    report = stages.crawl()
    assert (len(stages.pages()), report.extra.get("postponed", 0)) == (MOST, 0)
    let_time_pass(stages)
    stages.crawl()
    assert (stages.site_error(), len(stages.pages())) == (None, MOST)
    counts = states(stages)
    assert counts.pop("fetched") == MOST
    assert counts.get("beyond", 0) + counts.get("failed", 0) == PAGES + 1 - MOST
    assert "queued" not in counts
    assert stages.status().sources[0].queued == 0

    stages.web.requests.clear()
    assert stages.refresh().unchanged == MOST
    asked = {path for path in stages.web.paths() if path not in {"/robots.txt", "/llms.txt"}}
    assert len(asked) >= MOST, "known pages are looked at again"


def test_a_round_ends_after_robots_txt_was_not_readable(stages: Stages) -> None:
    """The same for a robots.txt with 5xx or 429, in the middle of a round."""
    outage = Outage(stages, overloaded, after=12)
    stages.configure_site("/", max_pages=MOST, politeness={"concurrency": 2})
    stages.crawl()
    outage.mended = True
    for status in (503, 429):
        stages.web.page("/robots.txt", "trouble", status=status, headers={"Retry-After": "600"})
        let_time_pass(stages)
        stages.web.requests.clear()
        stages.crawl()
        assert set(stages.web.paths()) == {"/robots.txt"}
        assert stages.web.count("/robots.txt") == 1, "it is asked for once, not for each page"
        assert f"{status}" in str(stages.site_error())
    stages.web.robots("")
    let_time_pass(stages)
    stages.crawl()
    assert (len(stages.pages()), stages.site_error()) == (MOST, None)
    assert "queued" not in states(stages)


def test_one_page_that_always_asks_to_wait_does_not_hold_up_the_site(stages: Stages) -> None:
    """Every page but this one is read, the round ends, and the page is retried by itself."""
    stages.web.page("/", html("Start", links=["/0", "/1", "/2", "/3"]))
    for number in range(4):
        stages.web.page(f"/{number}", html(f"Page {number}"))
    stages.web.page("/1", "wait", status=429, headers={"Retry-After": "600"})
    stages.configure_site("/", politeness={"concurrency": 1})
    for _ in range(5):
        let_time_pass(stages)
        stages.crawl()
    assert stages.pages() == {"/", "/0", "/2", "/3"}
    assert (stages.site_error(), stages.frontier("/1")["state"]) == (None, "failed")
    assert stages.frontier("/1")["next_attempt_at"] - datetime.now(UTC) > timedelta(minutes=5)
    stages.web.requests.clear()
    stages.refresh(Selection(force=True))
    assert {"/0", "/2", "/3"} <= set(stages.web.paths())
    stages.web.page("/1", html("Page 1"))
    let_time_pass(stages)
    stages.crawl()
    assert "/1" in stages.pages()


def test_progress_counts_against_all_that_is_known_and_what_waits_stays_in_it(stages: Stages) -> None:
    """What a sitemap names is known at once, and a URL that is postponed is not done."""
    paths = [f"/{number}" for number in range(20)]
    stages.web.sitemap("/sitemap.xml", paths)
    for path in paths:
        stages.web.page(path, html(f"Page {path}"))
    stages.web.failing("/5", html("Page /5"), times=1, status=429, retry_after="600")
    stages.configure_site("/sitemap.xml", politeness={"concurrency": 1})
    seen: list[tuple[int, int, int]] = []

    def note(done: int, total: int, failed: int = 0) -> None:
        seen.append((done, total, failed))

    report = stages.crawled_pages(progress=note)
    done, known, failed = seen[-1]
    assert {known for _, known, _ in seen[1:]} == {1 + len(paths)}
    assert (known - done, failed) == (report.extra["postponed"], 0)
    assert [each for each, _, _ in seen] == sorted(each for each, _, _ in seen)
    assert 1 < done < known
