"""The process that serves: a socket that listens, and uvicorn."""

import ipaddress
import signal
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType
from urllib.parse import urlsplit

import uvicorn

from sourcebook.errors import SourcebookError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.app import create_app
from sourcebook.server.rate_limits import DEFAULT_LIMIT, RateLimits
from sourcebook.server.version import installed_version
from sourcebook.server.work_events import WorkEvents

DEFAULT_PORT = 8320
SECONDS_TO_END = 5
"""Seconds in which requests that run may end when the server is told to."""


class ServingError(SourcebookError):
    """The server cannot listen where it is told to."""


def serve(
    knowledge: KnowledgeBase,
    *,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    rerankers: Collection[str] = (),
    chatgpt: bool = False,
    limit: int | None = None,
    origins: Collection[str] = (),
    dagster_url: str | None = None,
    started: Callable[[str, bool], None],
) -> None:
    """Serve a knowledge base until SIGINT or SIGTERM.

    Args:
        knowledge: the knowledge base, which the caller closes.
        host: the address to listen on; on any but this machine's own every caller needs a key.
        port: the port; 0 for a free one.
        rerankers: names and folders of the only models that a search may rerank with.
        chatgpt: whether agents are offered tools in ChatGPT's shape as well.
        limit: requests a minute of a key without a limit of its own, and of callers without a key together; 0 for no
            limit; where None 600 for a key, and no limit without one.
        origins: origins whose pages may ask from a browser, such as `https://intranet.example`.
        dagster_url: the address of Dagster's page, to which the pages link the runs of work.
        started: called with the address of the server, and whether callers need a key, once it listens.

    Raises:
        ServingError: the port is taken, the address is none of this machine, or an origin is none.
    """
    for origin in origins:
        check_origin(origin)
    listening = listen(host, port)
    address, taken = listening.getsockname()[:2]
    requires_key = not is_local(str(address))
    app = create_app(
        knowledge,
        requires_key=requires_key,
        rerankers=rerankers,
        chatgpt=chatgpt,
        version=installed_version(),
        limits=RateLimits(DEFAULT_LIMIT if limit is None else limit or None, limit or None),
        origins=origins,
        dagster_url=dagster_url,
    )
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_graceful_shutdown=SECONDS_TO_END, server_header=False
    )
    with listening:
        named = f"[{address}]" if ":" in str(address) else address
        started(f"http://{named}:{taken}", requires_key)
        with told_to_end():
            _Server(config, app.state.work_events).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that ends its streams when it is told to end: they would go on for as long as it waits for them."""

    def __init__(self, config: uvicorn.Config, events: WorkEvents) -> None:
        super().__init__(config)
        self._events = events

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle SIGINT and SIGTERM."""
        self._events.end()
        super().handle_exit(sig, frame)


@contextmanager
def told_to_end() -> Iterator[None]:
    """Let SIGINT and SIGTERM end the server alone: uvicorn handles them, and raises them again when it has ended."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def check_origin(origin: str) -> None:
    """Check that a text is the origin of a site: scheme, host and port as browsers send them.

    Raises:
        ServingError: it is none.
    """
    try:
        parts = urlsplit(origin)
        is_origin = parts.scheme in {"http", "https"} and origin == f"{parts.scheme}://{parts.netloc}"
        has_host = bool(parts.hostname) and parts.netloc == parts.netloc.lower() and parts.port != 0
    except ValueError:
        is_origin = has_host = False
    if not is_origin or not has_host or "@" in origin or "*" in origin:
        raise ServingError(
            f"{origin!r} is no origin: write scheme, host and port alone, as in  --allow-origin https://intranet.example"
        )


def is_local(address: str) -> bool:
    """Return whether an address can be reached from this machine alone."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        ServingError: the port is taken, or the address is none of this machine.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(place)
            made.listen(128)
        except BaseException:
            made.close()
            raise
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ServingError(
            f"the server cannot listen on {host}, port {port} ({reason}): choose others with --host and --port"
        ) from error
    return made
