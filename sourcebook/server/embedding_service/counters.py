"""Prometheus metrics of the embedding service."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class Counters:
    """The metrics of one service.

    Args:
        registry: registry that they are registered in.
        waiting: returns the number of texts that wait.
    """

    def __init__(self, registry: CollectorRegistry, waiting: Callable[[], int]) -> None:
        name = "sourcebook_embedding_service_"
        self._requests = Counter(
            f"{name}requests", "Requests by path and status.", ("path", "status"), registry=registry
        )
        self._seconds = Histogram(f"{name}seconds", "Seconds of requests for vectors.", registry=registry)
        self._texts = Counter(f"{name}texts", "Texts that were embedded.", registry=registry)
        self._tokens = Counter(f"{name}tokens", "Tokens that the model read.", registry=registry)
        gauge = Gauge(f"{name}waiting_texts", "Texts that wait.", registry=registry)
        gauge.set_function(waiting)

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(path, str(status)).inc()
        if path.endswith("/embeddings"):
            self._seconds.observe(seconds)

    def computed(self, texts: int, tokens: int) -> None:
        """Count texts that were embedded."""
        self._texts.inc(texts)
        self._tokens.inc(tokens)
