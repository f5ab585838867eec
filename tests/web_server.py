"""A real web server on loopback that behaves, and misbehaves, as a test wants it to."""

import asyncio
import gzip
import json
import socket
import ssl
import struct
import threading
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import count, pairwise
from pathlib import Path
from typing import Self

from aiohttp import web

Reply = str | bytes | web.StreamResponse
Handler = Callable[[web.BaseRequest], Reply | Awaitable[Reply]]

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request as the server saw it."""

    path: str
    """With its query."""
    at: float
    """Seconds of `time.monotonic()`."""
    headers: Mapping[str, str]
    """Names as they were sent; found whatever their case."""


class WebServer:
    """Serves on 127.0.0.1 at a free port, in a thread of its own, within `with`.

    A path that ends with `*` serves every path that begins so; the longest such path wins, an exact path before all.
    What no path serves is a 404. Everything may be changed while the server runs.

    Args:
        tls: a file of a key and a certificate (see `tests.web_certificate`); unset: plain http.
    """

    def __init__(self, *, tls: Path | None = None) -> None:
        self._tls = tls
        self._handlers: dict[str, Handler] = {}
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.down = False
        """Whether every request is answered by a reset of its connection."""
        self.port = 0
        self.requests: list[Arrival] = []
        """All that came, in the order they came; also those that were reset."""

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._started.wait(60):
            raise RuntimeError("the test's web server did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    @property
    def url(self) -> str:
        """Its origin, without a slash at the end."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        """The paths that were asked for, in order, with repetition."""
        return [arrival.path for arrival in list(self.requests)]

    def count(self, path: str) -> int:
        """How often a path (with its query) was asked for."""
        return self.paths().count(path)

    def times(self, path: str | None = None) -> list[float]:
        """When requests arrived, in seconds of `time.monotonic()`: all, or those for one path."""
        return [arrival.at for arrival in list(self.requests) if path in (None, arrival.path)]

    # What it serves

    def route(self, path: str, handler: Handler) -> None:
        """Serve a path by a function of the request; text it returns is HTML."""
        self._handlers[path] = handler

    def page(
        self,
        path: str,
        body: str | bytes,
        *,
        status: int = 200,
        content_type: str | None = HTML,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Serve the same answer always; with content_type=None, without a Content-Type."""
        content = body.encode() if isinstance(body, str) else body
        fields = dict(headers or {})
        if content_type is None:  # aiohttp would name one
            lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            self.raw(path, f"HTTP/1.1 {status} -\r\n{lines}Content-Length: {len(content)}\r\n\r\n".encode() + content)
            return
        fields["Content-Type"] = content_type
        self.route(path, lambda _: web.Response(body=content, status=status, headers=fields))

    def robots(self, text: str, *, status: int = 200) -> None:
        """Serve /robots.txt."""
        self.page("/robots.txt", text, status=status, content_type="text/plain")

    def sitemap(self, path: str, urls: Iterable[str | tuple[str, str]], *, packed: bool = False) -> None:
        """Serve a sitemap of paths or URLs, or of pairs with their lastmod; packed as a .gz file is."""
        entries = (url if isinstance(url, tuple) else (url, "") for url in urls)
        lines = (
            f"<url><loc>{self._location(url)}</loc>{f'<lastmod>{date}</lastmod>' if date else ''}</url>"
            for url, date in entries
        )
        text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(lines)}</urlset>'
        self._xml(path, text, packed=packed)

    def sitemap_index(self, path: str, sitemaps: Iterable[str], *, packed: bool = False) -> None:
        """Serve an index of sitemaps, given as paths or URLs."""
        lines = "".join(f"<sitemap><loc>{self._location(url)}</loc></sitemap>" for url in sitemaps)
        text = f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{lines}</sitemapindex>'
        self._xml(path, text, packed=packed)

    def redirect(self, path: str, to: str, *, status: int = 302) -> None:
        """Redirect a path."""
        self.page(path, "", status=status, headers={"Location": to})

    def redirect_chain(self, path: str, hops: int, to: str) -> None:
        """Redirect `path` by `path-1`, `path-2` and so on, in so many hops, to `to`."""
        stations = [path, *(f"{path}-{hop}" for hop in range(1, hops)), to]
        for station, following in pairwise(stations):
            self.redirect(station, following)

    def versioned(self, path: str, body: str, *, etag: str | None = None, modified: str | None = None) -> None:
        """Serve a page with its ETag or Last-Modified, and 304 to who names it."""

        def answer(request: web.BaseRequest) -> Reply:
            headers = {"ETag": etag or "", "Last-Modified": modified or "", "Content-Type": HTML}
            headers = {name: value for name, value in headers.items() if value}
            same_etag = etag is not None and request.headers.get("If-None-Match") == etag
            same_date = modified is not None and request.headers.get("If-Modified-Since") == modified
            if same_etag or (same_date and "If-None-Match" not in request.headers):
                return web.Response(status=304, headers=headers)
            return web.Response(body=body.encode(), headers=headers)

        self.route(path, answer)

    # Trouble that passes

    def failing(
        self,
        path: str,
        body: str,
        *,
        times: int,
        status: int = 503,
        retry_after: str | None = None,
    ) -> None:
        """Answer so many times with a status (and Retry-After), then with the page."""
        left = [times]

        def answer(_: web.BaseRequest) -> Reply:
            if left[0] <= 0:
                return body
            left[0] -= 1
            headers = {} if retry_after is None else {"Retry-After": retry_after}
            return web.Response(status=status, headers=headers)

        self.route(path, answer)

    # Bodies that are not what they should be

    def packed(self, path: str, body: bytes, *, encoding: str = "gzip") -> None:
        """Serve a body as it is, under a Content-Encoding that may be a lie."""
        self.page(path, body, headers={"Content-Encoding": encoding})

    def gzip_bomb(self, path: str, unpacked: int) -> None:
        """Serve a small gzip body that unpacks to so many bytes."""
        packer = zlib.compressobj(9, wbits=31)
        blocks = [packer.compress(bytes(1_000_000)) for _ in range(unpacked // 1_000_000)]
        self.packed(path, b"".join(blocks) + packer.flush())

    def huge(self, path: str, size: int = 30_000_000) -> None:
        """Serve an HTML page of so many bytes."""
        paragraph = b"<p>A long page says the same thing over and over again.</p>\n"
        self.page(path, b"<html><body>" + paragraph * (size // len(paragraph) + 1) + b"</body></html>")

    def slow_drip(self, path: str, *, seconds: float = 0.05) -> None:
        """Send one byte at a time, for ever."""
        self._stream(path, b".", seconds)

    def endless(self, path: str) -> None:
        """Send as fast as it is read, for ever."""
        self._stream(path, b"<p>more</p>" * 1000, 0)

    def raw(self, path: str, answer: bytes, *, reset: bool = False) -> None:
        """Send these bytes, whether they are HTTP or not, then close (or reset) the connection."""

        async def send(request: web.BaseRequest) -> Reply:
            transport = request.transport
            if isinstance(transport, asyncio.Transport):
                transport.write(answer)
                await asyncio.sleep(0.05 if answer else 0)  # else the reset would overtake them
                _reset(transport) if reset else transport.close()
            return ""

        self.route(path, send)

    def broken_off(self, path: str) -> None:
        """Reset the connection in the middle of a body."""
        self.raw(path, b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<p>half", reset=True)

    # Traps: each leads on for ever

    def calendar(self, prefix: str = "/calendar/") -> None:
        """Serve a page for each month, `prefix?month=2024-01`, that links to the next."""

        def month(request: web.BaseRequest) -> Reply:
            year, number = (int(part) for part in request.query.get("month", "2024-01").split("-"))
            following = f"{year + number // 12}-{number % 12 + 1:02}"
            return f'<h1>{year}-{number:02}</h1><p>Nothing on.</p><a href="{prefix}?month={following}">next month</a>'

        self.route(f"{prefix}*", month)

    def sessions(self, path: str = "/shop") -> None:
        """Serve a page that links to itself under a new session id each time."""
        number = count()
        self.route(path, lambda _: f'<h1>Shop</h1><p>Welcome.</p><a href="{path}?sid={next(number):032x}">home</a>')

    def deep(self, prefix: str = "/deep/") -> None:
        """Serve the same page in every folder, with a relative link to a folder below."""
        self.page(f"{prefix}*", '<h1>Deep</h1><p>Deeper still.</p><a href="deeper/">deeper</a>')

    # Pages for a browser

    def script_app(self, path: str, text: str, *, after: float = 0.1) -> None:
        """Serve an empty page that a script fills with text after some seconds."""
        fill = f"document.getElementById('app').innerHTML = {json.dumps(f'<main><h1>App</h1><p>{text}</p></main>')}"
        self.page(path, _script_page(f"setTimeout(() => {{ {fill} }}, {after * 1000})"))

    def never_settling(self, path: str) -> None:
        """Serve a page whose script changes it and asks the server for more, for ever."""
        self.page(f"{path}/more", "{}", content_type="application/json")
        work = f"app.textContent = 'turn ' + (++turn); fetch('{path}/more?' + turn)"
        self.page(path, _script_page(f"let turn = 0; setInterval(() => {{ {work} }}, 20)"))

    def dialogs(self, path: str) -> None:
        """Serve a page that opens every kind of dialog before it shows its text."""
        ask = "alert('one'); confirm('two'); prompt('three'); window.onbeforeunload = () => 'four'"
        self.page(path, _script_page(f"{ask}; app.innerHTML = '<p>Shown after the dialogs.</p>'; window.print()"))

    def download(self, path: str) -> None:
        """Serve a page whose script downloads a file at once."""
        attachment = {"Content-Disposition": 'attachment; filename="evil.bin"'}
        self.page(f"{path}/file", bytes(1000), content_type="application/octet-stream", headers=attachment)
        text = "app.innerHTML = '<p>Shown beside the download.</p>'"
        self.page(path, _script_page(f"{text}; location.href = '{path}/file'"))

    # How it works

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._run())
        self._loop.close()

    async def _run(self) -> None:
        context = None
        if self._tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self._tls)
        runner = web.ServerRunner(web.Server(self._answer, access_log=None), shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        self.port = int(runner.addresses[0][1])
        self._started.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.requests.append(Arrival(request.path_qs, time.monotonic(), request.headers))
        if self.down:
            if isinstance(request.transport, asyncio.Transport):
                _reset(request.transport)
            return web.Response()
        handler = self._handler(request.path)
        if handler is None:
            return web.Response(text="<h1>Not found</h1>", status=404, content_type="text/html")
        reply = handler(request)
        if isinstance(reply, Awaitable):
            reply = await reply
        if isinstance(reply, web.StreamResponse):
            return reply
        return web.Response(body=reply.encode() if isinstance(reply, str) else reply, headers={"Content-Type": HTML})

    def _handler(self, path: str) -> Handler | None:
        if path in self._handlers:
            return self._handlers[path]
        prefixes = [key for key in self._handlers if key.endswith("*") and path.startswith(key[:-1])]
        return self._handlers[max(prefixes, key=len)] if prefixes else None

    def _location(self, url: str) -> str:
        return escape(f"{self.url}{url}" if url.startswith("/") else url)

    def _xml(self, path: str, text: str, *, packed: bool) -> None:
        body = f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()
        kind = "application/x-gzip" if packed else "application/xml"
        self.page(path, gzip.compress(body) if packed else body, content_type=kind)

    def _stream(self, path: str, block: bytes, seconds: float) -> None:
        async def stream(request: web.BaseRequest) -> Reply:
            response = web.StreamResponse(headers={"Content-Type": HTML})
            await response.prepare(request)
            while not self._stop.is_set():
                await response.write(block)
                await asyncio.sleep(seconds)  # a slow answer
            return response

        self.route(path, stream)


def _script_page(script: str) -> str:
    return f'<html><body><div id="app"></div><script>{script}</script></body></html>'


def _reset(transport: asyncio.Transport) -> None:
    """Close a connection by a reset, as a host that breaks down does, not by an orderly end."""
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
