"""The end of a worker's pipe: counters that it tells and asks for, and the end of whoever watches it."""

import threading
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import pytest

from sourcebook.server.problems import CountersError
from sourcebook.server.workers import link as link_module
from sourcebook.server.workers.link import Link
from sourcebook.server.workers.messages import Asked, Count, Counted, Ready, Sums
from sourcebook.telemetry.measurements import CACHE_HITS, measurements

PART = ("cache_hits", ("of this test",), "total")
Pair = tuple[Link, "Connection[Any, Any]", threading.Event]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A link that listens, the other end of its pipe, and an event that is set when it takes the other for ended."""
    theirs, ours = Pipe()
    ended = threading.Event()
    link = Link(ours, ended.set)
    link.listen()
    yield link, theirs, ended
    theirs.close()
    assert ended.wait(60)


def test_a_link_tells_its_counters_when_it_is_asked(pair: Pair) -> None:
    link, theirs, _ = pair
    link.ready()
    assert theirs.recv() == Ready()
    measurements.record(CACHE_HITS, 3.0, "of this test")
    theirs.send(Count())
    told = theirs.recv()
    assert isinstance(told, Counted)
    assert told.totals[PART] >= 3.0


def test_sums_are_those_that_were_asked_for(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """A late answer to an earlier question is none: its counters would be lower than those that were shown since."""
    link, theirs, _ = pair
    monkeypatch.setattr(link_module, "_SECONDS_TO_ANSWER", 0.02)
    with pytest.raises(CountersError, match="ask again"):
        link.totals()
    monkeypatch.setattr(link_module, "_SECONDS_TO_ANSWER", 30.0)
    asked: list[int] = []

    def answer() -> None:
        while len(asked) < 2:
            message = theirs.recv()
            if isinstance(message, Asked):
                asked.append(message.number)
        for number in asked:
            theirs.send(Sums(number, {PART: float(number)}))

    answering = threading.Thread(target=answer)
    answering.start()
    assert link.totals() == {PART: 2.0}
    answering.join()


def test_a_worker_ends_with_the_process_that_watches_it(pair: Pair) -> None:
    link, theirs, ended = pair
    assert not ended.is_set()
    theirs.close()
    assert ended.wait(60)
    link.tell()  # to nobody
