import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from sourcebook.embedding.query_cache import QueryCache
from sourcebook.errors import ModelError
from tests.waiting import wait_until


def vector_of(text: str) -> NDArray[np.float32]:
    """A vector that tells its text."""
    return np.full(4, len(text), np.float32)


def test_a_question_asked_again_is_not_computed_again() -> None:
    """The very same vector comes back, which nobody can change, and the hit is counted."""
    cache = QueryCache()
    first = cache.embed("model", "battery", vector_of)
    assert cache.embed("model", "battery", pytest.fail) is first
    assert (cache.hits, cache.misses, len(cache)) == (1, 1, 1)
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 7


def test_each_model_and_each_text_has_its_own_vector() -> None:
    """Neither another model's vector nor that of a text in other capitals is given."""
    cache = QueryCache()
    cache.embed("model", "battery", vector_of)
    cache.embed("other", "battery", vector_of)
    cache.embed("model", "Battery", vector_of)
    assert (cache.hits, cache.misses, len(cache)) == (0, 3, 3)


def test_the_one_that_was_asked_longest_ago_goes_first() -> None:
    """However many questions are asked, no more than the capacity are kept."""
    cache = QueryCache(2)
    for text in ("a", "b", "a", "c", "a"):
        cache.embed("model", text, vector_of)
    assert (cache.hits, cache.misses, len(cache)) == (2, 3, 2)
    cache.embed("model", "b", vector_of)
    assert cache.misses == 4


def test_threads_that_ask_the_same_at_once_wait_for_one_vector() -> None:
    """Eight threads, one computation, which begins only when all have asked."""
    cache = QueryCache()
    threads = 8
    asked, computed = threading.Barrier(threads), []

    def compute(text: str) -> NDArray[np.float32]:
        computed.append(text)
        wait_until(lambda: cache.hits == threads - 1, every=0.001)
        return vector_of(text)

    def ask(_: int) -> NDArray[np.float32]:
        asked.wait(20)
        return cache.embed("model", "battery", compute)

    with ThreadPoolExecutor(threads) as executor:
        vectors = list(executor.map(ask, range(threads)))
    assert computed == ["battery"]
    assert all(vector is vectors[0] for vector in vectors)
    assert (cache.hits, cache.misses) == (threads - 1, 1)


def test_a_failure_is_told_and_not_kept() -> None:
    """Whoever waited hears of it too; the next one who asks tries again."""
    cache = QueryCache()

    def fail(_: str) -> NDArray[np.float32]:
        wait_until(lambda: cache.hits or not waiting.is_alive(), every=0.001)
        raise ModelError("closed")

    heard: list[str] = []

    def wait() -> None:
        wait_until(lambda: cache.misses, every=0.001)
        with pytest.raises(ModelError) as error:
            cache.embed("model", "battery", pytest.fail)
        heard.append(str(error.value))

    waiting = threading.Thread(target=wait)
    waiting.start()
    with pytest.raises(ModelError, match="closed"):
        cache.embed("model", "battery", fail)
    waiting.join(20)
    assert heard == ["closed"]
    assert len(cache) == 0
    assert cache.embed("model", "battery", vector_of)[0] == 7
