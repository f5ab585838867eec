"""HTTP requests of one site, sent by crawl4ai within the site's limits."""

import gc
import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from multidict import CIMultiDict
from yarl import URL

from sourcebook.config.sites import SiteSource
from sourcebook.errors import MissingDependencyError
from sourcebook.installation import install_command
from sourcebook.web.fetching.addresses import AddressGuard, literal_address
from sourcebook.web.http_types import FetchError, Request, Response

if TYPE_CHECKING:
    from sourcebook.web.fetching.strategy import HttpStrategy

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,text/markdown;q=0.9,*/*;q=0.8"


class HttpFetcher:
    """Sends a site's requests over HTTP without following redirects, storing cookies or using proxies.

    An asynchronous context manager for one event loop; any number of requests may run at once.

    Args:
        settings: limits, headers and addresses of the site.
        base_directory: folder for crawl4ai's files, in place of the home directory.
        header_origins: further origins, such as `https://cdn.example.com`, that receive the site's headers.
        guard: address check of connections; made from the settings where None.
    """

    def __init__(
        self,
        settings: SiteSource,
        *,
        base_directory: Path,
        header_origins: Collection[str] = (),
        guard: AddressGuard | None = None,
    ) -> None:
        self._settings = settings
        self._base_directory = base_directory
        self._origins = {_origin(URL(origin)) for origin in (settings.url, *header_origins)}
        # A site configured with http that moved to https is the same site; the reverse is not.
        self._origins |= {
            ("https", host, 443) for scheme, host, port in self._origins if (scheme, port) == ("http", 80)
        }
        self._guard = guard or AddressGuard(settings)
        self._strategy: HttpStrategy | None = None

    async def __aenter__(self) -> Self:
        os.environ.setdefault("CRAWL4_AI_BASE_DIRECTORY", str(self._base_directory))
        try:
            with _without_collector():
                from sourcebook.web.fetching.strategy import HttpStrategy
        except ModuleNotFoundError as error:
            raise MissingDependencyError(f"Fetching pages needs crawl4ai: {install_command('web')}") from error
        seconds = self._settings.timeout.total_seconds()
        self._strategy = HttpStrategy(self._guard, seconds=seconds, max_bytes=self._settings.max_bytes)
        await self._strategy.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._strategy is not None:
            await self._strategy.close()
            self._strategy = None

    async def fetch(self, request: Request, sent: Callable[[], None] = lambda: None) -> Response:
        """Return the server's response of any status; only a 2xx response has its body.

        Args:
            request: the request.
            sent: called when the request has been sent.

        Raises:
            FetchError: there was no response, it exceeded a limit, or its body contradicts its headers.
        """
        if self._strategy is None:
            raise RuntimeError("a fetcher is used within `async with`")
        url = self._checked_url(request.url)
        return await self._strategy.send(request.url, url.raw_host or "", self._headers(url, request), sent)

    def _checked_url(self, text: str) -> URL:
        try:
            url = URL(text)
            usable = url.scheme in ("http", "https") and url.raw_host and url.port and url.raw_user is None
        except ValueError:
            usable = False
        if not usable:
            raise FetchError("only URLs of http and https without a user name are fetched", transient=False)
        host, port = url.raw_host or "", url.port or 0
        address = literal_address(host)  # the resolver is not called for literal addresses
        refusal = address and self._guard.refusal(host, address, port)
        if refusal:
            raise FetchError(refusal, transient=False)
        return url

    def _headers(self, url: URL, request: Request) -> CIMultiDict[str]:
        headers = CIMultiDict(
            {
                "User-Agent": self._settings.user_agent,
                "Accept": _ACCEPT,
                "Accept-Encoding": "gzip, deflate",
            }
        )
        if self._settings.headers and _origin(url) in self._origins:
            headers.update({name: filled_in(name, value) for name, value in self._settings.headers.items()})
        if request.etag:
            headers["If-None-Match"] = request.etag
        if request.last_modified:
            headers["If-Modified-Since"] = request.last_modified
        return headers


def _origin(url: URL) -> tuple[str, str | None, int | None]:
    return url.scheme, url.raw_host, url.port


@contextmanager
def _without_collector() -> Iterator[None]:
    """Pause garbage collection: it takes a third of the time of importing crawl4ai, whose objects stay."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def filled_in(name: str, value: str) -> str:
    """Substitute environment variables in a header's value; no message contains a value."""

    def variable(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            reason = f"the site's header {name} needs the environment variable {match[1]}, which is not set"
            raise FetchError(reason, transient=False)
        return found.strip()

    filled = _VARIABLE.sub(variable, value)
    if _CONTROL.search(filled):
        raise FetchError(f"the site's header {name} holds characters that no header may have", transient=False)
    return filled
