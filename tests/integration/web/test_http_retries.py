"""A URL with patience: the host's pace, what is tried again, and what is left alone."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from typing import TypeVar

import pytest

from sourcebook.config.sites import SiteSource
from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.fetcher import HttpFetcher
from sourcebook.web.fetching.politeness import HostLimiter
from sourcebook.web.fetching.retries import fetch_with_retries
from sourcebook.web.http_types import FetchError, Request, Response
from tests.waiting import until
from tests.web_server import WebServer

T = TypeVar("T")
Fetch = Callable[[str], Coroutine[None, None, Response]]
HOST = "127.0.0.1"


class Visit:
    """What one crawl of the server would share: a limiter and a breaker."""

    def __init__(self, server: WebServer, *, rate: float | None = None, patience: float = 30) -> None:
        self.settings = SiteSource.model_validate({"url": server.url, "request": {"timeout": "5s"}})
        self.server = server
        self.limiter = HostLimiter(rate, patience=patience)
        self.breaker = CircuitBreaker()

    def run(self, work: Callable[[Fetch], Awaitable[T]]) -> T:
        async def with_fetcher() -> T:
            async with HttpFetcher(self.settings) as fetcher:

                async def fetch(path: str) -> Response:
                    request = Request(f"{self.server.url}{path}")
                    return await fetch_with_retries(fetcher, self.limiter, self.breaker, request)

                return await work(fetch)

        return asyncio.run(with_fetcher())

    def fetch(self, path: str) -> Response:
        return self.run(lambda fetch: fetch(path))


@pytest.mark.alone
def test_trouble_that_passes_is_sat_out(server: WebServer) -> None:
    """Twice an error of the server, then the page: that is a page, after growing waits."""
    paths = {f"/{status}": status for status in (500, 502, 503, 504)}
    for path, status in paths.items():
        server.failing(path, "<p>up again</p>", times=2, status=status)
    with ThreadPoolExecutor(len(paths)) as visits:
        pages = list(visits.map(lambda path: Visit(server).fetch(path), paths))
    assert [page.body for page in pages] == [b"<p>up again</p>"] * len(paths)
    for path in paths:
        first, second, third = server.times(path)
        assert 0.5 <= second - first < 1.5
        assert 1.0 <= third - second < 2.0


def test_trouble_that_stays_is_the_answer(server: WebServer) -> None:
    """After three attempts the status is what there is to say, and counts once for the breaker."""
    server.page("/a", "", status=500)
    visit = Visit(server)
    assert visit.fetch("/a").status == 500
    assert server.count("/a") == 3
    assert visit.breaker.refusal(HOST) is None


@pytest.mark.parametrize("status", [404, 410, 403, 501])
def test_an_answer_that_will_not_change_is_asked_for_once(server: WebServer, status: int) -> None:
    """A page that is gone is gone."""
    server.page("/a", "", status=status)
    assert Visit(server).fetch("/a").status == status
    assert server.count("/a") == 1


def test_an_error_that_will_not_pass_is_raised_at_once(server: WebServer) -> None:
    """An encoding that lies will lie again."""
    server.packed("/a", b"no gzip")
    with pytest.raises(FetchError, match="not valid gzip"):
        Visit(server).fetch("/a")
    assert server.count("/a") == 1


@pytest.mark.alone
def test_a_429_is_waited_for_as_told_by_everything(server: WebServer) -> None:
    """After Retry-After the page comes; meanwhile nothing else is sent to that host."""
    server.failing("/a", "<p>now</p>", times=1, status=429, retry_after="1")
    server.page("/b", "<p>b</p>")

    async def both(fetch: Fetch) -> list[bytes]:
        first = asyncio.create_task(fetch("/a"))
        await asyncio.sleep(0.3)  # time in which nothing else must come
        assert server.paths() == ["/a"]
        second = await fetch("/b")
        return [(await first).body, second.body]

    visit = Visit(server)
    assert visit.run(both) == [b"<p>now</p>", b"<p>b</p>"]
    told, *later = server.times()
    assert all(1.0 <= at - told < 2.0 for at in later)
    assert visit.breaker.refusal(HOST) is None


@pytest.mark.parametrize("status", [429, 503])
def test_a_long_wait_is_told_to_the_caller(server: WebServer, status: int) -> None:
    """An hour is not sat out: the caller learns of it, and so does whoever asks that host next."""
    server.failing("/a", "", times=9, status=status, retry_after="3600")
    visit = Visit(server)
    with pytest.raises(FetchError, match=f"status {status}") as told:
        visit.fetch("/a")
    assert told.value.retry_after == timedelta(hours=1)
    assert told.value.transient
    assert not told.value.host_failed
    with pytest.raises(FetchError, match="asked for a pause") as refused:
        visit.fetch("/b")
    assert refused.value.retry_after is not None
    assert server.paths() == ["/a"]


def test_a_429_that_says_nothing_more_is_tried_again(server: WebServer) -> None:
    """Without Retry-After the usual waits have to do; a host that stays with it has not failed."""
    server.page("/a", "", status=429)
    visit = Visit(server)
    with pytest.raises(FetchError, match="asks for fewer requests") as told:
        visit.fetch("/a")
    assert server.count("/a") == 3
    assert told.value.transient
    assert not told.value.host_failed


def test_a_connection_that_breaks_is_tried_again(server: WebServer) -> None:
    """A host that was away for a moment."""
    server.page("/a", "<p>back</p>")
    server.down = True

    async def come_back(fetch: Fetch) -> Response:
        page = asyncio.create_task(fetch("/a"))
        await until(lambda: server.paths() == ["/a"])
        server.down = False
        return await page

    assert Visit(server).run(come_back).body == b"<p>back</p>"


def test_a_host_that_is_down_is_left_alone(server: WebServer) -> None:
    """Of a thousand URLs of a dead host a handful of requests are sent, then all fail at once, saying until when."""
    server.down = True
    visit = Visit(server)

    async def many(fetch: Fetch) -> list[Response | BaseException]:
        return await asyncio.gather(*(fetch(f"/{number}") for number in range(5)), return_exceptions=True)

    assert all(isinstance(error, FetchError) for error in visit.run(many))
    assert visit.breaker.refusal(HOST) is not None
    sent = len(server.requests)
    assert sent == 5
    with pytest.raises(FetchError, match=r"no requests until .* UTC; the last reason: .*without an answer") as refused:
        visit.fetch("/more")
    assert refused.value.host_failed
    assert len(server.requests) == sent


@pytest.mark.alone
def test_the_rate_holds_over_any_second(server: WebServer) -> None:
    """With 16 at once, retries among them, no window of a second sees more than ten arrivals."""
    server.page("/*", "<p>page</p>")
    server.failing("/3", "<p>page</p>", times=2)
    server.failing("/7", "<p>page</p>", times=1, status=500)

    async def many(fetch: Fetch) -> None:
        await asyncio.gather(*(fetch(f"/{number}") for number in range(16)))

    Visit(server, rate=10).run(many)
    times = server.times()
    assert len(times) == 19
    assert all(times[number + 10] - times[number] > 1.0 for number in range(len(times) - 10))
    assert all(after - before > 0.08 for before, after in pairwise(times))


def test_retries_say_nothing(server: WebServer, capfd: pytest.CaptureFixture[str]) -> None:
    """stamina prints each retry where nobody tells it not to."""
    server.failing("/a", "<p>now</p>", times=1)
    begin = time.monotonic()
    Visit(server).fetch("/a")
    assert time.monotonic() - begin > 0.5
    assert capfd.readouterr() == ("", "")
