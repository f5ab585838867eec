"""Signing in to the pages at a provider on loopback, with real keys, that behaves badly where a test says so."""

import base64
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.server.identity.sign_in_settings import RETURN_PATH, SECRET_VARIABLE
from sourcebook.server.rate_limits import RateLimits
from tests.acceptance.processes import free_port
from tests.integration.http_server import Answer, Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser
from tests.integration.stages import Stages
from tests.integration.test_page_access import cookies
from tests.login_provider import CLIENT, LoginProvider, providing
from tests.token_issuer import rsa_key, unsigned


def fill(stages: Stages) -> None:
    """A document for everyone, and one for the board."""
    stages.write("open.md", "# Open\n\nThe barnacle marks high water.")
    stages.write("board/sale.md", "# Secret sale\n\nThe barnacle is sold for nine guilders.")
    folder = {"root": str(stages.root), "allowed": {"board/**": ["group:board"], "**": ["everyone"]}}
    stages.configure(json.dumps({"collections": {stages.collection: {"files": [folder]}}}))
    stages.run()


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


@pytest.fixture
def provider() -> Iterator[LoginProvider]:
    with providing(rsa=rsa_key()) as provider:
        yield provider


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


def test_a_person_signs_in_and_sees_what_its_groups_may_see(base: Stages, provider: LoginProvider) -> None:
    """The page that was asked for comes after it; keys still sign in beside it."""
    provider.claims = {"groups": ["board"], "name": "Anna Pilot"}
    with signing_in(base, provider) as server:
        anna = Browser(server.client)
        sent_on = anna.get("/documents?text=sale")
        assert sent_on.headers["location"] == "/sign-in?next=%2Fdocuments%3Ftext%3Dsale"
        form = anna.open(sent_on.headers["location"])
        assert "Sign in with Tide House" in form.text
        assert any(each.get("href") == "/sign-in/provider?next=%2Fdocuments%3Ftext%3Dsale" for _, each in form.tags)
        asked = {name: value for name, (value,) in parse_qs(urlsplit(server.begin(anna)).query).items()}
        assert asked["scope"] == "openid profile email"
        assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3

        came = server.sign_in(anna, "/documents?text=sale")
        assert (came.status, came.headers["refresh"]) == (200, "0; url=/documents?text=sale")
        assert came.headers["cache-control"] == "no-store"
        shown = anna.open("/documents?text=sale").text
        assert "Secret sale" in shown
        assert "Anna Pilot" in shown
        assert "guilders" in anna.open("/?q=barnacle+sold").text
        assert anna.get("/collections").status == 403, "principals change and administer nothing"
        assert anna.get("/", X_Sourcebook_Principals="user:bo").status == 403

        provider.claims = {"sub": "bo"}
        bo = Browser(server.client)
        server.sign_in(bo)
        assert "guilders" not in bo.open("/?q=barnacle+sold").text
        assert "Secret sale" not in bo.open("/documents").text
        assert "Open" in bo.open("/documents").text
    assert {each["code_verifier"] for each in provider.redeemed} != {""}


def test_the_cookies_are_out_of_reach_and_the_session_is_new_at_each_sign_in(
    base: Stages, provider: LoginProvider
) -> None:
    with signing_in(base, provider) as server:
        browser = Browser(server.client)
        began = browser.get("/sign-in/provider")
        held = cookies(began)["sourcebook_sign_in"]
        assert (held["httponly"], held["samesite"], held["path"]) == (True, "lax", RETURN_PATH)
        browser.cookies["sourcebook_session"] = "chosen-by-somebody-else"
        came = browser.get(server.back(began.headers["location"]))
        first = browser.cookies["sourcebook_session"]
        assert first != "chosen-by-somebody-else"
        session = cookies(came)["sourcebook_session"]
        assert (session["httponly"], session["samesite"], session["path"]) == (True, "strict", "/")
        server.sign_in(browser)
        assert browser.cookies["sourcebook_session"] != first
        assert server.client.get("/documents", Accept="text/html", Cookie=f"sourcebook_session={first}").status == 303
        assert server.client.get("/v1/documents", Cookie=f"sourcebook_session={first}").status == 401


def test_behind_tls_the_cookies_stay_there(base: Stages, provider: LoginProvider) -> None:
    """The settings say that browsers come over TLS, whatever a proxy forgets to."""
    with signing_in(base, provider, sign_in={"url": "https://search.example.org"}) as server:
        began = Browser(server.client).get("/sign-in/provider")
        assert cookies(began)["sourcebook_sign_in"]["secure"] is True
        assert "redirect_uri=https%3A%2F%2Fsearch.example.org%2Fsign-in%2Freturn" in began.headers["location"]
        provider.clients[CLIENT].append(f"https://search.example.org{RETURN_PATH}")
        query = urlsplit(httpx2.get(began.headers["location"]).headers["location"]).query
        held = f"sourcebook_sign_in={cookies(began)['sourcebook_sign_in'].value}"
        came = server.client.get(f"{RETURN_PATH}?{query}", Cookie=held)
        assert came.headers["set-cookie"].count("Secure") == 1, came.headers["set-cookie"]
        assert "sourcebook_session=" in came.headers["set-cookie"]


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


