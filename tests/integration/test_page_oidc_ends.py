"""Sessions of the page that the provider ends: by a logout token, or by no longer renewing them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import jwt
import pytest

from sourcebook.admin.audit import audit_events
from sourcebook.server.identity.sign_in_settings import LOGOUT_PATH
from tests.integration.http_server import Answer
from tests.integration.page_forms import Browser
from tests.integration.page_sign_in import Server, fill_two_documents, signing_in
from tests.integration.stages import Stages
from tests.login_provider import CLIENT, LoginProvider, providing
from tests.token_issuer import AUDIENCE, rsa_key, unsigned

EVENT = "http://schemas.openid.net/event/backchannel-logout"


def fill(stages: Stages) -> None:
    """A document for everyone, and one for the board."""
    fill_two_documents(stages)


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


@pytest.fixture
def provider() -> Iterator[LoginProvider]:
    with providing(rsa=rsa_key(), other=rsa_key()) as provider:
        del provider.issuer.keys["other"]
        yield provider


def signed_in(server: Server, sub: str, sid: str | None) -> Browser:
    server.provider.claims = {"sub": sub, "sid": sid, "groups": ["board"]}
    browser = Browser(server.client)
    assert server.sign_in(browser).status == 200
    return browser


def log_out(server: Server, token: str, name: str = "logout_token") -> Answer:
    """Send a logout token, as the provider does."""
    form = urlencode({name: token}).encode()
    return server.client.request("POST", LOGOUT_PATH, form, {"Content-Type": "application/x-www-form-urlencoded"})


def goes_on(browser: Browser) -> bool:
    return browser.get("/documents").status == 200


def test_a_logout_token_ends_the_sessions_that_it_names(base: Stages, provider: LoginProvider) -> None:
    """One session, all of a person, or that one of the person; nobody else's; and each token once."""
    with signing_in(base, provider) as server:
        anna, again, odd = (signed_in(server, "anna", sid) for sid in ("s1", "s2", None))
        eve = signed_in(server, "eve", "s3")
        by_session = provider.logout_token(sub=None, sid="s1")
        answer = log_out(server, by_session)
        assert (answer.status, answer.headers["cache-control"], answer.content) == (200, "no-store", b"")
        assert [*map(goes_on, (anna, again, odd, eve))] == [False, True, True, True]
        assert log_out(server, provider.logout_token(sub="eve", sid="s2")).status == 200
        assert goes_on(again), "a session of somebody else"
        assert log_out(server, provider.logout_token(sub="anna", sid="s9")).status == 200
        assert [*map(goes_on, (again, odd))] == [True, False], "a session that does not say which it is, ends with any"
        by_person = provider.logout_token(sub="anna")
        assert log_out(server, by_person).status == 200
        assert [*map(goes_on, (again, eve))] == [False, True]
        back = signed_in(server, "anna", "s1")
        for replayed in (by_session, by_person):
            answer = log_out(server, replayed)
            assert (answer.status, "taken before" in answer.json["error_description"]) == (400, True)
        assert goes_on(back)
    with base.connection() as connection:
        events = [each for each in audit_events(connection) if each.action == "session.end"]
    assert [(each.actor, each.details["because"]) for each in events] == 3 * [(provider.issuer.url, "logged out there")]


def test_what_is_no_logout_token_of_the_provider_ends_nothing(base: Stages, provider: LoginProvider) -> None:
    with signing_in(base, provider) as server:
        anna = signed_in(server, "anna", "s1")
        wrong: list[dict[str, Any]] = [
            {"aud": "another-client"},
            {"aud": AUDIENCE},
            {"iss": "https://login.example.org"},
            {"exp": 1},
            {"exp": None},
            {"iat": None},
            {"iat": 4_000_000_000},
            {"jti": None},
            {"jti": 7},
            {"nonce": "a"},
            {"nonce": None, "events": None},
            {"events": [EVENT]},
            {"events": {EVENT: None}},
            {"events": {"http://schemas.openid.net/event/another": {}}},
            {"sub": None, "sid": None},
            {"sub": "", "sid": "s1"},
            {"sub": "anna", "sid": ["s1"]},
            {"sub": "anna" * 1_000},
        ]
        tokens = [provider.logout_token(**{"sub": "anna", **each}) for each in wrong]
        claims = provider.issuer.claims(aud=CLIENT, sub="anna", jti="a", events={EVENT: {}})
        tokens += [unsigned({"alg": "none", "typ": "logout+jwt"}, claims), "", "a.b.c", "\0"]
        tokens += [jwt.encode(claims, "a" * 64, "HS256", {"kid": "rsa"})]
        tokens += [jwt.encode(claims, rsa_key(), "RS256", {"kid": "rsa"})]
        tokens += [provider.issuer.token(aud=CLIENT, sub="anna", sid="s1")]  # an ID token
        for token in tokens:
            answer = log_out(server, token)
            assert (answer.status, answer.headers["cache-control"]) == (400, "no-store"), token
        assert log_out(server, provider.logout_token(sub="anna"), "token").status == 400
        assert goes_on(anna)
        provider.issuer.keys, kept = {}, provider.issuer.keys
        assert log_out(server, jwt.encode(claims, rsa_key(), "RS256", {"kid": "new"})).status in (400, 503)
        provider.issuer.keys = kept
        assert goes_on(anna)


