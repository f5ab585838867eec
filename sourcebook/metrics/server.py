"""The metrics of a knowledge base for Prometheus: read from its ledger at each scrape, served over HTTP."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from threading import Thread
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, start_http_server
from prometheus_client.core import Metric
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from psycopg import Connection

from sourcebook.admin.dagster_state import DagsterState, read_dagster_state
from sourcebook.admin.freshness import read_freshness
from sourcebook.database.connecting import configure_session, open_connection
from sourcebook.database.failures import typed_errors
from sourcebook.database.pool import PooledConnection, StatementLimits
from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseError, SourcebookError
from sourcebook.metrics.process import PREFIX, counter_families
from sourcebook.model.closing import Closing

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer


DEFAULT_PORT = 9464
"""Port of the metrics where none is named."""


class MetricsServerError(SourcebookError):
    """The metrics cannot be served, for example because their port is taken."""


class MetricsServer(Closing):
    """Serves `/metrics` in a thread until it is closed. Use it as a context manager, or call `close()`.

    Args:
        url: the database of the knowledge base.
        dagster_url: the database of Dagster's storage; None for none.
        port: the port; 0 for a free one.
        host: the address to listen on.

    Raises:
        MetricsServerError: the port is taken.
    """

    def __init__(
        self, url: str, dagster_url: str | None = None, *, port: int = DEFAULT_PORT, host: str = "127.0.0.1"
    ) -> None:
        registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=registry)
        ledger = LedgerCollector(url, dagster_url)
        registry.register(ledger)
        self._server: WSGIServer
        self._thread: Thread
        try:
            self._server, self._thread = start_http_server(port, host, registry)
        except OSError as error:
            ledger.close()
            raise MetricsServerError(
                f"the metrics cannot be served on port {port} ({error.strerror}): choose another with --metrics-port, "
                "or 0 for none"
            ) from error
        self._ledger = ledger
        self.port = int(self._server.server_port)
        """The port that it listens on."""

    @property
    def is_active(self) -> bool:
        """Whether it serves."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop serving and close the connections."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._ledger.close()


_log = logging.getLogger("sourcebook.metrics")
_SECONDS_CACHED: Final = 3.0
"""Seconds for which a reading serves further scrapes."""
_SECONDS_OF_A_SCRAPE: Final = 1.5
"""Seconds that a scrape waits for the database; its metrics are left out afterwards."""
_LIMITS: Final = StatementLimits(statement_timeout=5.0)
"""Limits of each statement of a scrape."""


class LedgerCollector(Collector):
    """The metrics of a knowledge base. A scrape is quick and succeeds also where the database is gone. Thread-safe."""

    def __init__(self, url: str, dagster_url: str | None = None) -> None:
        """Prepare; the first scrape connects.

        Args:
            url: the database of the knowledge base.
            dagster_url: the database of Dagster's storage; its metrics are left out where None.
        """
        self._urls = (url, dagster_url)
        self._connections: list[Connection] = []
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="sourcebook-metrics")
        self._lock = threading.Lock()
        self._families: list[Metric] = []
        self._read_at = float("-inf")

    def collect(self) -> Iterator[Metric]:
        """Yield every metric; only `sourcebook_up` 0 where the database does not answer in time."""
        with self._lock:
            if time.monotonic() - self._read_at > _SECONDS_CACHED:
                self._families = self._read_in_time()
                self._read_at = time.monotonic()
            families = self._families
        yield from families

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that registering reads nothing."""
        return ()

    def close(self) -> None:
        """Close the connections."""
        self._reader.shutdown(cancel_futures=True)
        self._disconnect()

    def _read_in_time(self) -> list[Metric]:
        up = _gauge("up", "1 where the database answers, else 0.")
        took = _gauge("scrape_seconds", "Seconds that reading the ledger took.")
        started = time.monotonic()
        reading = self._reader.submit(self._read)
        try:
            families = reading.result(_SECONDS_OF_A_SCRAPE)
        except FutureTimeoutError:
            reading.cancel()
            families = None
        up.add_sample(up.name, {}, 0.0 if families is None else 1.0)
        took.add_sample(took.name, {}, time.monotonic() - started)
        return [up, took, *(families or [])]

    def _read(self) -> list[Metric] | None:
        """Return the metrics; None where the database is gone. Runs in the reader's thread alone."""
        try:
            with typed_errors():
                if not self._connections:
                    for url in self._urls:
                        if url is not None:
                            self._connections.append(_connect(url, is_ledger=not self._connections))
                ledger, *dagster = self._connections
                families = list(read_ledger(ledger))
                for connection in dagster:
                    state = read_dagster_state(connection)
                    families += dagster_families(state) if state is not None else []
        except (DatabaseError, OSError) as error:
            _log.warning("the metrics cannot be read: %s", error)
            self._disconnect()
            return None
        return families

    def _disconnect(self) -> None:
        connections, self._connections = self._connections, []
        for connection in connections:
            connection.close()


