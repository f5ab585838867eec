"""A server whose page signs in at a provider on loopback, and what a browser does on the way there and back."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2

from sourcebook.server.identity.sign_in_settings import RETURN_PATH
from sourcebook.server.rate_limits import RateLimits
from tests.acceptance.processes import free_port
from tests.integration.http_server import Answer, Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser
from tests.integration.stages import Stages
from tests.integration.test_page_access import cookies
from tests.login_provider import CLIENT, LoginProvider


def fill_two_documents(stages: Stages) -> None:
    """A document for everyone, and one for the board."""
    stages.write("open.md", "# Open\n\nThe barnacle marks high water.")
    stages.write("board/sale.md", "# Secret sale\n\nThe barnacle is sold for nine guilders.")
    folder = {"root": str(stages.root), "allowed": {"board/**": ["group:board"], "**": ["everyone"]}}
    stages.configure(json.dumps({"collections": {stages.collection: {"files": [folder]}}}))
    stages.run()


@dataclass(frozen=True)
class Server:
    """A server whose page signs in at the provider."""

    client: Client
    provider: LoginProvider

    def begin(self, browser: Browser, target: str = "/") -> str:
        """Let a browser set out; return the address of the provider that it is sent to."""
        answer = browser.get(f"/sign-in/provider?{urlencode({'next': target})}")
        assert answer.status == 303
        return answer.headers["location"]

    def back(self, address: str) -> str:
        """Return path and query with which the provider sends a browser back."""
        sent = httpx2.get(address)
        assert sent.status_code == 302, sent.text
        parts = urlsplit(sent.headers["location"])
        assert (parts.port, parts.path) == (self.client.port, RETURN_PATH)
        return f"{parts.path}?{parts.query}"

    def sign_in(self, browser: Browser, target: str = "/") -> Answer:
        return browser.get(self.back(self.begin(browser, target)))


@contextmanager
def signing_in(
    base: Stages,
    provider: LoginProvider,
    *,
    sign_in: Mapping[str, Any] = MappingProxyType({}),
    limit: int = 600,
    **settings: Any,
) -> Iterator[Server]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    provider.clients.setdefault(CLIENT, []).append(f"{url}{RETURN_PATH}")
    page = {"client_id": CLIENT, "url": url, "name": "Tide House", **sign_in}
    tokens = provider.issuer.settings(sign_in=page, **settings)
    limits = RateLimits(limit, wrong_keys=None)
    with serving(base.knowledge, requires_key=True, tokens=tokens, port=port, limits=limits) as client:
        yield Server(client, provider)


def problem(answer: Answer) -> str:
    """Return what a page says that lets nobody in."""
    assert "sourcebook_session" not in cookies(answer)
    page = Page(answer.content)
    assert page.acting() == []
    assert "Sign in with Tide House" in page.text
    return page.text
