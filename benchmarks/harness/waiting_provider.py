"""A server of OpenAI's protocol of embeddings that takes a fixed time for each batch, and none of the processor."""

import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np

_DIMENSIONS = 64


class WaitingProvider:
    """Serves `/v1/embeddings` on loopback within `with`; a vector follows from its text.

    Args:
        seconds: time of a batch.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.texts = 0
        """Texts that were asked for."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
                time.sleep(provider.seconds)
                with provider._lock:
                    provider.texts += len(texts)
                data = [{"index": place, "embedding": _vector(text)} for place, text in enumerate(texts)]
                usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
                body = json.dumps({"data": data, "model": asked["model"], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the class it replaces
                """Write nothing."""

        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """Its address, for `embedding.base_url`."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _vector(text: str) -> list[float]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(_DIMENSIONS)
    return [float(number) for number in vector / np.linalg.norm(vector)]
