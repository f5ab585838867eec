"""A service with an API that is driven through changes and faults: what all fakes of the recipes share."""

import json
import random
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

Item = TypeVar("Item")
START = datetime(2024, 3, 1, 8, tzinfo=UTC)
"""Time on the services' clocks when a drill begins."""
FAULTS = ("busy", "error", "down", "cut", "reset", "expired", "kill", "change")
"""Faults of one look: 429 and 500 once, 500 from then on, half an answer, no answer, an expired token from then on, a
killed run, and a change between two requests."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a record.

    Args:
        key: key of the record.
        is_told: whether the API tells of it to a client that asks for what has changed.
    """

    key: str
    is_told: bool = True


@dataclass(frozen=True, slots=True)
class Request:
    """A request as an API sees it."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of an API; what is neither text nor bytes is sent as JSON."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = "application/json"
    is_file: bool = False
    """Whether its length tells where it was cut."""

    @property
    def content(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


class Service:
    """A fake of one service: its records, its clock, and the fault of the look that goes on."""

    recipe: ClassVar[str]
    """Name of the folder below `examples/recipes`."""
    environment: ClassVar[Mapping[str, str]] = {}
    faults: ClassVar[tuple[str, ...]] = FAULTS
    follows_clock: ClassVar[bool] = True
    """Whether a client is told of changes by the service's clock, and misses those of a clock that went back."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.time = START
        self.skew = timedelta()
        self.numbers = 0
        self.requests = 0
        self.fault: str | None = None
        self.fault_at = 0
        self.on_kill: Callable[[], None] = lambda: None
        self.meanwhile: list[Change] = []
        """Changes between two requests of the look that goes on."""
        self.lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""

    def settings(self, text: str) -> str:
        """Return the text of a `sourcebook.yaml` that names this service in place of the real one."""
        raise NotImplementedError

    def change(self) -> Change:
        """Change one record at random."""
        raise NotImplementedError

    def truth(self) -> dict[str, list[str]]:
        """Return the words (see `word`) of each record by its key, in the order in which they are read."""
        raise NotImplementedError

    def word(self) -> str:
        """Return a word that stands in the texts of this drill once."""
        self.numbers += 1
        return f"word{self.numbers}x"

    def now(self) -> datetime:
        """Return the time on the service's clock, which may be wrong."""
        return self.time + self.skew

    def stamp(self) -> str:
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def pass_time(self) -> None:
        self.time += timedelta(seconds=self.random.choice((1, self.random.randint(20, 3_000))))

    def begin(self, fault: str | None, at: int) -> None:
        """Begin a look whose request number `at` meets a fault."""
        self.requests, self.fault, self.fault_at, self.meanwhile = 0, fault, at, []

    def meets(self) -> str | None:
        """Count a request, and return the fault that it meets."""
        self.requests += 1
        if self.fault is None or self.requests < self.fault_at:
            return None
        if self.requests > self.fault_at and self.fault not in ("down", "expired"):
            return None
        if self.fault == "kill":
            self.on_kill()
        elif self.fault == "change":
            self.meanwhile.append(self.change())
        return self.fault


class HttpService(Service):
    """A service with an API over HTTP, at `url` within `with`."""

    token: ClassVar[str] = "secret-token"

    def __enter__(self) -> Self:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_any(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                service.serve(self, self.rfile.read(size))

            do_GET = do_POST = handle_any  # noqa: N815

            def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._serving = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._serving.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._serving.join()

    def serve(self, handler: BaseHTTPRequestHandler, content: bytes) -> None:
        with self.lock:
            answer, is_cut = self._answered(handler, content)
        if answer is None:
            handler.close_connection = True
            return
        sent = answer.content
        sent = sent[: len(sent) // 2] if is_cut else sent
        handler.send_response(answer.status)
        length = len(answer.content if answer.is_file else sent)
        handler.close_connection |= length > len(sent)
        for name, value in {"Content-Type": answer.media_type, **answer.headers, "Content-Length": length}.items():
            handler.send_header(name, str(value))
        handler.end_headers()
        handler.wfile.write(sent)

    def _answered(self, handler: BaseHTTPRequestHandler, content: bytes) -> tuple[Answer | None, bool]:
        address = urlsplit(handler.path)
        query = {name: values[-1] for name, values in parse_qs(address.query).items()}
        body = json.loads(content) if content[:1] in (b"{", b"[") else parse_qs(content.decode())
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = Request(handler.command, unquote(address.path), query, body, headers)
        fault = self.meets()
        match fault:
            case "busy":
                return self.busy(), False
            case "error" | "down":
                return Answer({"message": "internal server error"}, 500), False
            case "reset" | "kill":
                return None, False
            case "expired":
                return self.refused_to(request), False
            case "cut":
                return self.answer(request), True
        return (self.answer(request) if self.admits(request) else self.refused_to(request)), False

    def admits(self, request: Request) -> bool:
        """Return whether a request has the token."""
        return self.token in request.headers.get("authorization", "")

    def busy(self) -> Answer:
        return Answer({"message": "too many requests"}, 429, {"Retry-After": "1"})

    def refused_to(self, request: Request) -> Answer:
        """Answer a request without a valid token."""
        return self.refused()

    def refused(self) -> Answer:
        return Answer({"message": "the token has expired"}, 401)

    def answer(self, request: Request) -> Answer:
        """Answer a request with a token."""
        raise NotImplementedError


def page_of(
    items: Iterable[Item], after: str | None, size: int, key: Callable[[Item], str]
) -> tuple[list[Item], str | None]:
    """Return a page of items behind a key, and the key of its last item where more follow."""
    ordered = sorted(items, key=key)
    rest = [item for item in ordered if after is None or key(item) > after]
    return rest[:size], key(rest[size - 1]) if len(rest) > size else None
