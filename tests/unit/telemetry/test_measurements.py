"""Counters and histograms of a process: nothing is lost, and recording costs next to nothing."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from sourcebook.telemetry.measurements import CACHE_HITS, SEARCH_RESULTS, SEARCHES, Measurements


def test_a_histogram_counts_each_value_in_one_bucket() -> None:
    """A value that equals a bound belongs to its bucket; one beyond the last bound belongs to +Inf."""
    measurements = Measurements()
    for value in (0, 5, 6, 5_000):
        measurements.record(SEARCH_RESULTS, value, "hybrid")
    name, labels = SEARCH_RESULTS.name, ("hybrid",)
    assert measurements.totals() == {
        (name, labels, "0"): 1,
        (name, labels, "5"): 1,
        (name, labels, "10"): 1,
        (name, labels, "+Inf"): 1,
        (name, labels, "sum"): 5_011,
    }


def test_no_value_of_many_threads_is_lost() -> None:
    measurements = Measurements()

    def work(_: int) -> None:
        for _ in range(5_000):
            measurements.record(CACHE_HITS, 2, "query_vectors")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert measurements.totals() == {(CACHE_HITS.name, ("query_vectors",), "total"): 80_000}


def test_growth_is_taken_once_and_can_be_given_back() -> None:
    measurements = Measurements()
    measurements.record(SEARCHES, 1, "hybrid", "ok")
    taken = measurements.take_unstored()
    assert list(taken.values()) == [1]
    assert measurements.take_unstored() == {}
    measurements.give_back(taken)
    measurements.record(SEARCHES, 1, "hybrid", "ok")
    assert list(measurements.take_unstored().values()) == [2]
    assert list(measurements.totals().values()) == [2]


def test_a_forked_process_begins_without_values() -> None:
    """Else the child would store its parent's counts a second time."""
    from sourcebook.telemetry.measurements import measurements

    measurements.record(SEARCHES, 1, "hybrid", "ok")
    child = os.fork()
    if child == 0:
        os._exit(1 if measurements.totals() else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert measurements.totals()


@pytest.mark.alone
def test_recording_takes_a_few_microseconds() -> None:
    """A search records six values, which must not be noticed beside its milliseconds."""
    measurements = Measurements()
    for _ in range(5_000):
        measurements.record(SEARCH_RESULTS, 5, "hybrid")
    started = time.perf_counter()
    for _ in range(20_000):
        measurements.record(SEARCH_RESULTS, 5, "hybrid")
    each = (time.perf_counter() - started) / 20_000
    print(f"\n{each * 1e6:.2f} µs a value, folding included")
    assert each < 10e-6