def test_a_logout_token_opens_nothing(base: Stages, provider: LoginProvider) -> None:
    """Also where the page and the server are one audience."""
    with signing_in(base, provider, audience=[CLIENT]) as server:
        for headers, claims in (({"typ": "logout+jwt"}, {}), ({}, {}), ({"typ": "logout+jwt"}, {"events": None})):
            token = provider.logout_token(headers, sub="anna", **claims)
            assert server.client.get("/v1/documents", Authorization=f"Bearer {token}").status == 401
        provider.id_token = provider.logout_token(sub="anna")
        assert server.sign_in(Browser(server.client)).status == 401


def due(base: Stages, renewed: str = "now()") -> None:
    """Let it be time to ask the provider again."""
    base.rows(f"UPDATE page_session SET renew_at = now(), renewed_at = {renewed} RETURNING 1")


def test_groups_are_taken_anew_and_a_refusal_ends_the_session(base: Stages, provider: LoginProvider) -> None:
    """The provider is asked once for many pages at a time; the database has no token in clear."""
    provider.offers_refresh = True
    with signing_in(base, provider, sign_in={"refresh": "15m"}) as server:
        anna = signed_in(server, "anna", "s1")
        assert "Secret sale" in anna.open("/documents").text
        asked = len(provider.redeemed)
        provider.claims = {"sub": "anna", "sid": "s1", "groups": ["staff"]}
        assert "Secret sale" in anna.open("/documents").text, "before it is time"
        assert len(provider.redeemed) == asked
        for _ in range(2):
            due(base)
            with ThreadPoolExecutor(4) as pool:
                shown = [each.result() for each in [pool.submit(anna.open, "/documents") for _ in range(4)]]
            assert ["Secret sale" in each.text for each in shown] == 4 * [False]
        assert [each["grant_type"] for each in provider.redeemed[asked:]] == 2 * ["refresh_token"]
        (row,) = base.rows("SELECT * FROM page_session")
        assert not [token for token in provider._refresh_tokens if token in repr(row)]
        provider.over.add("s1")
        assert goes_on(anna)
        due(base)
        assert anna.get("/documents").headers["location"] == "/sign-in?next=%2Fdocuments"
        assert base.rows("SELECT 1 FROM page_session") == []


@pytest.mark.parametrize(
    ("answer", "ends"),
    [
        ({}, False),  # without an ID token the person is as before
        ({"id_token": "a.b.c"}, True),
        ({"id_token": 7}, False),
        ([], False),
    ],
)
def test_odd_answers_to_a_refresh_token(base: Stages, provider: LoginProvider, answer: Any, ends: bool) -> None:
    provider.offers_refresh = True
    with signing_in(base, provider, sign_in={"refresh": "15m"}) as server:
        anna = signed_in(server, "anna", "s1")
        provider.refresh_answer = answer
        due(base)
        assert goes_on(anna) is not ends


def test_another_person_is_a_refusal(base: Stages, provider: LoginProvider) -> None:
    provider.offers_refresh = True
    with signing_in(base, provider, sign_in={"refresh": "15m"}) as server:
        anna = signed_in(server, "anna", "s1")
        provider.claims = {"sub": "eve", "groups": ["board"]}
        due(base)
        assert not goes_on(anna)


def test_a_provider_that_does_not_answer_ends_a_session_after_twice_the_time(
    base: Stages, provider: LoginProvider
) -> None:
    provider.offers_refresh = True
    with signing_in(base, provider, sign_in={"refresh": "15m"}) as server:
        anna = signed_in(server, "anna", "s1")
        for status, body in ((500, b"{}"), (429, b"{}"), (200, b'{"id_tok'), (302, b"")):
            provider.token_status, provider.token_body = status, body
            asked = len(provider.redeemed)
            due(base)
            assert goes_on(anna), status
            assert goes_on(anna)
            assert len(provider.redeemed) == asked + 1, "it is asked again after a while alone"
        due(base, "now() - interval '31 minutes'")
        assert not goes_on(anna)


def test_without_refresh_tokens_a_session_lasts_as_it_did(base: Stages, provider: LoginProvider) -> None:
    with signing_in(base, provider, sign_in={"refresh": "15m"}) as server:
        anna = signed_in(server, "anna", "s1")
        assert goes_on(anna)
        assert base.rows("SELECT refresh_token, renew_at FROM page_session") == [
            {"refresh_token": None, "renew_at": None}
        ]
