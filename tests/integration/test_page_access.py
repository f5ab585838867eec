"""Signing in to the pages: who needs a key, what it opens, and forms that other sites send."""

import re
from http.cookies import SimpleCookie
from urllib.parse import quote, urlencode

import pytest

from sourcebook.admin.access_keys import create_key, revoke_key
from tests.integration.http_server import Answer, Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser
from tests.integration.stages import Stages


def fill(stages: Stages) -> None:
    """Two collections, of which a key may see one."""
    stages.write("handbook/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.write("personnel/salaries.md", "# Salaries\n\nThe batteries engineer earns a marmalade bonus in winter.")
    stages.configure(
        "collections:\n"
        "  handbook: {files: [{root: ./docs/handbook}]}\n"
        "  personnel: {files: [{root: ./docs/personnel}]}\n"
    )
    stages.run_all("handbook", "personnel")


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


@pytest.fixture
def key(base: Stages) -> str:
    with base.connection() as connection:
        return create_key(connection, "website", ("read",), ["handbook"], actor="test")[1]


def cookies(answer: Answer) -> SimpleCookie:
    return SimpleCookie(answer.headers.get("set-cookie", ""))


def post(client: Client, path: str, cookie: str, **fields: str) -> Answer:
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html", "Cookie": cookie}
    return client.request("POST", path, urlencode(fields).encode(), headers)


def open_form(client: Client, target: str = "/") -> tuple[str, str]:
    """Return the cookie and the token of a form."""
    form = client.get(f"/sign-in?next={quote(target, safe='')}", Accept="text/html")
    assert b"<nav" not in form.content  # nothing to choose before the key
    held = cookies(form)["sourcebook_form"]
    (token,) = re.findall(rb'name="token" value="([^"]+)"', form.content)
    assert (held.value, held["httponly"], held["samesite"]) == (token.decode(), True, "strict")
    return f"sourcebook_form={held.value}", held.value


def signed_in(client: Client, key: str) -> str:
    """Sign in, and return the cookies that the browser sends from then on."""
    form, token = open_form(client)
    answer = post(client, "/sign-in", form, key=key, token=token)
    assert answer.status == 303
    return f"{form}; sourcebook_session={cookies(answer)['sourcebook_session'].value}"


def test_a_key_opens_its_collections_and_the_others_do_not_exist(base: Stages, key: str) -> None:
    (secret,) = base.knowledge.documents("personnel")
    with serving(base.knowledge, requires_key=True) as client:
        asked = "/documents?collection=handbook&text=a%26b"
        sent_on = client.get(asked, Accept="text/html")
        assert (sent_on.status, sent_on.headers["location"]) == (303, f"/sign-in?next={quote(asked, safe='')}")
        form, token = open_form(client, asked)
        answer = post(client, "/sign-in", form, key=f" {key} ", token=token, next=asked)
        assert (answer.status, answer.headers["location"]) == (303, asked)
        held = cookies(answer)["sourcebook_session"]
        assert (held["httponly"], held["samesite"], held["path"], held["secure"]) == (True, "strict", "/", "")

        cookie = f"{form}; sourcebook_session={held.value}"
        pages = {
            path: client.get(path, Accept="text/html", Cookie=cookie)
            for path in ("/", "/?q=batteries+marmalade&all=1&explain=1", "/documents", "/collections")
        }
        for answer in pages.values():
            assert answer.status == 200
            assert b"personnel" not in answer.content
            assert b"bonus" not in answer.content
            assert b"Sign out" in answer.content
        assert "Power" in Page(pages["/documents"].content).text
        for hidden, missing in (
            (f"/documents/{secret.document_id}", "/documents/999999"),
            ("/documents?collection=personnel", "/documents?collection=nothing"),
            ("/?q=bonus&collection=personnel", "/?q=bonus&collection=nothing"),
        ):
            first, second = (client.get(path, Accept="text/html", Cookie=cookie) for path in (hidden, missing))
            assert first.status == second.status == 404
            assert Page(first.content).text == Page(second.content).text
        assert client.get("/v1/collections", Cookie=cookie).status == 401  # what other sites may cause has no key

        with base.connection() as connection:
            revoke_key(connection, "website", actor="test")
        assert client.get("/collections", Cookie=cookie).status == 303
        typed = client.get("/?q=a", Cookie=cookie, **{"HX-Request": "true"})
        assert (typed.status, typed.headers["hx-redirect"]) == (204, "/sign-in?next=%2F%3Fq%3Da")


def test_only_a_key_signs_in_and_only_a_form_of_the_page_sends_it(base: Stages, key: str) -> None:
    with serving(base.knowledge, requires_key=True) as client:
        form, token = open_form(client)
        for wrong in (
            "",
            "sb_",
            key[:-1],
            "<script>canary()</script>",
            "sb_\0\ud800".encode("utf-8", "replace").decode(),
        ):
            refused = post(client, "/sign-in", form, key=wrong, token=token)
            assert (refused.status, "set-cookie" in refused.headers) == (401, False)
            assert "canary" not in refused.content.decode()
        for sent_with, field in (("", token), (form, ""), (form, token[:-1]), ("sourcebook_form=", ""), ("", "")):
            refused = post(client, "/sign-in", sent_with, key=key, token=field)
            assert refused.status == 403
            assert "sourcebook_session" not in cookies(refused)

        cookie = signed_in(client, key)
        assert post(client, "/sign-out", cookie, token="").status == 403
        out = post(client, "/sign-out", cookie, token=SimpleCookie(cookie)["sourcebook_form"].value)
        assert (out.status, out.headers["location"]) == (303, "/sign-in")
        assert cookies(out)["sourcebook_session"].value == ""
        assert cookies(out)["sourcebook_session"]["max-age"] == "0"


def test_the_cookie_is_a_session_that_is_listed_and_ended_and_is_no_key(base: Stages, key: str) -> None:
    """It opens the page alone, ends by itself and with its key, and whoever holds the key signs other browsers out."""
    with base.connection() as connection:
        other = create_key(connection, "other", ("read",), ["personnel"], actor="test")[1]
        root = create_key(connection, "root", ("admin",), actor="test")[1]
    with serving(base.knowledge, requires_key=True) as client:
        first, second = Browser(client, key), Browser(client, key)
        elsewhere = Browser(client, other)
        token = first.cookies["sourcebook_session"]
        assert not token.startswith("sb_")
        assert client.get("/v1/collections", Authorization=f"Bearer {token}").status == 401
        listed = Client(client.port, key).get("/v1/sessions").json["sessions"]
        assert [each["key"] for each in listed] == ["website", "website"]
        assert "other" not in first.open("/sessions").text
        assert len(Client(client.port, root).get("/v1/sessions").json["sessions"]) == 3
        (theirs,) = Client(client.port, other).get("/v1/sessions").json["sessions"]
        assert Client(client.port, key).request("DELETE", f"/v1/sessions/{theirs['id']}").status == 204
        assert elsewhere.get("/collections").status == 200  # it was not theirs to end
        assert second.send(f"/sessions/{listed[1]['id']}/end").status == 303
        assert (first.get("/collections").status, second.get("/collections").status) == (303, 200)

        token = second.cookies["sourcebook_session"]
        assert second.send("/sign-out").status == 303
        assert client.get("/collections", Cookie=f"sourcebook_session={token}").status == 303
        third, fourth = Browser(client, key), Browser(client, key)
        with base.connection() as connection:
            newest = "WHERE id = (SELECT max(id) FROM page_session)"
            connection.execute(f"UPDATE page_session SET used_at = now() - interval '25 hours' {newest}")
        assert fourth.get("/collections").status == 303
        with base.connection() as connection:
            connection.execute("UPDATE page_session SET began_at = now() - interval '8 days'")
        assert third.get("/collections").status == elsewhere.get("/collections").status == 303
        Browser(client, root)
        with base.connection() as connection:
            assert connection.execute("SELECT count(*) FROM page_session").fetchone() == (
                1,
            )  # the others are forgotten


def test_the_limit_of_a_key_holds_for_its_pages(base: Stages) -> None:
    with base.connection() as connection:
        text = create_key(connection, "few", limit=2, actor="test")[1]
    with serving(base.knowledge, requires_key=True) as client:
        browser = Browser(client, text)
        assert [browser.get("/collections").status for _ in range(3)] == [200, 200, 429]


def test_bad_forms_and_cookies_are_refused_or_ignored(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        held = "sourcebook_form=" + "a" * 43
        for body, status in (
            (b"\xff\xfe\x00", 403),
            (b"token=%00&key=%ed%a0%80", 403),
            (f"token={'a' * 43}&key=sb_%00%ed%a0%80".encode(), 401),
            (b"a=1&" * 1_000, 400),
            (b"x" * 1_000_001, 413),
        ):
            answer = client.request("POST", "/sign-in", body, {"Cookie": held, "Accept": "text/html"})
            assert answer.status == status
        for cookie in (
            "sourcebook_session=sb_\xff\xfe; sourcebook_form=\xff",
            'sourcebook_session="sb_\\377\\000"',
            ";;=;",
        ):
            assert client.get("/", Cookie=cookie).status == 200


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\\..\\b", "x", "/\n/evil"]
)
def test_signing_in_leads_nowhere_else(base: Stages, key: str, target: str) -> None:
    with serving(base.knowledge, requires_key=True) as client:
        form, token = open_form(client)
        assert post(client, "/sign-in", form, key=key, token=token, next=target).headers["location"] == "/"


def test_over_tls_the_cookies_stay_there(base: Stages, key: str) -> None:
    """A proxy on this machine says that the browser came over TLS."""
    with serving(base.knowledge, requires_key=True) as client:
        form, token = open_form(client)
        sent = urlencode({"key": key, "token": token}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": form, "X-Forwarded-Proto": "https"}
        assert cookies(client.request("POST", "/sign-in", sent, headers))["sourcebook_session"]["secure"] is True


def test_a_link_of_another_site_asks_once_more_so_that_the_cookie_comes(base: Stages, key: str) -> None:
    with serving(base.knowledge, requires_key=True) as client:
        came = client.get("/collections", Sec_Fetch_Site="cross-site", Accept="text/html")
        assert (came.status, came.headers["refresh"], came.content) == (200, "0", b"")
        again = client.get(
            "/collections", Sec_Fetch_Site="same-origin", Accept="text/html", Cookie=signed_in(client, key)
        )
        assert again.status == 200


def test_this_machine_needs_no_key_but_by_its_own_name(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        assert client.get("/collections").status == 200
        assert client.get("/collections", Cookie="sourcebook_session=sb_old").status == 200
        assert client.get("/collections", Host=f"rebound.example:{client.port}").status == 303
