"""How often a host is asked."""

import asyncio
import time
from datetime import timedelta
from itertools import pairwise

import pytest

from sourcebook.web.exchange import FetchError
from sourcebook.web.fetching.politeness import HostLimiter, host_of


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
        limiter = HostLimiter(0.1)
        async with asyncio.timeout(5):  # a second request to one of them would wait for ten seconds
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


def test_who_gives_up_waiting_takes_no_turn() -> None:
    """A cancelled wait neither blocks the host nor costs it a request."""

    async def give_up() -> float:
        limiter = HostLimiter(5)
        await limiter.acquire("h")
        begin = time.monotonic()
        waiting = [asyncio.create_task(limiter.acquire("h")) for _ in range(5)]
        await asyncio.sleep(0.01)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await limiter.acquire("h")
        return time.monotonic() - begin

    assert asyncio.run(give_up()) < 0.3


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


def test_a_pause_holds_also_who_waits_already() -> None:
    """Retry-After keeps back everything for that host, and a shorter pause does not end a longer one."""

    async def paused() -> float:
        limiter = HostLimiter(20)
        await limiter.acquire("h")
        begin = time.monotonic()
        waiting = asyncio.create_task(limiter.acquire("h"))
        await asyncio.sleep(0.01)
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
        with pytest.raises(FetchError, match="left alone"):
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
    assert host_of("http://h:99999/") == host_of("mailto:me") == ""
    assert host_of("HTTPS://Docs.Example.com:8443/a") == host_of("http://docs.example.com/b") == "docs.example.com"
