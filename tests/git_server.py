"""A real Git server over HTTP on loopback: `git http-backend` behind Python's server, with a password if wanted."""

import os
import subprocess
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit


class GitServer:
    """Serves the repositories below a folder.

    Args:
        folder: the folder with the repositories.
        login: `user:password` that every request needs; None for a public server.
    """

    def __init__(self, folder: Path, login: str | None = None) -> None:
        wanted = None if login is None else f"Basic {b64encode(login.encode()).decode()}"
        self.requests: list[str] = []
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(b"")

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

            def _answer(self, body: bytes) -> None:
                requests.append(self.path)
                if wanted is not None and self.headers.get("Authorization") != wanted:
                    self.send_response(401)
                    self.send_header("WWW-Authenticate", 'Basic realm="handbook"')
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                url = urlsplit(self.path)
                done = subprocess.run(
                    ["git", "http-backend"],
                    input=body,
                    capture_output=True,
                    check=False,
                    env={
                        **os.environ,
                        "GIT_PROJECT_ROOT": str(folder),
                        "GIT_HTTP_EXPORT_ALL": "1",
                        "PATH_INFO": url.path,
                        "QUERY_STRING": url.query,
                        "REQUEST_METHOD": self.command,
                        "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                        "CONTENT_LENGTH": str(len(body)),
                        "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                        "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                        "GIT_CONFIG_COUNT": "1",
                        "GIT_CONFIG_KEY_0": "safe.directory",
                        "GIT_CONFIG_VALUE_0": "*",
                    },
                ).stdout
                head, _, content = done.partition(b"\r\n\r\n")
                headers = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
                self.send_response(int(headers.pop("Status", "200").split()[0]))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    def url(self, name: str, login: str = "") -> str:
        return f"http://{login}127.0.0.1:{self._server.server_address[1]}/{name}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
