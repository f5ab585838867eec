"""A real server of OpenAI's protocol of embeddings on loopback, which misbehaves as a test wants it to."""

import json
import math
import re
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the server saw it."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    at: float
    """Seconds of `time.monotonic()`."""

    @property
    def texts(self) -> list[str]:
        """Texts to embed, without the spaces at their ends."""
        return [text.strip() for text in self.body["input"]]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the server's."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay: float = 0.0
    """Seconds before it."""
    cut: bool = False
    """Whether the connection ends in the middle of it."""
    drip: float = 0.0
    """Seconds between its bytes."""


Answer = Callable[[Asked], Reply | None]


class ProviderServer:
    """Serves `/v1/embeddings` within `with`: a vector counts a text's words by their hash, so equal words are near.

    Args:
        dimensions: length of a vector.
        tls: a file of a key and a certificate; unset: plain http.
    """

    def __init__(self, dimensions: int = 64, *, tls: Path | None = None) -> None:
        self.dimensions = dimensions
        self.seed = 0
        """Another number is another model."""
        self.answer: Answer = lambda asked: None
        """Returns a reply in place of the right one; None leaves the right one."""
        self.asked: list[Asked] = []
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._scheme = "http" if tls is None else "https"
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """URL that a client is given."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def texts(self) -> list[str]:
        """Texts of all requests, in the order they came."""
        return [text for asked in self.asked for text in asked.texts]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(60)

    def vector(self, text: str) -> list[float]:
        """Return the vector of a text, of length 1."""
        row = [0.5, *[0.0] * (self.dimensions - 1)]  # so that the first numbers of any vector have a direction
        for word in re.findall(r"\w+", text.lower()) or [text]:
            row[zlib.crc32(f"{self.seed} {word}".encode()) % self.dimensions] += 1
        length = math.sqrt(sum(number * number for number in row))
        return [number / length for number in row]

    def vectors(self, asked: Asked) -> dict[str, Any]:
        """Return the right answer."""
        texts: list[str] = asked.body["input"]
        data = [{"object": "embedding", "index": at, "embedding": self.vector(text)} for at, text in enumerate(texts)]
        tokens = sum(len(text.split()) for text in texts)
        return {"object": "list", "data": data, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}

    def reply(self, asked: Asked) -> Reply:
        """Keep the request and return what is answered."""
        with self._lock:
            self.asked.append(asked)
        return self.answer(asked) or Reply(body=self.vectors(asked))


class _Handler(BaseHTTPRequestHandler):
    provider: ProviderServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self.provider.reply(Asked(self.path, body, dict(self.headers), time.monotonic()))
        if reply.delay:
            time.sleep(reply.delay)  # as a slow provider
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        try:
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(content)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            pieces = [content[: len(content) // 2] if reply.cut else content]
            for piece in (content[at : at + 1] for at in range(len(content))) if reply.drip else pieces:
                self.wfile.write(piece)
                time.sleep(reply.drip)  # as a server that never ends
        except OSError:
            self.close_connection = True  # the client has given up
        if reply.cut:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        pass
