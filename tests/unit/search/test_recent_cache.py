"""A cache that computes each value once, and forgets the least recently used."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sourcebook.errors import ModelError
from sourcebook.search.recent_cache import RecentCache
from tests.waiting import wait_until


def test_a_value_asked_for_again_is_not_computed_again() -> None:
    """The identical value comes back, and the hit is counted."""
    cache = RecentCache[str, list[int]](10)
    first = cache.get_or_compute("battery", lambda: [7])
    assert cache.get_or_compute("battery", pytest.fail) is first
    assert (cache.hits, cache.misses, len(cache)) == (1, 1, 1)


def test_the_least_recently_used_is_forgotten_first() -> None:
    """However many values are computed or added, no more than the capacity are kept."""
    cache = RecentCache[str, str](2)
    for text in ("a", "b", "a", "c", "a"):
        cache.get_or_compute(text, lambda text=text: text)  # type: ignore[misc]
    assert (cache.hits, cache.misses, len(cache)) == (2, 3, 2)
    cache.get_or_compute("b", lambda: "b")
    assert cache.misses == 4
    scores = RecentCache[str, float](2)
    scores.add("high", 0.5)
    scores.add("low", 0.0)
    assert scores.get("high") == 0.5
    scores.add("tide", 0.25)
    assert (scores.get("high"), scores.get("low"), scores.get("tide")) == (0.5, None, 0.25)


def test_threads_that_ask_at_once_wait_for_one_value() -> None:
    """Eight threads, one computation, which begins only when all have asked."""
    cache = RecentCache[str, object](10)
    threads = 8
    asked, computed = threading.Barrier(threads), []

    def compute() -> object:
        computed.append("battery")
        wait_until(lambda: cache.hits == threads - 1, every=0.001)
        return object()

    def ask(_: int) -> object:
        asked.wait(60)
        return cache.get_or_compute("battery", compute)

    with ThreadPoolExecutor(threads) as executor:
        values = list(executor.map(ask, range(threads)))
    assert computed == ["battery"]
    assert all(value is values[0] for value in values)
    assert (cache.hits, cache.misses) == (threads - 1, 1)


def test_a_failure_is_raised_and_not_kept() -> None:
    """Every thread that waited receives the error; the next one that asks computes again."""
    cache = RecentCache[str, int](10)

    def fail() -> int:
        wait_until(lambda: cache.hits or not waiting.is_alive(), every=0.001)
        raise ModelError("closed")

    heard: list[str] = []

    def wait() -> None:
        wait_until(lambda: cache.misses, every=0.001)
        with pytest.raises(ModelError) as error:
            cache.get_or_compute("battery", pytest.fail)
        heard.append(str(error.value))

    waiting = threading.Thread(target=wait)
    waiting.start()
    with pytest.raises(ModelError, match="closed"):
        cache.get_or_compute("battery", fail)
    waiting.join(60)
    assert heard == ["closed"]
    assert len(cache) == 0
    assert cache.get_or_compute("battery", lambda: 7) == 7
