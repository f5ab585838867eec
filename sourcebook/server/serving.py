"""The process that answers the requests of a socket, by uvicorn."""

import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from types import FrameType

import uvicorn

from sourcebook.installation import VERSION_HEADER, installed_version
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.app import create_app
from sourcebook.server.bucket_table import SharedBuckets
from sourcebook.server.half_requests import ImpatientProtocol
from sourcebook.server.listening import SECONDS_TO_END, is_local
from sourcebook.server.own_worker import own_worker
from sourcebook.server.rate_limits import DEFAULT_LIMIT, RateLimits
from sourcebook.server.serve_settings import ServeSettings
from sourcebook.server.work_events import WorkEvents
from sourcebook.telemetry.measurements import Part


def serve_on(
    knowledge: KnowledgeBase,
    listening: socket.socket,
    settings: ServeSettings,
    *,
    shared: SharedBuckets | None = None,
    totals: Callable[[], Mapping[Part, float]] | None = None,
    started: Callable[[], None] | None = None,
) -> None:
    """Answer the requests that come to a socket, in this process, until SIGINT or SIGTERM.

    Args:
        knowledge: the knowledge base.
        listening: the socket.
        settings: the choices of whoever starts the server.
        shared: the buckets of the limits, where several processes share them.
        totals: returns the counters of all processes, where there are several.
        started: called once requests are answered.
    """
    limit = settings.limit
    knowledge.folders = settings.folders
    app = create_app(
        knowledge,
        requires_key=settings.tokens is not None or not is_local(str(listening.getsockname()[0])),
        rerankers=settings.rerankers,
        chatgpt=settings.chatgpt,
        all_options=settings.all_options,
        version=installed_version(),
        limits=RateLimits(DEFAULT_LIMIT if limit is None else limit or None, limit or None, shared=shared),
        origins=settings.origins,
        dagster_url=settings.dagster_url,
        totals=totals,
        request_log=settings.request_log,
        tokens=settings.tokens,
    )
    config = uvicorn.Config(
        app,
        http=ImpatientProtocol,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=SECONDS_TO_END,
        server_header=False,
        headers=[(VERSION_HEADER, installed_version())],
    )
    works = nullcontext() if settings.works_by is None else own_worker(lambda: knowledge, settings.works_by)
    with works, ending_on_signals():
        _Server(config, app.state.work_events, started).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that ends its streams when it is told to end: they would go on for as long as it waits for them."""

    def __init__(self, config: uvicorn.Config, events: WorkEvents, started: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._events, self._on_start = events, started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer requests."""
        await super().startup(sockets)
        if self._on_start is not None:
            self._on_start()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle SIGINT and SIGTERM."""
        self._events.end()
        super().handle_exit(sig, frame)


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Let SIGINT and SIGTERM end the server alone: uvicorn handles them, and raises them again when it has ended."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
