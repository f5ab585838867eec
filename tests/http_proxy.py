"""A real HTTP proxy on loopback, which knows the names under `.test`: they lead to this machine."""

import asyncio
import threading
from base64 import b64encode
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class HttpProxy:
    """Serves plain http in absolute form and CONNECT, in a thread of its own, within `with`.

    Args:
        user: user and password that it asks for, such as `ada:secret`; without, it serves everybody.
    """

    def __init__(self, user: str | None = None) -> None:
        self._wanted = None if user is None else f"Basic {b64encode(user.encode()).decode()}"
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.port = 0
        self.requests: list[str] = []
        """First lines of all requests, in the order they came."""

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._started.wait(60):
            raise RuntimeError("the test's proxy did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    @property
    def url(self) -> str:
        """Its URL, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)  # transports close in the next turn
        await server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, EOFError):
                await self._answer(reader, writer)
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *fields = head.rstrip("\r\n").split("\r\n")
        self.requests.append(first)
        method, target, _ = first.split(" ")
        if self._wanted is not None and f"Proxy-Authorization: {self._wanted}" not in fields:
            writer.write(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
            return
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        host = "127.0.0.1" if (parts.hostname or "").endswith(".test") else parts.hostname
        from_server, to_server = await asyncio.open_connection(host, parts.port or 80)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            path = "/" + "".join(target.split("/", 3)[3:])
            kept = [field for field in fields if not field.lower().startswith(("proxy-", "connection:"))]
            to_server.write("\r\n".join([f"{method} {path} HTTP/1.1", *kept, "Connection: close", "", ""]).encode())
        copies = [asyncio.ensure_future(_copy(*ends)) for ends in ((reader, to_server), (from_server, writer))]
        try:
            await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for copy in copies:
                copy.cancel()
            await asyncio.gather(*copies, return_exceptions=True)
            to_server.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()
