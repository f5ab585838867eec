"""A site on loopback whose pages need a browser, or trouble it."""

import asyncio
from collections import Counter
from collections.abc import Mapping

from aiohttp import web

from sourcebook.errors import FailureClass
from sourcebook.web.http_types import FetchError

WORDS = (
    "A page that a browser has to make, with enough text that nobody could call it empty or a mere placeholder. " * 2
)
METADATA = "http://169.254.169.254/latest/"


def page(body: str, head: str = "") -> str:
    """Return an HTML page."""
    return f"<!doctype html><html><head><title>Page</title>{head}</head><body>{body}</body></html>"


PAGES = {
    "/text": page(f"<p>{WORDS}</p>"),
    "/tiny": page("<p>Yes.</p>"),
    "/umlauts": page("<script>document.body.append('Größe: 5 €')</script>"),
    "/shell": page("<div id=app></div>", "<script src=/app.js></script>"),
    "/slow": page(
        "<p>Loading…</p><script>fetch('/data/2' + location.search).then(r => r.text())"
        ".then(t => document.body.append(t))</script>"
    ),
    "/hidden": page(f"<p>{WORDS}</p>", "<style>body { display: none }</style>"),
    "/frames": "<!doctype html><html><head></head><frameset cols='*'><frame src=/text></frameset></html>",
    "/loop": page(f"<p>{WORDS}</p><script>for (;;);</script>"),
    "/late-loop": page(f"<p>{WORDS}</p><script>setTimeout(() => {{ for (;;); }}, 30)</script>"),
    "/timers": page(
        f"<p>{WORDS}<b>0</b></p><script>setInterval(() => {{ const b = document.querySelector('b'); "
        "b.textContent += '.'; fetch('/text?' + Math.random()) }, 20)</script>"
    ),
    "/ticks": page(f"<p>{WORDS}</p><script>setInterval(() => fetch('/tick'), 100)</script>"),
    "/tick": page(""),
    "/moves-later": page(f"<p>{WORDS}</p>", "<meta http-equiv=refresh content='2; url=/later'>"),
    "/later": page("<p>Later.</p>"),
    "/growth": page(f"<p>{WORDS}</p><script>setInterval(() => document.body.append('x'.repeat(50_000)), 10)</script>"),
    "/dialogs": page(
        f"<script>alert(1); const c = confirm('?'), p = prompt('?');"
        f"onbeforeunload = e => {{ e.preventDefault(); return 'stay' }};"
        f"document.body.append('{WORDS}', c, p)</script>"
    ),
    "/endless-alerts": page(f"<p>{WORDS}</p><script>for (;;) alert('again')</script>"),
    "/starts-download": page(
        f"<p>{WORDS}</p><a href=/file.zip download>x</a><script>document.links[0].click()</script>"
    ),
    "/popups": page(
        f"<p>{WORDS}</p><a href=/text?popup target=_blank>x</a><script>window.open('/text?popup');"
        "document.links[0].click()</script>"
    ),
    "/leaves": page("<script>location.href = '/text'</script>"),
    "/refreshes": page("", "<meta http-equiv=refresh content='0; url=/text'>"),
    "/leaves-the-web": page(
        "<script>location.href = 'data:text/html,x'; location.href = "
        "URL.createObjectURL(new Blob(['<p>x'], {type: 'text/html'}))</script>"
    ),
    "/circles": page("", "<meta http-equiv=refresh content='0; url=/circles'>"),
    "/pushes": page(f"<p>{WORDS}</p><script>history.pushState(0, '', '/pushed')</script>"),
    "/waits-for-nothing": page(f"<p>{WORDS}</p><script>fetch('/hang')</script>"),
    "/big": page(f"<p>{'0123456789' * 300_000}</p>"),
    "/becomes-big": page("<script>document.body.append('x'.repeat(500_000))</script>"),
    "/lies-about-its-size": page(
        "<script>document.body.append('x'.repeat(500_000));"
        "Object.defineProperty(Document.prototype, 'documentElement', {get: () => 0})</script>"
    ),
    "/worker": page(f"<p>{WORDS}</p><script>document.body.append('serviceWorker' in navigator)</script>"),
    "/cookie": page(f"<p>{WORDS}</p><script>document.cookie = 'a=b'; document.body.append(document.cookie)</script>"),
}
APP = """
addEventListener('DOMContentLoaded', async () => {
    const answer = await fetch('/data/0' + location.search);
    document.getElementById('app').textContent = await answer.text();
});
"""


