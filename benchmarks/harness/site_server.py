"""A web server of files in a process of its own, with a record of its requests, their times and its answers.

    python -m benchmarks.harness.site_server FOLDER

It prints its port on one line, and then, for every line it reads, the requests since the line before as a line of JSON.
It ends with its input.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

_PROJECT = Path(__file__).resolve().parents[2]
_END_SECONDS = 10
_ARRIVED = web.RequestKey("arrived", float)


@dataclass(frozen=True)
class Arrival:
    """A request as the server saw it."""

    path: str
    """Decoded path, with its query."""
    status: int
    """Status of the answer."""
    at: float
    """Seconds on the server's own clock."""


class SiteServer:
    """The server's process, seen from the one that started it. Use it as a context manager.

    Args:
        folder: what it serves, at `http://127.0.0.1:PORT/`, with ETag and Last-Modified.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.harness.site_server", str(self._folder)],
            env={**os.environ, "PYTHONPATH": str(_PROJECT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            self.url = f"http://127.0.0.1:{self._read()}/"
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def arrivals(self) -> list[Arrival]:
        """Return the requests since the last call, in the order of their arrival."""
        if self._process.stdin is not None:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        return [Arrival(*row) for row in json.loads(self._read())]

    def _end(self) -> None:
        with self._process as process:
            if process.stdin is not None:
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_SECONDS)
            process.kill()

    def _read(self) -> str:
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        if not line:
            raise RuntimeError(f"the web server of {self._folder} has ended with {self._process.wait(_END_SECONDS)}")
        return line.strip()


def file_at(folder: Path, path: str) -> Path | None:
    """Return the file of a decoded path, `index.html` for a folder; None where it is missing."""
    parts = path.split("/")
    file = folder.joinpath(*parts, "index.html" if path.endswith("/") else "")
    return file if ".." not in parts and file.is_file() else None


async def serve(folder: Path) -> None:
    """Serve a folder until the input ends."""
    arrivals: list[Arrival] = []

    @web.middleware
    async def arrive(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        request[_ARRIVED] = time.monotonic()
        return await handler(request)

    async def answer(request: web.Request) -> web.StreamResponse:
        file = file_at(folder, request.path)
        return web.FileResponse(file) if file is not None else web.Response(status=404, text="There is no such page.")

    async def note(request: web.Request, response: web.StreamResponse) -> None:
        # Only now a file's response knows whether it is a 304.
        path = f"{request.path}?{request.query_string}" if request.query_string else request.path
        arrivals.append(Arrival(path, response.status, request[_ARRIVED]))

    application = web.Application(middlewares=[arrive])
    application.router.add_get("/{path:.*}", answer)
    application.on_response_prepare.append(note)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        print(runner.addresses[0][1], flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            told, arrivals[:] = sorted(arrivals, key=lambda arrival: arrival.at), []
            print(json.dumps([astuple(arrival) for arrival in told]), flush=True)
    finally:
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]).resolve()))
