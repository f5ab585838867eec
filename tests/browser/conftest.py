"""A real Chromium, and a real server on loopback with pages that behave badly."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from playwright.sync_api import sync_playwright

from sourcebook.config.sites import SiteSource
from sourcebook.web.browser.chromium import find_chromium
from sourcebook.web.browser.rendering import Renderer
from sourcebook.web.http_types import Response
from tests.browser.page_tab import Tabs
from tests.browser.site import OnlyThese, Site

T = TypeVar("T")
TIMEOUT = 30.0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a browser where there is none."""
    if find_chromium() is None:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="no Chromium is installed here"))


class Loop:
    """An event loop in a thread, so that one server and one browser serve many tests."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def close(self) -> None:
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Rendering:
    """The site, and renderers of it."""

    def __init__(self, loop: Loop, site: Site, folder: Path) -> None:
        self.loop = loop
        self.site = site
        self.folder = folder
        self.shared: Renderer | None = None

    def settings(self, **settings: Any) -> SiteSource:
        """Settings of the site, with the others at their defaults."""
        request = {"timeout": TIMEOUT, **settings.get("request", {})}
        return SiteSource.model_validate({"url": self.site.url("/"), **settings, "request": request})

    @asynccontextmanager
    async def renderer(self, *, pages_per_browser: int = 200, **settings: Any) -> AsyncIterator[Renderer]:
        """A renderer of its own."""
        guard = OnlyThese(("127.0.0.1", self.site.port), ("localhost", self.site.port))
        async with Renderer(
            self.settings(**settings), guard, self.folder, pages_per_browser=pages_per_browser
        ) as renderer:
            yield renderer

    def set(self, **settings: Any) -> None:
        """Have the next pages of the shared browser opened with other settings.

        A browser has its window, language and user agent from its start; everything else belongs to a page.
        """
        assert self.shared is not None
        self.shared._settings = self.settings(**settings)
        for browser in self.shared._browsers:
            browser._settings = self.shared._settings

    def render(self, path: str) -> Response:
        """Render a page of the site in the browser that the tests share."""
        assert self.shared is not None
        return self.loop.run(self.shared.render(self.site.url(path)))

    def render_all(self, *paths: str) -> list[Response | BaseException]:
        """Render pages at the same time; what fails is returned as well."""
        assert self.shared is not None
        work = [self.shared.render(self.site.url(path)) for path in paths]

        async def together() -> list[Response | BaseException]:
            return await asyncio.gather(*work, return_exceptions=True)

        return self.loop.run(together())


@pytest.fixture(scope="module")
def tabs() -> Iterator[Tabs]:
    """A browser for people, which the tests of a module share: each start takes two seconds of a core."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--disable-gpu"])
        yield Tabs(browser)
        browser.close()


@pytest.fixture(scope="session")
def loop() -> Iterator[Loop]:
    """The event loop of server and browser."""
    loop = Loop()
    yield loop
    loop.close()


@pytest.fixture(scope="session")
def site(loop: Loop) -> Iterator[Site]:
    """The site, served."""
    site = Site()
    loop.run(site.start())
    yield site
    loop.run(site.close())


@pytest.fixture(scope="session")
def rendering(loop: Loop, site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rendering]:
    """The site with a browser that the tests share."""
    rendering = Rendering(loop, site, tmp_path_factory.mktemp("crawl4ai"))
    shared = rendering.renderer(request={"max_bytes": 200_000})
    rendering.shared = loop.run(shared.__aenter__())
    yield rendering
    loop.run(shared.__aexit__(None, None, None))
