"""How often a host is asked."""

import asyncio
import time
from datetime import timedelta
from itertools import pairwise

import pytest

from sourcebook.web.fetching.politeness import HostLimiter, host_name
from sourcebook.web.http_types import FetchError


async def starts(limiter: HostLimiter, host: str, times: int) -> list[float]:
    """Ask for so many turns at once and note when each came."""

    async def one() -> float:
        await limiter.acquire(host)
        return time.monotonic()

    return sorted(await asyncio.gather(*(one() for _ in range(times))))


def test_starts_are_evenly_spaced() -> None:
    """At 20 a second no two starts are closer than 1/20 second, and none waits much longer than that."""
    times = asyncio.run(starts(HostLimiter(20), "h", 11))
    assert min(after - before for before, after in pairwise(times)) >= 0.0495
    assert times[-1] - times[0] < 10 / 20 * 1.5


def test_any_second_holds_at_most_the_rate() -> None:
    """Over any window of one second, with arrivals up to 50 ms early or late, there are never more than the rate."""
    times = asyncio.run(starts(HostLimiter(10), "h", 15))
    assert all(times[n + 10] - times[n] >= 1.0 + 0.045 for n in range(len(times) - 10))


def test_a_rate_below_one_is_a_long_distance() -> None:
    """Half a request a second is one every two seconds."""

    async def second_turn() -> None:
        limiter = HostLimiter(0.5)
        await limiter.acquire("h")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(limiter.acquire("h"), 0.2)
        begin = time.monotonic()
        await limiter.acquire("h")
        assert time.monotonic() - begin > 1.7  # of the two seconds, 0.2 were over

    asyncio.run(second_turn())


def test_hosts_do_not_wait_for_each_other() -> None:
    """Each host has its own pace; without a rate there is none."""

    async def two_hosts() -> None:
        limiter = HostLimiter(0.01)
        async with asyncio.timeout(60):  # a second request to one of them would wait for 100 seconds
            await asyncio.gather(limiter.acquire("a"), limiter.acquire("b"))
            await starts(HostLimiter(None), "c", 1000)

    asyncio.run(two_hosts())


def test_turns_come_in_order() -> None:
    """Who asked first goes first."""

    async def turns() -> list[int]:
        limiter = HostLimiter(200)
        order: list[int] = []

        async def one(number: int) -> None:
            await limiter.acquire("h")
            order.append(number)

        await asyncio.gather(*(one(number) for number in range(20)))
        return order

    assert asyncio.run(turns()) == list(range(20))


@pytest.mark.alone
def test_who_gives_up_waiting_takes_no_turn() -> None:
    """A cancelled wait neither blocks the host nor costs it a request."""

    async def give_up() -> float:
        limiter = HostLimiter(5)
        await limiter.acquire("h")
        begin = time.monotonic()
        waiting = [asyncio.create_task(limiter.acquire("h")) for _ in range(5)]
        await asyncio.sleep(0)  # each waits
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await limiter.acquire("h")
        return time.monotonic() - begin

    assert asyncio.run(give_up()) < 0.3


@pytest.mark.alone
def test_a_crawl_delay_slows_one_host() -> None:
    """A longer distance holds from the last request on; a shorter one changes nothing."""

    async def slowed() -> None:
        limiter = HostLimiter(100)
        limiter.slow_down("h", 0.001)
        await limiter.acquire("h")
        limiter.slow_down("h", 0.15)
        begin = time.monotonic()
        await limiter.acquire("h")
        await limiter.acquire("h")
        assert 0.29 <= time.monotonic() - begin < 0.45
        begin = time.monotonic()
        await limiter.acquire("other")
        await limiter.acquire("other")
        assert time.monotonic() - begin < 0.1

    asyncio.run(slowed())


