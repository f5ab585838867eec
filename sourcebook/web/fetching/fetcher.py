"""HTTP requests of one site within its limits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from multidict import CIMultiDict
from yarl import URL

from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass, MissingDependencyError
from sourcebook.installation import install_command
from sourcebook.model.closing import AsyncClosing
from sourcebook.web.fetching.addresses import AddressGuard, literal_address
from sourcebook.web.fetching.proxies import Proxies, Proxy
from sourcebook.web.fetching.site_headers import site_headers
from sourcebook.web.fetching.unpacking import ACCEPT_ENCODING
from sourcebook.web.http_types import FetchError, Request, Response
from sourcebook.web.login_state import Cookie
from sourcebook.web.url import normal_form

if TYPE_CHECKING:
    from sourcebook.web.fetching.client import HttpClient

_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,text/markdown;q=0.9,*/*;q=0.8"


class HttpFetcher(AsyncClosing):
    """Sends a site's requests over HTTP without following redirects.

    An asynchronous context manager for one event loop; any number of requests may run at once. Cookies live as long as
    it, where the settings ask for them.

    Args:
        settings: limits, headers and addresses of the site.
        header_origins: further origins, such as `https://cdn.example.com`, that receive the site's headers.
        guard: address check of connections; made from the settings where None.
    """

    def __init__(
        self,
        settings: SiteSource,
        *,
        header_origins: Collection[str] = (),
        guard: AddressGuard | None = None,
    ) -> None:
        self._settings = settings
        self._origins = {_origin(URL(origin)) for origin in (settings.url, *header_origins)}
        # A site configured with http that moved to https is the same site; the reverse is not.
        self._origins |= {
            ("https", host, 443) for scheme, host, port in self._origins if (scheme, port) == ("http", 80)
        }
        self._guard = guard or AddressGuard(settings)
        self._proxies = Proxies(settings)
        self._used_proxies: set[tuple[str, int]] = set()
        self._client: HttpClient | None = None

    async def start(self) -> None:
        """Make the client.

        Raises:
            MissingDependencyError: the extra `pipeline` is not installed.
        """
        try:
            from sourcebook.web.fetching.client import HttpClient
        except ModuleNotFoundError as error:
            raise MissingDependencyError(f"Fetching pages needs aiohttp: {install_command('pipeline')}") from error
        self._client = HttpClient(
            self._guard,
            seconds=self._settings.request.timeout.total_seconds(),
            max_bytes=self._settings.request.max_bytes,
            keeps_cookies=self._settings.keeps_cookies,
        )

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def fetch(self, request: Request, sent: Callable[[], None] = lambda: None) -> Response:
        """Return the server's response of any status; only a 2xx response has its body.

        Args:
            request: the request.
            sent: called when the request has been sent.

        Raises:
            FetchError: there was no response, it exceeded a limit, or its body contradicts its headers.
        """
        if self._client is None:
            raise RuntimeError("a fetcher is used within `async with`")
        url = self._checked_url(request.url)
        headers = self._headers(url, request)
        proxy = await self._proxy(url)
        host = url.raw_host or ""
        response = await self._client.send(request.url, host, headers, sent, form=request.form, proxy=proxy)
        if self._settings.keeps_cookies and request.form is None and leads_to_itself(request.url, response):
            return await self._client.send(request.url, host, headers, sent, proxy=proxy)  # with the cookie that it set
        return response

    def add_cookies(self, cookies: Iterable[Cookie]) -> None:
        """Add cookies to those that are sent; only where the settings keep cookies."""
        if self._client is not None:
            self._client.add_cookies(cookies)

    def cookies(self) -> list[Cookie]:
        """Return the cookies that are sent now."""
        return [] if self._client is None else self._client.cookies()

    async def _proxy(self, url: URL) -> Proxy | None:
        """Return the proxy of a request, None for a direct one, whose addresses the connection checks.

        Raises:
            FetchError: the host is refused.
        """
        host, port = url.raw_host or "", url.port or 0
        proxy = self._proxies.of(url.scheme, host, port)
        if proxy is not None:
            self._used_proxies.add((proxy.host, proxy.port))
            await self._guard.check_behind_proxy(host, port)
        elif (host, port) in self._used_proxies:
            await self._guard.resolve(host, port)  # its addresses are known to connections without a check
        return proxy

    def _checked_url(self, text: str) -> URL:
        try:
            url = URL(text)
            usable = url.scheme in ("http", "https") and url.raw_host and url.port and url.raw_user is None
        except ValueError:
            usable = False
        if not usable:
            raise FetchError(
                "only URLs of http and https without a user name are fetched",
                transient=False,
                failure_class=FailureClass.UNSUPPORTED,
            )
        host, port = url.raw_host or "", url.port or 0
        address = literal_address(host)  # the resolver is not called for literal addresses
        refusal = address and self._guard.refusal(host, address, port)
        if refusal:
            raise FetchError(refusal, transient=False, failure_class=FailureClass.FORBIDDEN)
        return url

    def _headers(self, url: URL, request: Request) -> CIMultiDict[str]:
        headers = CIMultiDict(
            {
                "User-Agent": self._settings.request.user_agent,
                "Accept": _ACCEPT,
                "Accept-Encoding": ACCEPT_ENCODING,
            }
        )
        if _origin(url) in self._origins:
            headers.update(site_headers(self._settings))
        if request.etag:
            headers["If-None-Match"] = request.etag
        if request.last_modified:
            headers["If-Modified-Since"] = request.last_modified
        return headers


def _origin(url: URL) -> tuple[str, str | None, int | None]:
    return url.scheme, url.raw_host, url.port


def leads_to_itself(url: str, response: Response) -> bool:
    """Whether a response redirects to its own URL, as one does that waits for its cookie."""
    location = response.headers.get("location", "") if 300 <= response.status < 400 else ""
    return bool(location) and normal_form(location, url) == normal_form(url)
