"""Chromium comes and goes: replaced, crashed, killed, and never left behind."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sourcebook.web.http_types import FetchError, Response
from tests.browser.conftest import Rendering
from tests.browser.processes import browsers, chromium_processes, renderers
from tests.browser.site import WORDS
from tests.checkout import CHECKOUT
from tests.waiting import until, wait_until

SCRIPT = """
import asyncio, sys
from pathlib import Path
from sourcebook.config.sites import SiteSource
from sourcebook.web.browser.rendering import Renderer
from tests.browser.site import OnlyThese

async def render(url, folder, stay):
    guard = OnlyThese(("127.0.0.1", int(url.split(":")[2].split("/")[0])))
    async with Renderer(SiteSource(url=url), guard, Path(folder)) as renderer:
        page = await renderer.render(url)
        if stay:
            print(page.status, flush=True)
            await asyncio.sleep(60)  # until it is killed

asyncio.run(render(sys.argv[1], sys.argv[2], sys.argv[3] == "stay"))
"""


def start(rendering: Rendering, folder: Path, stay: str) -> "subprocess.Popen[str]":
    """Render a page in a Python of its own, whose HOME and temporary files lie in a folder."""
    for name in ("home", "temporary", "crawl4ai"):
        (folder / name).mkdir()
    environment = {**os.environ, "HOME": str(folder / "home"), "TMPDIR": str(folder / "temporary")}
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        environment.pop(name, None)
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT, rendering.site.url("/shell"), str(folder / "crawl4ai"), stay],
        env=environment,
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_nothing_is_left_or_said(rendering: Rendering, public_folder: Path) -> None:
    """Rendering writes nothing to HOME, leaves no temporary file, and prints nothing."""
    process = start(rendering, public_folder, "go")
    said, errors = process.communicate(timeout=60)
    assert (process.returncode, said, errors) == (0, "", "")
    assert list((public_folder / "home").iterdir()) == []
    assert list((public_folder / "temporary").iterdir()) == []


def test_chromium_ends_with_a_killed_parent(rendering: Rendering, public_folder: Path) -> None:
    """`kill -9` of the process that renders ends Chromium, and removes its profile."""
    process = start(rendering, public_folder, "stay")
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "200\n"
        children = chromium_processes(process.pid)
        assert len(children) > 3
        process.kill()
    wait_until(lambda: not any(child.is_running() and child.status() != "zombie" for child in children))
    wait_until(lambda: list((public_folder / "temporary").glob("sourcebook-*")) == [])


def test_browser_killed_while_it_shows_pages(rendering: Rendering) -> None:
    """A Chromium killed from outside is started anew, and its pages are tried once more."""

    async def render() -> list[Response]:
        async with rendering.renderer() as renderer:
            before = browsers()
            await renderer.render(rendering.site.url("/text"))
            (own,) = [each for each in browsers() if each not in before]
            rendering.site.hits.clear()
            work = asyncio.gather(*(renderer.render(rendering.site.url(f"/slow?{n}")) for n in range(3)))
            await until(lambda: rendering.site.hits["/data/2"] == 3, what="the pages ask for their data")
            own.kill()
            pages = await work
            assert own not in browsers()
            return [*pages, await renderer.render(rendering.site.url("/text"))]

    for page in rendering.loop.run(render()):
        assert WORDS.strip() in page.body.decode()


def test_crashed_page(rendering: Rendering) -> None:
    """A page whose process crashes is a failure that may pass; the others, and the next, are fine."""

    async def render() -> Response:
        async with rendering.renderer() as renderer:
            url = rendering.site.url("/text")
            before = renderers()
            rendering.site.hits.clear()
            await renderer.render(url)
            work = asyncio.create_task(renderer.render(rendering.site.url("/drip")))
            await until(lambda: rendering.site.hits["/drip drops"] > 2, what="the page is shown")
            for each in renderers():
                if each not in before:
                    each.kill()
            with pytest.raises(FetchError, match="crashed") as failure:
                await work
            assert failure.value.transient
            return await renderer.render(url)

    assert rendering.loop.run(render()).status == 200


def test_a_browser_that_no_longer_reacts(rendering: Rendering) -> None:
    """A Chromium that takes no commands any more delays a page by 4 s at most; another one shows the next page."""
    timeout = 5.0

    async def render() -> tuple[float, Response]:
        async with rendering.renderer(request={"timeout": timeout}) as renderer:
            before = browsers()
            await renderer.render(rendering.site.url("/text"))
            (stopped,) = [each for each in browsers() if each not in before]
            rendering.site.hits.clear()
            begun = time.monotonic()
            work = asyncio.create_task(renderer.render(rendering.site.url("/drip")))
            await until(lambda: rendering.site.hits["/drip drops"] > 0)
            stopped.suspend()
            with pytest.raises(FetchError, match="in time") as failure:
                await work
            assert failure.value.transient
            seconds = time.monotonic() - begun
            page = await renderer.render(rendering.site.url("/text"))
        assert not stopped.is_running() or stopped.status() == psutil.STATUS_ZOMBIE
        return seconds, page

    seconds, page = rendering.loop.run(render())
    assert seconds < timeout + 4
    assert page.status == 200


def test_browsers_are_replaced(rendering: Rendering) -> None:
    """After some pages another Chromium takes over; those in flight are finished, and nothing stays behind."""
    before = len(browsers())

    async def render() -> list[Response]:
        async with rendering.renderer(pages_per_browser=3, politeness={"concurrency": 3}) as renderer:
            pages = await asyncio.gather(*(renderer.render(rendering.site.url(f"/shell?{n}")) for n in range(8)))
            await until(lambda: len(browsers()) == before + 1)
            return pages

    rendering.site.hits.clear()
    for number, page in enumerate(rendering.loop.run(render())):
        assert f">{number}: {WORDS.strip()}" in page.body.decode()
    assert rendering.site.hits["/app.js"] <= 3 * 3  # a Chromium keeps what it has fetched
    assert len(browsers()) == before


def test_a_quiet_tab_serves_the_next_page_and_the_cache_is_kept(rendering: Rendering) -> None:
    """After any number of pages one by one a single tab is open, and a script has been fetched once."""

    async def render() -> int:
        async with rendering.renderer() as renderer:
            for path in ("/shell?1", "/shell?2", "/file.zip", "/shell?3"):
                await asyncio.gather(renderer.render(rendering.site.url(path)), return_exceptions=True)
            assert renderer._current is not None
            contexts = renderer._current._strategy.browser_manager.browser.contexts
            return sum(len(context.pages) for context in contexts)

    rendering.site.hits.clear()
    assert rendering.loop.run(render()) == 1
    assert rendering.site.hits["/app.js"] == 1


def test_a_page_that_was_read_asks_for_nothing_more(rendering: Rendering) -> None:
    """In a tab that waits for its next page no script goes on, and none loads the page that the last one leads to."""

    async def render() -> tuple[int, int]:
        async with rendering.renderer() as renderer:
            await renderer.render(rendering.site.url("/ticks"))
            assert renderer._current is not None
            assert renderer._current._idle_tabs, "its tab waits for the next page"
            before = rendering.site.hits["/tick"]
            await asyncio.sleep(1)  # time in which nothing must come
            after = rendering.site.hits["/tick"]
            await renderer.render(rendering.site.url("/moves-later"))
            assert renderer._current._idle_tabs, "its tab waits for the next page"
            await asyncio.sleep(3)  # time in which nothing must come
            return before, after

    rendering.site.hits.clear()
    before, after = rendering.loop.run(render())
    assert before > 0
    assert after <= before + 1, "only what was on its way"
    assert rendering.site.hits["/moves-later"] == 1
    assert rendering.site.hits["/later"] == 0


def test_cancelled_page_is_closed(rendering: Rendering) -> None:
    """A page that nobody waits for any more is closed, and its place is free."""

    async def render() -> Response:
        async with rendering.renderer(politeness={"concurrency": 1}) as renderer:
            await renderer.render(rendering.site.url("/text"))
            rendering.site.hits.clear()
            work = asyncio.create_task(renderer.render(rendering.site.url("/slow")))
            await until(lambda: rendering.site.hits["/data/2"] > 0, what="the page asks for its data")
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            return await renderer.render(rendering.site.url("/text"))

    assert rendering.loop.run(render()).status == 200


def test_without_a_browser(rendering: Rendering, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no browser, the page's failure says what to install."""
    monkeypatch.setenv("SOURCEBOOK_CHROMIUM", "/nowhere/chromium")

    async def render() -> Response:
        async with rendering.renderer() as renderer:
            return await renderer.render(rendering.site.url("/text"))

    with pytest.raises(FetchError, match="apt-get install chromium, or set SOURCEBOOK_CHROMIUM, or render: never"):
        rendering.loop.run(render())


