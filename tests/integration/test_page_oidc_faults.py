"""Signing in to the pages where somebody forges, replays or mixes up, and where the provider behaves badly."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from sourcebook.server.identity.sign_in_settings import RETURN_PATH
from sourcebook.server.rate_limits import RateLimits
from tests.acceptance.processes import free_port
from tests.integration.http_server import Client, serving
from tests.integration.page_forms import Browser
from tests.integration.page_sign_in import fill_two_documents, problem, signing_in
from tests.integration.stages import Stages
from tests.login_provider import CLIENT, LoginProvider, providing
from tests.token_issuer import rsa_key, unsigned


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


def test_a_return_that_another_browser_began_or_that_was_used_opens_nothing(
    base: Stages, provider: LoginProvider
) -> None:
    with signing_in(base, provider) as server:
        anna, eve = Browser(server.client), Browser(server.client)
        hers = server.back(server.begin(anna))
        server.begin(eve)
        assert "belongs to no sign-in" in problem(eve.get(hers)), "a link that signs somebody in as Eve, or as Anna"
        assert "belongs to no sign-in" in problem(server.client.get(hers, Accept="text/html"))
        assert provider.redeemed == []
        kept = anna.cookies["sourcebook_sign_in"]
        assert anna.get(hers).status == 200
        assert anna.cookies["sourcebook_sign_in"] in ("", '""')
        again = Browser(server.client)
        again.cookies["sourcebook_sign_in"] = kept  # even where somebody has kept the cookie
        assert "does not take the code" in problem(again.get(hers))
        for wrong in ("", "a", "a.b.c", "a.b.c.d", "....", "a.b.c.\xff", "a" * 5_000):
            again.cookies["sourcebook_sign_in"] = wrong
            assert "belongs to no sign-in" in problem(again.get(f"{RETURN_PATH}?state=a&code=b"))


def test_a_code_of_another_sign_in_opens_nothing(base: Stages, provider: LoginProvider) -> None:
    """PKCE: the code of somebody else, put into the return of one's own."""
    with signing_in(base, provider) as server:
        anna, eve = Browser(server.client), Browser(server.client)
        (code,) = parse_qs(urlsplit(server.back(server.begin(anna))).query)["code"]
        (state,) = parse_qs(urlsplit(server.begin(eve)).query)["state"]
        answer = eve.get(f"{RETURN_PATH}?{urlencode({'code': code, 'state': state})}")
        assert answer.status == 401
        assert "does not take the code" in problem(answer)


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"nonce": "another"}, "answers another sign-in"),
        ({"nonce": None}, "answers another sign-in"),
        ({"nonce": 7}, "answers another sign-in"),
        ({"aud": "another-client"}, "another audience"),
        ({"aud": [CLIENT, "another-client"]}, "another client"),
        ({"aud": [CLIENT, "another-client"], "azp": "another-client"}, "another client"),
        ({"azp": "another-client"}, "another client"),
        ({"iss": "https://login.example.org"}, "another issuer"),
        ({"exp": 1}, "expired"),
        ({"exp": None}, "lacks one of"),
        ({"iat": None}, "lacks one of"),
        ({"sub": None}, "lacks one of"),
        ({"nbf": 9_999_999_999}, "not valid yet"),
        ({"groups": "board"}, "no list of names"),
        ({"_claim_names": {"groups": "src1"}}, "overage"),
        ({"hasgroups": True}, "overage"),
    ],
)
def test_an_id_token_that_is_not_for_this_sign_in_opens_nothing(
    base: Stages, provider: LoginProvider, claims: dict[str, Any], reason: str
) -> None:
    provider.claims = claims
    with signing_in(base, provider) as server:
        answer = server.sign_in(Browser(server.client))
        assert (answer.status, reason in problem(answer)) == (401, True)
        assert "anna" not in answer.content.decode()


def test_a_forged_id_token_opens_nothing(base: Stages, provider: LoginProvider) -> None:
    """Whoever stands between cannot sign, and shows no other key than those that are published."""
    with signing_in(base, provider) as server:
        for header in ({"alg": "none"}, {"alg": "HS256", "kid": "rsa"}, {"alg": "none", "kid": "rsa"}):
            browser = Browser(server.client)
            asked = parse_qs(urlsplit(address := server.begin(browser)).query)
            told = provider.issuer.claims(aud=CLIENT, nonce=asked["nonce"][0])
            provider.id_token = unsigned(header, told, b"signature" if header["alg"] != "none" else b"")
            assert "algorithm is not allowed" in problem(browser.get(server.back(address)))
        for broken in ("", "a.b.c", "x" * 300_000):
            provider.id_token = broken
            answer = server.sign_in(Browser(server.client))
            assert answer.status in {401, 503}
            problem(answer)


