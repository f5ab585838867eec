"""What a page may reach, and what it is told."""

import asyncio

import pytest

from sourcebook.errors import FailureClass
from sourcebook.web.browser.rendering import Renderer
from sourcebook.web.http_types import FetchError, Response
from tests.browser.conftest import Rendering
from tests.browser.site import METADATA, OnlyThese, Site


def test_scripts_do_not_reach_private_addresses(rendering: Rendering) -> None:
    """Another port of this machine is reached neither by fetch, script, frame nor web socket."""

    async def render() -> tuple[Response, int]:
        other = Site()
        await other.start()
        try:
            assert rendering.shared is not None
            url = rendering.site.url(f"/reaches-inside?other={other.url('/text')}")
            return await rendering.shared.render(url), other.hits.total()
        finally:
            await other.close()

    page, hits = rendering.loop.run(render())
    assert b"fetch: refused" in page.body
    assert b"socket: refused" in page.body
    assert hits == 0


class Datagrams(asyncio.DatagramProtocol):
    """Counts what arrives."""

    def __init__(self) -> None:
        self.number = 0

    def datagram_received(self, data: bytes, address: object) -> None:
        """Count one."""
        self.number += 1


def test_no_datagram_goes_past_the_proxy(rendering: Rendering) -> None:
    """WebRTC sends nothing to a port of this machine: no proxy of http sees UDP."""

    async def render() -> tuple[Response, int]:
        loop = asyncio.get_running_loop()
        transport, datagrams = await loop.create_datagram_endpoint(Datagrams, local_addr=("127.0.0.1", 0))
        host, port = transport.get_extra_info("sockname")
        try:
            assert rendering.shared is not None
            return await rendering.shared.render(rendering.site.url(f"/rings?other={host}:{port}")), datagrams.number
        finally:
            transport.close()

    page, arrived = rendering.loop.run(render())
    assert b"gathered" in page.body
    assert arrived == 0


@pytest.mark.parametrize(
    "path", ["/redirect-to-metadata", METADATA, "https://example.invalid/", "http://127.0.0.1:44444/"]
)
def test_refused_addresses_give_the_guards_reason(rendering: Rendering, path: str) -> None:
    """A page or a redirect at a refused address fails with the guard's words, not the browser's."""
    assert rendering.shared is not None
    url = rendering.site.url(path) if path.startswith("/") else path
    with pytest.raises(FetchError, match="is a private address") as failure:
        rendering.loop.run(rendering.shared.render(url))
    assert not failure.value.transient


def test_headers_reach_the_site_alone(rendering: Rendering, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings' headers go with what the site's pages ask of the site, and with nothing else."""
    monkeypatch.setenv("DOCS_TOKEN", "secret")
    rendering.site.headers.clear()

    async def render() -> None:
        async with rendering.renderer(request={"headers": {"Authorization": "Bearer ${DOCS_TOKEN}"}}) as renderer:
            await renderer.render(rendering.site.url("/asks-others"))

    rendering.loop.run(render())
    told = {
        (headers["Host"].partition(":")[0], url): headers.get("Authorization")
        for url, headers in rendering.site.headers
    }
    assert told == {
        ("127.0.0.1", "/asks-others"): "Bearer secret",
        ("127.0.0.1", "/data/0?own"): "Bearer secret",
        ("127.0.0.1", "/data/0?asked-by-another"): None,
        ("localhost", "/data/0?other"): None,
        ("localhost", "/frame-of-another"): None,
    }
    assert {headers["User-Agent"] for _, headers in rendering.site.headers} == {"Sourcebook/0.1"}


def test_requests_wait_for_permission(rendering: Rendering) -> None:
    """Every request waits for `before_request`; what that raises is the page's failure."""
    asked: list[str] = []

    async def before_request(host: str) -> None:
        asked.append(host)
        await asyncio.sleep(0.1)  # the permission takes its time
        if len(asked) > 3:
            raise FetchError("the host is left alone", transient=True, failure_class=FailureClass.NETWORK)

    async def render() -> Response:
        guard = OnlyThese(("127.0.0.1", rendering.site.port))
        settings = rendering.settings()
        async with Renderer(settings, guard, rendering.folder, before_request) as renderer:
            page = await renderer.render(rendering.site.url("/shell"))
            with pytest.raises(FetchError, match="the host is left alone") as failure:
                await renderer.render(rendering.site.url("/text"))
            assert failure.value.transient
            return page

    rendering.site.hits.clear()
    assert b"A page that" in rendering.loop.run(render()).body
    assert asked == ["127.0.0.1"] * 4  # the page, its script, its data; the other page, and no icon of its refusal
    assert rendering.site.hits.keys() == {"/shell", "/app.js", "/data/0"}
