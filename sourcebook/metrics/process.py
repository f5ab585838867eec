"""Metrics of the counters of a process, or of their totals in the ledger, and of the replica that it searches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from sourcebook.telemetry.measurements import METRICS, Metric, Part, measurements

if TYPE_CHECKING:
    from sourcebook.knowledge_base import KnowledgeBase

PREFIX = "sourcebook_"
"""Beginning of every metric's name."""
Families = Iterator[CounterMetricFamily | HistogramMetricFamily]


class ProcessCollector(Collector):
    """The metrics of this process since it began: searches, their legs, caches, embedded queries.

    Args:
        totals: returns the counters; those of this process where None.
    """

    def __init__(self, totals: Callable[[], Mapping[Part, float]] | None = None) -> None:
        self._totals = totals or measurements.totals

    def collect(self) -> Families:
        """Yield every metric."""
        return counter_families(self._totals())

    def describe(self) -> Families:
        """Yield every metric without values, so that registering reads nothing."""
        return counter_families({})


class ReplicaCollector(Collector):
    """How far the replica is behind, and whether it is searched; nothing before the first search, or without one.

    Args:
        knowledge: the knowledge base.
    """

    def __init__(self, knowledge: KnowledgeBase) -> None:
        self._knowledge = knowledge

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Ask the replica."""
        replica = self._knowledge.replica
        if replica is None:
            return
        state = replica.state()
        up = GaugeMetricFamily("sourcebook_search_replica_up", "Whether the replica is searched.")
        up.add_metric([], float(state.error is None))
        yield up
        if state.seconds_behind is not None:
            behind = GaugeMetricFamily("sourcebook_search_replica_seconds_behind", "Seconds behind the primary.")
            behind.add_metric([], state.seconds_behind)
            yield behind

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Yield nothing, so that registering asks nothing."""
        yield from ()


def counter_families(totals: Mapping[Part, float]) -> Families:
    """Yield counters and histograms as Prometheus reads them.

    Args:
        totals: from `Measurements.totals`, or from the ledger.
    """
    by_metric: defaultdict[str, dict[tuple[str, ...], dict[str, float]]] = defaultdict(dict)
    for (name, labels, part), value in totals.items():
        by_metric[name].setdefault(labels, {})[part] = value
    for metric in METRICS:
        series = by_metric[metric.name]
        yield _histogram(metric, series) if metric.buckets else _counter(metric, series)


def _counter(metric: Metric, series: Mapping[tuple[str, ...], Mapping[str, float]]) -> CounterMetricFamily:
    family = CounterMetricFamily(PREFIX + metric.name, metric.description, labels=metric.labels)
    for labels, parts in sorted(series.items()):
        family.add_metric(labels, parts.get("total", 0.0))
    return family


def _histogram(metric: Metric, series: Mapping[tuple[str, ...], Mapping[str, float]]) -> HistogramMetricFamily:
    family = HistogramMetricFamily(PREFIX + metric.name, metric.description, labels=metric.labels)
    for labels, parts in sorted(series.items()):
        so_far = 0.0
        buckets = []
        for bound in (*metric.buckets, float("inf")):
            is_last = bound == float("inf")
            so_far += parts.get("+Inf" if is_last else repr(bound), 0.0)
            buckets.append(("+Inf" if is_last else str(float(bound)), so_far))
        family.add_metric(labels, buckets=buckets, sum_value=parts.get("sum", 0.0))
    return family
