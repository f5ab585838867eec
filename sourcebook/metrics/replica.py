"""Metrics of the replica that searches are sent to."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from sourcebook.knowledge_base import KnowledgeBase


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
