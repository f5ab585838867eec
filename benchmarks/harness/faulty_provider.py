"""A proxy before a real server of embeddings that fails as providers do, and keeps their quota.

It asks the server for each text once and keeps the vector, which is what later vectors of the text are compared with.
"""

import json
import random
import threading
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

FAULTS = ("429", "500", "timeout", "cut", "count", "nan")


@dataclass(frozen=True)
class Quota:
    """Requests and tokens that the provider takes within any minute."""

    requests: int
    tokens: int


@dataclass
class Record:
    """Requests, faults and answers of the proxy."""

    requests: list[tuple[float, int]] = field(default_factory=list)
    """Arrival of each request within the quota in seconds, and its tokens."""
    faults: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    """Texts by the number of right answers with their vector."""
    beyond: int = 0
    """Requests that arrived when the quota of the minute was used up."""

    def most_in_a_minute(self) -> tuple[int, int]:
        """Return the largest numbers of requests and of tokens within 60 seconds."""
        requests = tokens = first = held = 0
        arrivals = sorted(self.requests)
        for last, (at, wanted) in enumerate(arrivals):
            held += wanted
            while at - arrivals[first][0] >= 60:
                held -= arrivals[first][1]
                first += 1
            requests, tokens = max(requests, last - first + 1), max(tokens, held)
        return requests, tokens


class FaultyProvider:
    """Serves `/v1/embeddings` on loopback within `with`, in threads of this process.

    Args:
        upstream: URL of the real server, with `/v1`.
        quota: its quota.
        share: share of requests that go wrong.
        hold: seconds for which an answer that times out is held back.
        seed: seed of the faults.
    """

    def __init__(self, upstream: str, quota: Quota, *, share: float = 0.2, hold: float = 25.0, seed: int = 0) -> None:
        self._upstream, self._quota, self._share, self._hold = upstream, quota, share, hold
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._ended = threading.Event()
        self.vectors: dict[str, list[float]] = {}
        """Vector of the real server by text."""
        self._tokens: dict[str, int] = {}
        self.record = Record()
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """URL that a client is given."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()

    def forget(self) -> None:
        """Begin a new record; the vectors stay."""
        with self._lock:
            self.record = Record()

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes, bool]:
        """Return status, headers and content of an answer, and whether the connection ends in its middle."""
        texts: list[str] = body["input"]
        kind = body.get("input_type")
        at = time.monotonic()
        with self._lock:
            fault = self._random.choice(FAULTS) if self._random.random() < self._share else None
            known = [self._tokens.get(text) for text in texts]
            tokens = sum(held or len(text.encode()) // 4 for held, text in zip(known, texts, strict=True))
            minute = [held for arrived, held in self.record.requests if at - arrived < 60]
            is_beyond = len(minute) + 1 > self._quota.requests or sum(minute) + tokens > self._quota.tokens
            self.record.beyond += is_beyond
            place = len(self.record.requests)
            if not is_beyond:
                self.record.requests.append((at, tokens))
            if fault and not is_beyond:
                self.record.faults[fault] += 1
        if is_beyond:
            return _error(429, "rate limit reached", {"Retry-After": "5"})
        if fault == "429":
            return _error(429, "the model is overloaded", {"retry-after-ms": "300"})
        if fault == "500":
            return 500, {"Content-Type": "text/html"}, b"<html>Internal Server Error</html>", False
        if fault == "timeout":
            self._ended.wait(self._hold)
            return _error(504, "timeout", {})
        self._ask(texts, kind)
        data = [
            {"object": "embedding", "index": index, "embedding": self.vectors[text]} for index, text in enumerate(texts)
        ]
        with self._lock:
            tokens = sum(self._tokens[text] for text in texts)
            self.record.requests[place] = (at, tokens)
            if fault is None:
                self.record.answered.update(texts)
        if fault == "count":
            data.pop(self._random.randrange(len(data)))
        elif fault == "nan":
            data[0] = {**data[0], "embedding": [float("nan")] * len(self.vectors[texts[0]])}
        content = json.dumps({"object": "list", "data": data, "usage": {"total_tokens": tokens}}).encode()
        return 200, {"Content-Type": "application/json"}, content, fault == "cut"

    def _ask(self, texts: list[str], kind: str | None) -> None:
        """Ask the real server for the vectors that are not known."""
        with self._asking:
            missing = [text for text in dict.fromkeys(texts) if text not in self.vectors]
            if not missing:
                return
            body = {"model": "e5", "input": missing, "input_type": kind or "passage"}
            request = urllib.request.Request(  # noqa: S310 - the real server's own URL
                f"{self._upstream}/embeddings", json.dumps(body).encode(), {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request) as response:  # noqa: S310
                answer = json.load(response)
            each = answer["usage"]["total_tokens"] // len(missing) + 1
            with self._lock:
                for item in answer["data"]:
                    self.vectors[missing[item["index"]]] = item["embedding"]
                    self._tokens[missing[item["index"]]] = each


def _error(status: int, message: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes, bool]:
    content = json.dumps({"error": {"message": message}}).encode()
    return status, {"Content-Type": "application/json", **headers}, content, False


class _Handler(BaseHTTPRequestHandler):
    provider: FaultyProvider
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, headers, content, is_cut = self.provider.answer(body)
        try:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if is_cut else content)
        except OSError:
            is_cut = True  # the client has given up
        self.close_connection = self.close_connection or is_cut

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        pass