def test_what_counts_is_when_a_request_was_sent() -> None:
    """However long connecting took since leave was given, the next request goes 1/rate after the one before was sent.

    It does not wait for the answer.
    """

    async def after_a_slow_connect() -> float:
        limiter = HostLimiter(2)
        answered = asyncio.Event()
        moments: list[float] = []

        async def slow() -> None:
            async with limiter.leave("h") as sent:
                await asyncio.sleep(0.8)  # the time that connecting takes
                moments.append(time.monotonic())
                sent()
                await answered.wait()

        connecting = asyncio.create_task(slow())
        await asyncio.sleep(0)  # it has its leave
        async with asyncio.timeout(60):
            await limiter.acquire("h")
        assert moments, "the first one is still connecting"
        waited = time.monotonic() - moments[0]
        answered.set()
        await connecting
        return waited

    assert asyncio.run(after_a_slow_connect()) >= 0.499


def test_a_request_that_could_not_be_sent_counts_from_its_end() -> None:
    """Where nothing was sent, the next request goes 1/rate after that was known; nobody waits for ever."""

    async def fail(limiter: HostLimiter) -> None:
        async with limiter.leave("h"):
            await asyncio.sleep(0.8)  # the time until it fails
            raise ConnectionRefusedError

    async def after_a_failure() -> float:
        limiter = HostLimiter(2)
        with pytest.raises(ConnectionRefusedError):
            await fail(limiter)
        begin = time.monotonic()
        async with asyncio.timeout(60):
            await limiter.acquire("h")
        return time.monotonic() - begin

    assert asyncio.run(after_a_failure()) >= 0.499


def test_a_crawl_delay_counts_from_the_first_request_also_where_there_is_no_rate() -> None:
    """What asked for robots.txt was a request: the second waits for what is left of the Crawl-delay since then."""

    async def second_turn() -> tuple[float, float]:
        limiter = HostLimiter(None)
        first = time.monotonic()
        await limiter.acquire("h")
        await asyncio.sleep(1)  # the time that the first request takes
        limiter.slow_down("h", 1.2)
        told = time.monotonic()
        await limiter.acquire("h")
        second = time.monotonic()
        return second - first, second - told

    since_the_first, since_told = asyncio.run(second_turn())
    assert since_the_first >= 1.199
    assert since_told < 1, "not all of the delay over again"


@pytest.mark.alone
def test_a_pause_holds_also_who_waits_already() -> None:
    """Retry-After keeps back everything for that host, and a shorter pause does not end a longer one."""

    async def paused() -> float:
        limiter = HostLimiter(20)
        await limiter.acquire("h")
        begin = time.monotonic()
        waiting = asyncio.create_task(limiter.acquire("h"))
        await asyncio.sleep(0)  # it waits
        limiter.pause("h", begin + 0.2)
        limiter.pause("h", begin + 0.1)
        await waiting
        return time.monotonic() - begin

    assert 0.2 <= asyncio.run(paused()) < 0.35


def test_a_pause_beyond_patience_is_told_not_waited_for() -> None:
    """Nobody sits out an hour: the caller learns how long, also who waits already."""

    async def asked() -> FetchError:
        limiter = HostLimiter(20, patience=5)
        await limiter.acquire("h")
        waiting = asyncio.create_task(limiter.acquire("h"))
        await asyncio.sleep(0)
        limiter.pause("h", time.monotonic() + 3600)
        with pytest.raises(FetchError, match="asked for a pause"):
            await waiting
        with pytest.raises(FetchError) as refused:
            await limiter.acquire("h")
        return refused.value

    error = asyncio.run(asked())
    assert error.transient
    assert error.retry_after is not None
    assert timedelta(seconds=3599) <= error.retry_after <= timedelta(seconds=3600)


def test_hosts_are_told_apart_by_name() -> None:
    """Case and port make no other host; what is no URL has none."""
    assert host_name("http://h:99999/") == host_name("mailto:me") == ""
    assert host_name("HTTPS://Docs.Example.com:8443/a") == host_name("http://docs.example.com/b") == "docs.example.com"
