"""Counters and histograms of this process, recorded without waiting for a lock."""

import os
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

_FOLD_AT = 1_024
"""Recorded values at which a recording thread adds them to the totals."""
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Bounds of latencies in seconds."""

Part = tuple[str, tuple[str, ...], str]
"""Name of a metric, values of its labels, and `total`, `sum` or the upper bound of a bucket."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A counter, or a histogram where it has buckets."""

    name: str
    """Name without the prefix `sourcebook_` and without the suffix `_total`."""
    description: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    """Upper bounds in ascending order; empty for a counter."""

    def part(self, value: float) -> str:
        """Return the bucket of a value as its upper bound; `total` for a counter."""
        if not self.buckets:
            return "total"
        place = bisect_left(self.buckets, value)
        return repr(self.buckets[place]) if place < len(self.buckets) else "+Inf"


SEARCHES = Metric(
    "searches",
    "Searches by outcome: ok, query_error, database_error, model_error, error.",
    ("mode", "outcome"),
)
SEARCH_SECONDS = Metric("search_seconds", "Duration of searches in seconds.", ("mode",), _SECONDS)
SEARCH_PART_SECONDS = Metric(
    "search_leg_seconds",
    "Duration of the parts of searches in seconds: vector, keyword, embedding, ordering, reading.",
    ("leg",),
    _SECONDS,
)
REQUESTS = Metric("requests", "Requests to the server by operation and status.", ("operation", "status"))
REQUEST_SECONDS = Metric("request_seconds", "Duration of requests to the server in seconds.", ("operation",), _SECONDS)
SEARCH_RESULTS = Metric("search_results", "Results per search.", ("mode",), (0, 1, 2, 5, 10, 20, 50, 100, 1_000))
EMBEDDING_CALLS = Metric("embedding_calls", "Calls of an embedding model, for passages or a query.", ("purpose",))
EMBEDDING_TEXTS = Metric("embedding_texts", "Texts embedded by a model.", ("purpose",))
EMBEDDING_TOKENS = Metric("embedding_tokens", "Tokens embedded by a model.", ("purpose",))
CACHE_HITS = Metric(
    "cache_hits", "Results taken from a cache: parsed_contents, embeddings, transcripts, query_vectors.", ("cache",)
)
CACHE_MISSES = Metric("cache_misses", "Results that no cache had, by cache.", ("cache",))
DATABASE_ERRORS = Metric("database_errors", "Errors of the database by their class in `sourcebook.errors`.", ("error",))
STAGE_RUNS = Metric("stage_runs", "Runs of a stage by outcome: ok or error.", ("stage", "outcome"))
STAGE_SECONDS = Metric("stage_seconds", "Seconds spent in a stage.", ("stage",))
STAGE_ITEMS = Metric("stage_items", "Items by outcome: added, changed, removed, failed.", ("stage", "outcome"))

METRICS = (
    SEARCHES,
    SEARCH_SECONDS,
    SEARCH_PART_SECONDS,
    SEARCH_RESULTS,
    EMBEDDING_CALLS,
    EMBEDDING_TEXTS,
    EMBEDDING_TOKENS,
    CACHE_HITS,
    CACHE_MISSES,
    DATABASE_ERRORS,
    REQUESTS,
    REQUEST_SECONDS,
    STAGE_RUNS,
    STAGE_SECONDS,
    STAGE_ITEMS,
)


class Measurements:
    """Totals of recorded values. Thread-safe."""

    def __init__(self) -> None:
        """Begin with no values."""
        self._recorded: deque[tuple[Metric, float, tuple[str, ...]]] = deque()
        self._totals: defaultdict[Part, float] = defaultdict(float)
        self._unstored: defaultdict[Part, float] = defaultdict(float)
        self._folding = Lock()

    def record(self, metric: Metric, value: float, *labels: str) -> None:
        """Add to a counter, or observe a value of a histogram. Takes less than a microsecond and never waits."""
        self._recorded.append((metric, value, labels))
        if len(self._recorded) >= _FOLD_AT and self._folding.acquire(blocking=False):
            try:
                self._fold()
            finally:
                self._folding.release()

    def totals(self) -> dict[Part, float]:
        """Return the totals since the process began; a histogram has a total for each bucket, and the sum."""
        with self._folding:
            self._fold()
            return dict(self._totals)

    @property
    def is_stored(self) -> bool:
        """Whether nothing was recorded since `take_unstored` was called last."""
        return not self._recorded and not self._unstored

    def take_unstored(self) -> dict[Part, float]:
        """Return the growth of the totals since the last call, for the ledger."""
        with self._folding:
            self._fold()
            taken = dict(self._unstored)
            self._unstored.clear()
            return taken

    def give_back(self, taken: Mapping[Part, float]) -> None:
        """Take back a growth that could not be stored."""
        with self._folding:
            for part, value in taken.items():
                self._unstored[part] += value

    def forget(self) -> None:
        """Begin again, in a process that was forked from one with values."""
        self.__init__()  # type: ignore[misc]  # a lock held by a thread of the parent would stay held

    def _fold(self) -> None:
        """Add the recorded values to the totals; the caller holds the lock."""
        for _ in range(len(self._recorded)):
            metric, value, labels = self._recorded.popleft()
            parts = [(metric.part(value), 1.0), ("sum", value)] if metric.buckets else [("total", value)]
            for part, number in parts:
                self._totals[metric.name, labels, part] += number
                self._unstored[metric.name, labels, part] += number


measurements = Measurements()
"""The measurements of this process."""

os.register_at_fork(after_in_child=measurements.forget)