def test_a_browser_that_never_takes_a_command(
    rendering: Rendering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser that starts, and then says nothing on its port, is a failure in time."""
    monkeypatch.setattr("sourcebook.web.browser.crawler_browser._START_SECONDS", 2.0)
    program = tmp_path / "chromium"

    async def render() -> Response:
        async with rendering.renderer() as renderer:
            return await renderer.render(rendering.site.url("/text"))

    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"ws://127.0.0.1:{silent.getsockname()[1]}/devtools/browser/1"
        program.write_text(f"#!/bin/sh\necho 'DevTools listening on {endpoint}' >&2\nexec sleep 60\n")
        program.chmod(0o755)
        monkeypatch.setenv("SOURCEBOOK_CHROMIUM", str(program))
        begun = time.monotonic()
        with pytest.raises(FetchError, match="takes no commands"):
            rendering.loop.run(render())
        assert time.monotonic() - begun < 50


def test_a_program_that_is_no_browser(rendering: Rendering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that does not start as a browser fails with what it said."""
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho 'no usable sandbox' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("SOURCEBOOK_CHROMIUM", str(program))

    async def render() -> Response:
        async with rendering.renderer() as renderer:
            return await renderer.render(rendering.site.url("/text"))

    with pytest.raises(FetchError, match="does not start: no usable sandbox"):
        rendering.loop.run(render())