def test_a_rotation_of_keys_needs_no_restart(base: Stages, provider: LoginProvider, monkeypatch: Any) -> None:
    monkeypatch.setattr("sourcebook.server.identity.signing_keys.PAUSE", 0.0)
    with signing_in(base, provider) as server:
        assert server.sign_in(Browser(server.client)).status == 200
        provider.issuer.keys = {"new": rsa_key()}
        provider.key = ("new", "RS256")
        assert server.sign_in(Browser(server.client)).status == 200
        provider.issuer.keys["stolen"] = rsa_key()
        provider.id_token = provider.issuer.token("stolen", aud=CLIENT)
        del provider.issuer.keys["stolen"]
        assert "signed with a key that its issuer does not have" in problem(server.sign_in(Browser(server.client)))


def test_a_provider_that_refuses_the_person_is_told_in_plain_words(base: Stages, provider: LoginProvider) -> None:
    provider.refusal = "access_denied<script>"
    with signing_in(base, provider) as server:
        answer = server.sign_in(Browser(server.client))
        assert answer.status == 401
        assert "Tide House has not signed you in. Try again" in problem(answer)
        assert b"access_denied" not in answer.content


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (500, b"{}", "answers with status 500"),
        (429, b"{}", "answers with status 429"),
        (302, b"{}", "answers with status 302"),
        (200, b'{"id_token": "ey', "no JSON"),
        (200, b"[]", "no ID token"),
        (200, b'{"id_token": 7}', "no ID token"),
        (200, b"[" * 100_000, "no JSON"),
        (200, b'"' + b"x" * (1 << 20) + b'"', "more than 1 MiB"),
    ],
)
def test_a_provider_that_answers_badly_is_a_page_with_the_remedy(
    base: Stages, provider: LoginProvider, status: int, body: bytes, reason: str
) -> None:
    provider.token_status, provider.token_body = status, body
    with signing_in(base, provider) as server:
        answer = server.sign_in(Browser(server.client))
        assert (answer.status, answer.headers["retry-after"]) == (503, "10")
        said = problem(answer)
        assert reason in said
        assert "Try again in a minute, or sign in with a key" in said


def test_a_provider_that_is_away_is_told_at_once_and_asked_once_in_ten_seconds(
    base: Stages, provider: LoginProvider
) -> None:
    provider.issuer.discovery["issuer"] = "https://elsewhere.example.org"
    with signing_in(base, provider) as server:
        for _ in range(5):
            answer = Browser(server.client).get("/sign-in/provider")
            assert (answer.status, "names another issuer" in problem(answer)) == (503, True)
        assert len(provider.issuer.asked) == 1


def test_a_provider_that_is_gone_or_trickles_lets_nobody_wait_long(
    base: Stages, provider: LoginProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sourcebook.server.identity.provider.SECONDS", 0.3)
    with providing(rsa=rsa_key()) as gone:
        left = gone
    with signing_in(base, left) as server:
        answer = Browser(server.client).get("/sign-in/provider")
        assert (answer.status, "cannot be reached" in problem(answer)) == (503, True)
        assert Client(server.client.port).get("/sign-in", Accept="text/html").status == 200, "with a key"
    provider.issuer.seconds_a_byte = 0.05
    with signing_in(base, provider) as server:
        answer = Browser(server.client).get("/sign-in/provider")
        assert (answer.status, "in time" in problem(answer)) == (503, True)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("token_endpoint", "http://login.example.org/token"),
        ("authorization_endpoint", "javascript:alert(1)"),
        ("authorization_endpoint", None),
    ],
)
def test_a_discovery_that_leads_elsewhere_is_not_followed(
    base: Stages, provider: LoginProvider, name: str, url: str | None
) -> None:
    provider.issuer.discovery[name] = url
    with signing_in(base, provider) as server:
        answer = Browser(server.client).get("/sign-in/provider")
        assert (answer.status, f"no https URL as {name}" in problem(answer)) == (503, True)


def test_returns_that_fail_are_bounded_for_an_address(base: Stages, provider: LoginProvider) -> None:
    """They count as wrong keys do: nobody lets this server knock at the provider without end."""
    port = free_port()
    tokens = provider.issuer.settings(sign_in={"client_id": CLIENT, "url": f"http://127.0.0.1:{port}"})
    with serving(
        base.knowledge, requires_key=True, tokens=tokens, port=port, limits=RateLimits(wrong_keys=5)
    ) as client:
        held = "sourcebook_sign_in=a.b.c.Lw=="
        statuses = [client.get(f"{RETURN_PATH}?state=a&code={each}", Cookie=held).status for each in range(8)]
        assert statuses == [401] * 5 + [429] * 3
