"""How tests fetch one URL of their server."""

import asyncio
from typing import Any

import pytest

from sourcebook.config.sites import SiteSource
from sourcebook.web.fetching.addresses import AddressGuard
from sourcebook.web.fetching.fetcher import HttpFetcher
from sourcebook.web.http_types import FetchError, Request, Response
from tests.web_server import WebServer

PAGE = "<html><body><p>Hello, reader.</p></body></html>"


def settings_of(server: WebServer, *, url: str | None = None, **request: Any) -> SiteSource:
    return SiteSource.model_validate({"url": url or f"{server.url}/", "request": {"timeout": "5s", **request}})


def fetcher_of(settings: SiteSource, **options: Any) -> HttpFetcher:
    return HttpFetcher(settings, **options)


def fetch(server: WebServer, path: str, *, request: Request | None = None, **settings: Any) -> Response:
    """Fetch one path (or URL) as the site's settings of requests say."""
    return fetch_all(settings_of(server, **settings), [request or Request(address(server, path))])[0]


def fetch_all(settings: SiteSource, requests: list[Request], guard: AddressGuard | None = None) -> list[Response]:
    async def one_after_the_other() -> list[Response]:
        async with fetcher_of(settings, guard=guard) as fetcher:
            return [await fetcher.fetch(request) for request in requests]

    return asyncio.run(one_after_the_other())


def address(server: WebServer, path: str) -> str:
    return path if "://" in path else f"{server.url}{path}"


def failure(server: WebServer, path: str, **settings: Any) -> FetchError:
    """Fetch one path that has to fail; the reason holds no Python."""
    with pytest.raises(FetchError) as caught:
        fetch(server, path, **settings)
    reason = str(caught.value)
    assert "Error" not in reason
    assert "object at" not in reason
    assert reason[0].islower() or reason[0].isdigit()
    return caught.value


def flags(error: FetchError) -> tuple[bool, bool]:
    return error.transient, error.host_failed
