"""The browser of a crawl, started for the first page that needs it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.config.sites import SiteSource
from sourcebook.model.closing import AsyncClosing
from sourcebook.web.fetching.addresses import AddressGuard
from sourcebook.web.fetching.politeness import HostLimiter
from sourcebook.web.http_types import Response
from sourcebook.web.login_state import LoginState

if TYPE_CHECKING:
    from sourcebook.web.browser.rendering import Renderer


class SiteRenderer(AsyncClosing):
    """Renders pages at the request rate of their hosts. An asynchronous context manager for one event loop."""

    def __init__(
        self,
        settings: SiteSource,
        guard: AddressGuard,
        limiter: HostLimiter,
        folder: Path,
        login: Callable[[], LoginState] = LoginState,
    ) -> None:
        self._login = login
        self._settings = settings
        self._guard = guard
        self._limiter = limiter
        self._folder = folder
        self._starting = asyncio.Lock()
        self._running = AsyncExitStack()
        self._renderer: Renderer | None = None

    async def close(self) -> None:
        await self._running.aclose()

    async def render(self, url: str) -> Response:
        """Return the page after its scripts ran.

        Raises:
            FetchError: there is no browser, or the page cannot be loaded.
        """
        async with self._starting:
            if self._renderer is None:
                self._renderer = await self._running.enter_async_context(self._start())
        return await self._renderer.render(url)

    def begin_again(self) -> None:
        """Let a new browser render the next pages, with the session of now; open pages are not disturbed."""
        if self._renderer is not None:
            self._renderer.begin_again()

    def _start(self) -> Renderer:
        from sourcebook.web.browser.rendering import Renderer

        return Renderer(self._settings, self._guard, self._folder, self._limiter.acquire, login=self._login)
