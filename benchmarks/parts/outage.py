"""Searches of eight threads while the database is away: typed errors in time, and working again by themselves."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchmarks.corpora.markdown_files import write_corpus
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION, Library
from benchmarks.harness.report import Row, say
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import LIBRARY_DATABASE
from sourcebook.database.postmaster import running_postmaster
from sourcebook.errors import DatabaseError
from sourcebook.knowledge_base import KnowledgeBase

_OUTAGES = (5, 20, 40, 60)
"""Lengths of the outages, in seconds."""
_THREADS = 8
_FILES = 200
_BEFORE, _AFTER = 2.0, 8.0
"""Seconds of searches before and after an outage."""
_PAUSE = 0.02
"""Seconds between two searches of a thread."""
_TYPED_WITHIN, _BACK_WITHIN = 5.0, 2.0
"""Bars, in seconds."""


@dataclass(frozen=True, slots=True)
class _Search:
    started: float
    ended: float
    error: Exception | None


@dataclass
class _Searchers:
    """Threads that search all the time."""

    knowledge: KnowledgeBase
    searches: list[_Search] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def search(self) -> None:
        while not self.stopped.wait(_PAUSE):
            started, failure = time.monotonic(), None
            try:
                self.knowledge.search("the lighthouse keeper", COLLECTION, literal=True)
            except Exception as error:  # noqa: BLE001 - the kind is measured
                failure = error
            self.searches.append(_Search(started, time.monotonic(), failure))


def run(bench: Bench) -> list[Row]:
    """Ingest a few files, then kill and start the server for each length of an outage."""
    library = bench.library("outage")
    write_corpus(library.files, _FILES)
    library.ingest(COLLECTION)
    rows: list[Row] = []
    server = EmbeddedServer(library.home / "postgres")
    try:
        for seconds in _OUTAGES:
            say(f"  away for {seconds} s …")
            rows += _rows(seconds, *_measure(library, server, seconds))
    finally:
        server.close()
    bench.drop(library)
    return rows


def _measure(library: Library, server: EmbeddedServer, seconds: float) -> tuple[list[_Search], float]:
    """Return every search, and the moment of the server's return."""
    with KnowledgeBase.connect(server.url(LIBRARY_DATABASE), home=library.home) as knowledge:
        knowledge.prewarm(COLLECTION)
        searchers = _Searchers(knowledge)
        threads = [threading.Thread(target=searchers.search) for _ in range(_THREADS)]
        for thread in threads:
            thread.start()
        time.sleep(_BEFORE)
        found = running_postmaster(server.folder)
        assert found is not None, "the server runs"
        os.kill(found.pid, signal.SIGKILL)
        time.sleep(seconds)
        server.revive()
        back = time.monotonic()
        time.sleep(_AFTER)
        searchers.stopped.set()
        for thread in threads:
            thread.join()
    return searchers.searches, back


def _rows(seconds: int, searches: list[_Search], back: float) -> Iterator[Row]:
    failed = [search for search in searches if search.error is not None]
    untyped = [search for search in failed if not isinstance(search.error, DatabaseError)]
    good = [search.ended for search in searches if search.error is None and search.ended > back]
    longest = max((search.ended - search.started for search in failed), default=0.0)
    name = f"away for {seconds} s"
    yield Row(f"{name}: longest time until an error", longest, "s", _TYPED_WITHIN, note=f"{len(failed):,} errors")
    kinds = ", ".join(sorted({type(search.error).__name__ for search in untyped}))
    yield Row(f"{name}: errors that are not DatabaseError", len(untyped), "", 0, note=kinds)
    yield Row(f"{name}: first good search after", min(good, default=back + _AFTER) - back, "s", _BACK_WITHIN)
