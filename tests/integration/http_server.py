"""The REST server in a thread, and a client that sends what it is told, byte by byte."""

import json
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import uvicorn

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.app import create_app
from sourcebook.server.identity.token_settings import TokenSettings
from sourcebook.server.rate_limits import RateLimits


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


@dataclass(frozen=True)
class Client:
    """A client of one server, with a key or without."""

    port: int
    key: str | None = None

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, headers=headers)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.request("POST", path, sent, {"Content-Type": "application/json", **headers})

    def patch(self, path: str, body: Any, **headers: str) -> Answer:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.request("PATCH", path, sent, {"Content-Type": "application/json", **headers})

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        sent = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        if self.key is not None:
            sent.setdefault("Authorization", f"Bearer {self.key}")
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            if "set-cookie" in found:  # one header a cookie
                found["set-cookie"] = "; ".join(answer.headers.get_all("set-cookie", []))
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()


@contextmanager
def serving(
    knowledge: KnowledgeBase,
    *,
    requires_key: bool,
    chatgpt: bool = False,
    limits: RateLimits | None = None,
    origins: Collection[str] = (),
    dagster_url: str | None = None,
    request_log: Path | None = None,
    tokens: TokenSettings | None = None,
    port: int = 0,
) -> Iterator[Client]:
    """Serve a knowledge base on a free port of the loopback address, or on one that was free before."""
    app = create_app(
        knowledge,
        requires_key=requires_key,
        chatgpt=chatgpt,
        limits=limits,
        origins=origins,
        dagster_url=dagster_url,
        request_log=None if request_log is None else str(request_log),
        tokens=tokens,
    )
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            thread.join(0.01)  # until it listens
        yield Client(server.servers[0].sockets[0].getsockname()[1])
    finally:
        app.state.work_events.end()  # as `sourcebook serve` does
        server.should_exit = True
        thread.join()
