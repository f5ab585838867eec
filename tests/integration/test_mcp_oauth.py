"""Agents by OAuth: the SDK's own client signs in, from the first refusal of this server to the answer of a tool."""

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from tests.acceptance.processes import free_port
from tests.integration.http_server import Client as HttpClient
from tests.integration.http_server import serving
from tests.integration.page_sign_in import fill_two_documents
from tests.integration.stages import Stages
from tests.login_provider import LoginProvider, providing
from tests.token_issuer import Told, rsa_key

RETURN = "http://127.0.0.1:1/returned"
"""Where an agent's own server would listen; the test reads the redirect in its place."""


def fill(stages: Stages) -> None:
    """A document for everyone, and one for the board."""
    fill_two_documents(stages)


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


@pytest.fixture
def provider() -> Iterator[LoginProvider]:
    with providing(rsa=rsa_key()) as provider:
        yield provider


class Kept(TokenStorage):
    """What an agent keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """Somebody in front of a browser, to whom the agent gives an address."""

    def __init__(self) -> None:
        self.sent_to: list[str] = []

    async def open(self, address: str) -> None:
        self.sent_to.append(address)

    async def come_back(self) -> AuthorizationCodeResult:
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(self.sent_to[-1])
        assert answer.status_code == 302, answer.text
        told = {name: value for name, (value,) in parse_qs(urlsplit(answer.headers["location"]).query).items()}
        return AuthorizationCodeResult(**told)


def ask(port: int, kept: Kept, person: Person) -> Any:
    """Let an agent search that knows the address of the server, and nothing of its provider."""
    server = f"http://127.0.0.1:{port}/mcp"
    wanted = OAuthClientMetadata.model_validate({"client_name": "Test agent", "redirect_uris": [RETURN]})
    login = OAuthClientProvider(server, wanted, kept, person.open, person.come_back)

    async def run() -> Any:
        async with (
            httpx2.AsyncClient(auth=login, timeout=30) as http,
            Client(streamable_http_client(server, http_client=http)) as client,
        ):
            found = await client.call_tool("search_documents", {"query": "What is the barnacle sold for?"})
            assert not found.is_error, found.content
            return found.structured_content

    return asyncio.run(run())


def test_an_agent_signs_its_person_in_and_finds_what_the_person_may_see(base: Stages, provider: LoginProvider) -> None:
    """It learns of the provider, registers itself, and gets a token for this server (RFC 9728, 7591, 7636, 8707)."""
    port = free_port()
    resource = f"http://127.0.0.1:{port}/mcp"
    provider.claims = {"groups": ["board"]}
    with serving(base.knowledge, requires_key=True, tokens=provider.issuer.settings(resource=resource), port=port):
        kept, person = Kept(), Person()
        assert "guilders" in str(ask(port, kept, person))
        (asked,) = (parse_qs(urlsplit(each).query) for each in person.sent_to)
        assert (asked["resource"], asked["code_challenge_method"]) == ([resource], ["S256"])
        assert provider.redeemed[0]["resource"] == resource
        assert kept.client is not None
        assert provider.clients == {kept.client.client_id: [RETURN]}

        assert "guilders" in str(ask(port, kept, person)), "the token is kept: nobody is asked again"
        assert len(person.sent_to) == 1

        provider.claims = {"sub": "bo"}
        assert "guilders" not in str(ask(port, Kept(), Person()))


def test_a_token_for_another_server_is_refused(base: Stages, provider: LoginProvider) -> None:
    """The provider takes no heed of the resource: what it gives opens nothing here."""
    port = free_port()
    tokens = provider.issuer.settings(resource=f"http://127.0.0.1:{port}/mcp")
    provider.ignores_resource = True
    with serving(base.knowledge, requires_key=True, tokens=tokens, port=port):
        kept, person = Kept(), Person()
        with pytest.raises(BaseExceptionGroup):
            ask(port, kept, person)
        assert kept.tokens is not None
        refused = HttpClient(port, kept.tokens.access_token).get("/v1/documents")
        assert (refused.status, "another audience" in refused.json["detail"]) == (401, True)


def test_an_expired_token_leads_to_the_provider_again(base: Stages, provider: LoginProvider) -> None:
    port = free_port()
    tokens = provider.issuer.settings(resource=f"http://127.0.0.1:{port}/mcp")
    with serving(base.knowledge, requires_key=True, tokens=tokens, port=port):
        kept, person = Kept(), Person()
        ask(port, kept, person)
        assert kept.tokens is not None
        kept.tokens.access_token = provider.issuer.token(aud=f"http://127.0.0.1:{port}/mcp", exp=1)
        assert "high water" in str(ask(port, kept, person))
        assert len(person.sent_to) == 2


def test_a_provider_that_describes_itself_by_openid_connect_alone_is_found(
    base: Stages, provider: LoginProvider
) -> None:
    port = free_port()
    provider.issuer.pages["GET", "/.well-known/oauth-authorization-server"] = lambda _: Told(status=404)
    tokens = provider.issuer.settings(resource=f"http://127.0.0.1:{port}/mcp")
    with serving(base.knowledge, requires_key=True, tokens=tokens, port=port):
        assert "high water" in str(ask(port, Kept(), Person()))
        assert "/.well-known/openid-configuration" in provider.issuer.asked