@pytest.mark.parametrize("way", ["client_secret_basic", "client_secret_post"])
def test_the_secret_is_shown_to_the_provider_alone(
    base: Stages,
    provider: LoginProvider,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    way: str,
) -> None:
    provider.secret = "s:cret/+ %"
    provider.issuer.discovery["token_endpoint_auth_methods_supported"] = [way]
    monkeypatch.setenv(SECRET_VARIABLE, provider.secret)
    with signing_in(base, provider) as server, caplog.at_level(logging.DEBUG):
        assert server.sign_in(Browser(server.client)).status == 200
        assert ("client_secret" in provider.redeemed[0]) == (way == "client_secret_post")
        monkeypatch.setenv(SECRET_VARIABLE, "wr:ng/+ %")
        answer = server.sign_in(Browser(server.client))
        assert (answer.status, "cret" in answer.content.decode()) == (401, False)
        assert SECRET_VARIABLE in caplog.text, "whoever looks after the server learns where to look"
    for told in (provider.secret, "wr:ng", base64.b64encode(b"sourcebook-page:s").decode()[:-2]):
        assert told not in caplog.text
    assert repr(provider.secret) not in repr(
        provider.issuer.settings(sign_in={"client_id": "a", "url": "https://a.example.org"})
    )


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\\..\\b", "x", "/\n/evil"]
)
def test_signing_in_leads_nowhere_else(base: Stages, provider: LoginProvider, target: str) -> None:
    with signing_in(base, provider) as server:
        assert server.sign_in(Browser(server.client), target).headers["refresh"] == "0; url=/"
        browser = Browser(server.client)
        back = server.back(server.begin(browser))
        head, _, _ = browser.cookies["sourcebook_sign_in"].rpartition(".")
        browser.cookies["sourcebook_sign_in"] = f"{head}.{base64.urlsafe_b64encode(target.encode()).decode()}"
        assert browser.get(back).headers["refresh"] == "0; url=/", "neither by a cookie that was changed"


def test_an_address_with_odd_letters_is_led_to(base: Stages, provider: LoginProvider) -> None:
    with signing_in(base, provider) as server:
        came = server.sign_in(Browser(server.client), '/?q=flut "höhe"; url=//evil.example')
        assert came.headers["refresh"] == "0; url=/?q=flut%20%22h%C3%B6he%22;%20url=//evil.example"
        assert server.sign_in(Browser(server.client), "/?q=" + "a" * 2_000).headers["refresh"] == "0; url=/"


def test_a_session_ends_by_its_time_and_with_the_issuer(base: Stages, provider: LoginProvider) -> None:
    with signing_in(base, provider, sign_in={"lasts": "2h"}) as server:
        browser, other = Browser(server.client), Browser(server.client)
        came = server.sign_in(browser)
        assert "Max-Age=7200" in came.headers["set-cookie"]
        server.sign_in(other)
        with base.connection() as connection:
            newest = "WHERE id = (SELECT max(id) FROM page_session)"
            connection.execute(f"UPDATE page_session SET ends_at = now() {newest}")
        assert other.get("/documents").headers["location"] == "/sign-in?next=%2Fdocuments"
        assert browser.get("/documents").status == 200
        held = browser.cookies["sourcebook_session"]
    with providing(rsa=rsa_key()) as changed, signing_in(base, changed) as server:
        assert server.client.get("/documents", Accept="text/html", Cookie=f"sourcebook_session={held}").status == 303
    with serving(base.knowledge, requires_key=True, tokens=provider.issuer.settings()) as client:
        assert client.get("/documents", Accept="text/html", Cookie=f"sourcebook_session={held}").status == 303
        assert client.get("/sign-in/provider").status == client.get(RETURN_PATH).status == 404


def test_signing_out_ends_the_session_here_and_at_the_provider(base: Stages, provider: LoginProvider) -> None:
    with signing_in(base, provider) as server:
        browser = Browser(server.client)
        server.sign_in(browser)
        held = browser.cookies["sourcebook_session"]
        browser.open("/documents")
        assert browser.send("/sign-out", token="a" * 43).status == 403
        assert browser.get("/documents").status == 200, "another site cannot sign a person out"
        out = browser.send("/sign-out")
        address = out.headers["refresh"].removeprefix("0; url=")
        assert address.startswith(f"{provider.issuer.url}/logout?")
        gone = httpx2.get(address)
        assert gone.headers["location"] == f"http://127.0.0.1:{server.client.port}/sign-in"
        assert provider.ended == [{"client_id": CLIENT, "post_logout_redirect_uri": gone.headers["location"]}]
        assert server.client.get("/documents", Accept="text/html", Cookie=f"sourcebook_session={held}").status == 303
        del provider.issuer.discovery["end_session_endpoint"]
    with signing_in(base, provider) as server:
        browser = Browser(server.client)
        server.sign_in(browser)
        browser.open("/documents")
        assert browser.send("/sign-out").headers["location"] == "/sign-in", "where the provider has no such page"


def test_who_looks_after_the_base_sees_persons_that_are_signed_in_and_signs_them_out(
    base: Stages, provider: LoginProvider
) -> None:
    with base.connection() as connection:
        root = create_key(connection, "root", ("admin",), actor="test")[1]
    provider.claims = {"name": "Anna Pilot"}
    with signing_in(base, provider) as server:
        browser = Browser(server.client)
        server.sign_in(browser)
        admin = Client(server.client.port, root)
        (session,) = admin.get("/v1/sessions").json["sessions"]
        assert (session["key"], session["key_id"]) == ("Anna Pilot", None)
        assert "Anna Pilot" in Browser(server.client, root).open("/sessions").text
        assert admin.request("DELETE", f"/v1/sessions/{session['id']}").status == 204
        assert browser.get("/documents").status == 303
        assert admin.get("/v1/audit").json["events"][0]["subject"] == "Anna Pilot"


def test_a_person_has_one_limit_on_the_page_and_with_tokens(base: Stages, provider: LoginProvider) -> None:
    with signing_in(base, provider, limit=2) as server:
        browser, agent = Browser(server.client), Client(server.client.port, provider.issuer.token())
        server.sign_in(browser)
        assert [browser.get("/documents").status, agent.get("/v1/documents").status] == [200, 200]
        assert [browser.get("/documents").status, agent.get("/v1/documents").status] == [429, 429]


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