def read_ledger(connection: Connection) -> Iterator[Metric]:
    """Yield the metrics of a knowledge base: gauges of its state, and the totals that processes have stored."""
    states = "Documents by state: ready, pending, failed, skipped, removed."
    documents = _gauge("documents", states, "collection", "state")
    queued = _gauge(
        "queue_items", "Items that wait: documents, recordings, pages of crawls, retries.", "collection", "queue"
    )
    for collection, state, number in connection.execute(queries["document_states"]):
        documents.add_metric((collection, state), number)
        if state == "pending":
            queued.add_metric((collection, "documents"), number)
    for collection, queue, number in connection.execute(queries["queues"]):
        queued.add_metric((collection, queue), number)
    work = _gauge("work_requests", "Requests for work that wait or run.", "collection", "state")
    for collection, state, number in connection.execute(queries["open_work"]):
        work.add_metric((collection, state), number)
    chunks = _gauge("chunks", "Searchable passages.", "collection")
    for collection, number in connection.execute(queries["published_chunks"]):
        chunks.add_metric((collection,), number)
    failures = _gauge("failures", "Failed items by kind and by class of the reason.", "collection", "kind", "class")
    for collection, kind, reason, number in connection.execute(queries["failures"]):
        failures.add_metric((collection, kind, reason), number)
    lag = _gauge("freshness_lag_seconds", "Age of the oldest change that is not searchable yet, or 0.", "collection")
    compared = _gauge("comparison_age_seconds", "Seconds since the comparison with the sources.", "collection")
    for freshness in read_freshness(connection):
        lag.add_metric((freshness.collection,), freshness.lag)
        if freshness.compared_ago is not None:
            compared.add_metric((freshness.collection,), freshness.compared_ago)
    yield from (documents, queued, work, chunks, failures, lag, compared)
    yield from model_families(connection)
    rows = connection.execute(queries["measurements"]).fetchall()
    yield from counter_families(
        {(name, tuple(labels.split("\t")) if labels else (), part): total for name, labels, part, total in rows}
    )


def model_families(connection: Connection) -> Iterator[Metric]:
    """Yield what models have done by operation, provider and model, as the ledger of their use has it."""
    labels = ("operation", "provider", "model")
    texts = CounterMetricFamily(PREFIX + "model_texts", "Texts that models have computed.", labels=labels)
    tokens = CounterMetricFamily(PREFIX + "model_tokens", "Tokens that models have read and written.", labels=labels)
    seconds = CounterMetricFamily(PREFIX + "model_seconds", "Seconds that models took.", labels=labels)
    for *names, computed, read, took in connection.execute(queries["use_of_models"]):
        for family, value in ((texts, computed), (tokens, read), (seconds, took)):
            family.add_metric(names, value)
    yield from (texts, tokens, seconds)


def dagster_families(state: DagsterState) -> list[Metric]:
    """Return the metrics of Dagster's daemon, sensors and runs."""
    heartbeats = _gauge("daemon_heartbeat_age_seconds", "Seconds since the heartbeat of a daemon.", "daemon")
    for daemon, age in state.heartbeats.items():
        heartbeats.add_metric((daemon,), age)
    ticks = _gauge("sensor_tick_age_seconds", "Seconds since the last finished tick of a sensor.", "sensor")
    failing = _gauge("sensor_failing", "1 where the last tick of a sensor failed, else 0.", "sensor")
    for sensor, age in state.ticks.items():
        ticks.add_metric((sensor,), age)
        failing.add_metric((sensor,), float(sensor in state.failing))
    runs = _gauge("runs", "Unfinished runs by status.", "status")
    for status in ("QUEUED", "STARTED", *sorted(set(state.runs) - {"QUEUED", "STARTED"})):
        runs.add_metric((status,), state.runs.get(status, 0))
    return [heartbeats, ticks, failing, runs]


def _gauge(name: str, description: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, description, labels=labels)


def _connect(url: str, *, is_ledger: bool) -> Connection:
    connection = open_connection(PooledConnection, url, recovery=0.0)
    try:
        if is_ledger:  # Dagster's tables are where its role's search path leads
            configure_session(connection)
        connection.execute(queries["name_scrape"])
        _LIMITS.apply(connection)
    except BaseException:
        connection.close()
        raise
    return connection
