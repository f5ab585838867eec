"""An HTTP server of the metrics of a knowledge base, for Prometheus."""

from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, Self

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, start_http_server

from sourcebook.errors import SourcebookError
from sourcebook.metrics.ledger import LedgerCollector

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

DEFAULT_PORT = 9464
"""Port of the metrics where none is named."""


class MetricsServerError(SourcebookError):
    """The metrics cannot be served, for example because their port is taken."""


class MetricsServer:
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

    def __enter__(self) -> Self:
        """Return the server; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