class OnlyThese:
    """A guard that lets nothing through but the given hosts and ports, all of them on this machine."""

    def __init__(self, *allowed: tuple[str, int]) -> None:
        self._allowed = allowed

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return loopback for what is allowed."""
        if (host, port) not in self._allowed:
            raise FetchError(
                f"{host}, port {port}, is a private address", transient=False, failure_class=FailureClass.FORBIDDEN
            )
        return ["127.0.0.1"]

    async def check_behind_proxy(self, host: str, port: int) -> None:
        """Check the same."""
        await self.resolve(host, port)


class Site:
    """The server. It counts what it is asked for, and remembers each request's headers."""

    def __init__(self, pages: Mapping[str, str] = PAGES) -> None:
        self.port = 0
        self._pages = pages
        self.hits: Counter[str] = Counter()
        self.headers: list[tuple[str, Mapping[str, str]]] = []
        self._runner: web.AppRunner | None = None

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """Return the URL of a path."""
        return f"http://{host}:{self.port}{path}"

    async def start(self) -> None:
        """Open a port."""
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Close the port."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        path, name = request.path, request.path.partition("/")[2].partition("/")[0]
        self.hits[path] += 1
        self.headers.append((request.path_qs, dict(request.headers)))
        if path in self._pages:
            return web.Response(text=self._pages[path], content_type="text/html", charset="utf-8")
        if name == "data":
            await asyncio.sleep(float(path.rpartition("/")[2]))  # a slow answer
            return web.Response(text=f"{request.query_string}: {WORDS}")
        if name == "status":
            status = int(path.split("/")[2])
            return web.Response(
                status=status, text=page(WORDS) if path.endswith("/page") else "", content_type="text/html"
            )
        answer: web.StreamResponse = await getattr(self, f"_{name.replace('.', '_').replace('-', '_')}")(request)
        return answer

    async def _app_js(self, _: web.Request) -> web.Response:
        return web.Response(text=APP, content_type="text/javascript", headers={"Cache-Control": "max-age=600"})

    async def _latin(self, _: web.Request) -> web.Response:
        return web.Response(body=f"<p>Größe {WORDS}".encode("latin-1"), content_type="text/html", charset="iso-8859-1")

    async def _redirect(self, _: web.Request) -> web.Response:
        raise web.HTTPFound("/text")

    async def _redirect_to_metadata(self, _: web.Request) -> web.Response:
        raise web.HTTPFound(METADATA)

    async def _redirect_forever(self, request: web.Request) -> web.Response:
        raise web.HTTPFound(f"/redirect-forever?{request.query_string}x")

    async def _file_zip(self, _: web.Request) -> web.Response:
        return web.Response(body=b"PK\3\4", content_type="application/zip")

    async def _paper_pdf(self, _: web.Request) -> web.Response:
        return web.Response(body=b"%PDF-1.4\n%%EOF", content_type="application/pdf")

    async def _plain_txt(self, _: web.Request) -> web.Response:
        return web.Response(text=WORDS)

    async def _favicon_ico(self, _: web.Request) -> web.Response:
        return web.Response(status=404)

    async def _hang(self, _: web.Request) -> web.Response:
        await asyncio.sleep(30)  # longer than any page may take
        return web.Response(text="late")

    async def _drip(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        while True:
            await response.write(b"<p>drop</p>")
            self.hits["/drip drops"] += 1
            await asyncio.sleep(0.2)  # a drop now and then

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        while True:
            await response.write(b"<p>stream</p>" * 5000)
            await asyncio.sleep(0.005)  # faster than anyone reads

    async def _reset(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html", "Content-Length": "100000"})
        await response.prepare(request)
        await response.write(f"<p>{WORDS}".encode())
        assert request.transport is not None
        request.transport.abort()
        return response

    async def _reaches_inside(self, request: web.Request) -> web.Response:
        other = request.query["other"]
        body = (
            f"<p>{WORDS}</p><iframe src='{METADATA}'></iframe><iframe src='{other}'></iframe>"
            f"<script src='{other}'></script><link rel=preconnect href='{other}'>"
            f"<script>fetch('{other}', {{mode: 'no-cors'}}).then(r => 'reached', e => 'refused')"
            f".then(t => document.body.append('fetch: ' + t));"
            f"const socket = new WebSocket('{other}'.replace('http', 'ws'));"
            f"socket.onerror = () => document.body.append('; socket: refused');"
            f"socket.onopen = () => document.body.append('; socket: reached')</script>"
        )
        return web.Response(text=page(body), content_type="text/html")

    async def _rings(self, request: web.Request) -> web.Response:
        script = (
            f"<script>const call = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{request.query['other']}'}}]}});"
            "call.onicegatheringstatechange = () => { if (call.iceGatheringState == 'complete')"
            " document.body.append('gathered') };"
            "call.createDataChannel('x'); call.createOffer().then(offer => call.setLocalDescription(offer))</script>"
        )
        return web.Response(text=page(script), content_type="text/html")

    async def _asks_others(self, _: web.Request) -> web.Response:
        other = self.url("/data/0?other", "localhost")
        script = f"<script>fetch('/data/0?own'); fetch('{other}', {{mode: 'no-cors'}})</script>"
        frame = f"<iframe src='{self.url('/frame-of-another', 'localhost')}'></iframe>"
        return web.Response(text=page(f"<p>{WORDS}</p>{script}{frame}"), content_type="text/html")

    async def _frame_of_another(self, _: web.Request) -> web.Response:
        script = f"<script>fetch('{self.url('/data/0?asked-by-another')}', {{mode: 'no-cors'}})</script>"
        return web.Response(text=page(script), content_type="text/html")
