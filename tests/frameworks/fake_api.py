"""An API of issues with comments on loopback: pages, tokens, changes since a time, and faults on demand."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PAGE = 3
TOKEN = "s3cret+t/ken"


class FakeApi:
    """What the API holds, and how its next answers go wrong."""

    def __init__(self) -> None:
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[str]] = {}
        self.tokens = {TOKEN}
        self.faults: list[str] = []
        self.asked: list[str] = []
        self.url = ""

    def put(self, number: int, body: str, updated: str = "2024-01-01") -> None:
        self.issues[number] = {"id": number, "title": f"Issue {number}", "body": body, "updated_at": updated}

    def answer(self, path: str, query: dict[str, str]) -> dict[str, Any]:
        if path.endswith("/comments"):
            return {"items": [{"text": text} for text in self.comments.get(int(path.split("/")[-2]), [])]}
        start = int(query.get("page_token", "from0").removeprefix("from"))
        since = query.get("since", "")
        found = sorted((each for each in self.issues.values() if each["updated_at"] >= since), key=lambda x: x["id"])
        following = f"from{start + PAGE}" if start + PAGE < len(found) else None
        return {"items": found[start : start + PAGE], "next": following}


@contextmanager
def serving() -> Iterator[FakeApi]:
    """Serve an API until the end of the block."""
    api = FakeApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            api.asked.append(self.path)
            query = {name: values[0] for name, values in parse_qs(asked.query).items()}
            fault = api.faults.pop(0) if api.faults else ""
            status, headers, body = 200, {}, api.answer(asked.path, query)
            token = self.headers.get("Authorization", "").removeprefix("Bearer ") or query.get("api_key")
            if token not in api.tokens:
                status, body = 401, {"message": f"the token {token} is not valid"}
            elif fault in ("429", "500"):
                status, headers, body = int(fault), {"Retry-After": "1"} if fault == "429" else {}, {}
            elif fault == "error":
                body = {"ok": False, "error": "token_revoked"}
            elif fault == "errors":  # as GraphQL says it
                body = {"items": [], "errors": [{"message": "rate limited"}]}
            elif fault == "expire":
                api.tokens.clear()
            elif fault == "back" and body.get("next"):
                body["next"] = "from0"
            elif fault == "circle":
                body["next"] = "from0"
                api.faults.append("circle")
            written = json.dumps(body).encode()
            self.send_response(status)
            headers |= {"Content-Type": "application/json", "Content-Length": str(len(written))}
            if fault == "half":  # a proxy that cuts JSON, and says so in no header
                written = written[: len(written) // 2]
                headers["Content-Length"] = str(len(written))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(written[:5] if fault == "broken" else written)
            self.close_connection = fault == "broken"

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}/"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
