"""Signing in to the pages at a provider on loopback: persons, cookies, sessions, the secret, signing out."""

import base64
import logging
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.server.identity.sign_in_settings import RETURN_PATH, SECRET_VARIABLE
from tests.integration.http_server import Client, serving
from tests.integration.page_forms import Browser
from tests.integration.page_sign_in import fill_two_documents, signing_in
from tests.integration.stages import Stages
from tests.integration.test_page_access import cookies
from tests.login_provider import CLIENT, LoginProvider, providing
from tests.token_issuer import rsa_key


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
