"""Keys on the page: made, shown once, revoked, and by whom."""

import re
from collections.abc import Iterator

import pytest

from sourcebook.admin.access_keys import create_first_key, create_key, find_key, list_keys, revoke_key
from sourcebook.admin.audit import audit_events
from sourcebook.errors import QueryError
from tests.integration.http_server import Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Three collections."""
    names = ("handbook", "letters", "personnel")
    stages.configure("collections:\n" + "".join(f"  {name}: {{files: [{{root: ./docs/{name}}}]}}\n" for name in names))
    return stages


@pytest.fixture
def open_server(base: Stages) -> Iterator[Client]:
    with serving(base.knowledge, requires_key=False) as client:
        yield client


def shown_key(content: bytes) -> str:
    (found,) = set(re.findall(r"sb_[\w-]{43}", Page(content).text))
    return str(found)


def test_a_key_is_made_shown_once_and_revoked(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    assert "There is no key yet." in browser.open("/keys").text
    made = browser.send(
        "/keys", {"name": "web <script>", "scope": "write", "days": "30", "collection": ["letters", "handbook"]}
    )
    assert (made.status, made.headers["cache-control"]) == (200, "no-store")
    assert Page(made.content).acting() == []
    text = shown_key(made.content)
    with base.connection() as connection:
        (key,) = list_keys(connection)
    assert (key.name, key.scopes, key.collections) == ("web <script>", ("write",), ("handbook", "letters"))
    assert key.expires_at is not None
    assert (key.expires_at - key.created_at).days == 30
    page = browser.open("/keys")
    assert text not in page.text
    assert text[:8] in page.text
    assert open_server.get("/v1/collections", Authorization=f"Bearer {text}").status == 200
    assert len(fields_of(page, f"/keys/{key.id}/revoke")) == 1
    answer = browser.send(f"/keys/{key.id}/revoke")
    assert (answer.status, answer.headers["location"]) == (303, "/keys")
    assert open_server.get("/v1/collections", Authorization=f"Bearer {text}").status == 401
    assert browser.send(f"/keys/{key.id}/revoke").status == 303  # it is revoked already
    assert fields_of(browser.open("/keys"), f"/keys/{key.id}/revoke") == []
    with base.connection() as connection:
        assert [(each.actor, each.action) for each in audit_events(connection)] == [
            ("local caller", "key.revoke"),
            ("local caller", "key.create"),
        ]


def test_a_key_is_made_for_principals_or_for_a_front_end(base: Stages, open_server: Client) -> None:
    """As by the command; what does not fit together is said, and what was typed is kept."""
    browser = Browser(open_server)
    assert "For whom it asks" in browser.open("/keys").text
    sent = {"name": "anna", "scope": "read", "days": "30", "principals": " USER:anna@example.org\r\n\r\ngroup:a, b\r\n"}
    shown = Page(browser.send("/keys", sent).content).text
    assert "for everyone, group:a, b, user:anna@example.org" in shown
    portal = {"name": "portal", "scope": "read", "days": "30", "on_behalf": "required"}
    assert "for others (required)" in Page(browser.send("/keys", portal).content).text
    with base.connection() as connection:
        made = {key.name: (key.principals, key.on_behalf) for key in list_keys(connection)}
    assert made == {"anna": (("everyone", "group:a, b", "user:anna@example.org"), None), "portal": (None, "required")}
    for wrong, reason in (
        ({"principals": "anna"}, "is no principal"),
        ({"principals": "user:anna", "scope": "write"}, "changes nothing"),
        ({"principals": "user:anna", "on_behalf": "optional"}, "choose one"),
        ({"on_behalf": "always"}, "required"),
    ):
        refused = browser.send("/keys", {**portal, "name": "new", "on_behalf": "", **wrong})
        page = Page(refused.content)
        assert (refused.status, reason in page.text) == (400, True)
        assert page.acting() == []
        assert wrong.get("principals", "") in page.text
    with base.connection() as connection:
        assert len(list_keys(connection)) == 2


def test_what_is_wrong_about_a_key_is_said_above_the_form(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    browser.open("/keys")
    assert browser.send("/keys", {"name": "one", "scope": "read", "days": ""}).status == 200
    for fields, said in (
        ({"name": "one"}, "there is a key"),
        ({"name": " "}, "1 to 80 printable characters"),
        ({"name": "x" * 81}, "1 to 80 printable characters"),
        ({"name": "two", "scope": "root"}, "there is no scope"),
        ({"name": "two", "days": "9"}, "choose how long"),
    ):
        answer = browser.send("/keys", {"scope": "read", "days": "30", "collection": ["letters"], **fields})
        assert (answer.status, said in Page(answer.content).text) == (400, True)
        assert "checked" in next(held for _, held in Page(answer.content).tags if held.get("value") == "letters")
    for collection in ("nothing", "\0"):
        assert (
            browser.send("/keys", {"name": "two", "scope": "read", "days": "30", "collection": [collection]}).status
            == 404
        )
    for path in ("/keys/999/revoke", f"/keys/{1 << 70}/revoke", "/keys/-1/revoke"):
        assert browser.send(path).status == 404
    with base.connection() as connection:
        assert [each.name for each in list_keys(connection)] == ["one"]


def test_only_administrators_see_keys_and_only_those_of_their_collections(base: Stages) -> None:
    with base.connection() as connection:
        writer = create_key(connection, "writer", ("write",), actor="test")[1]
        limited = create_key(connection, "limited", ("admin",), ["handbook", "letters"], actor="test")[1]
        hidden = create_key(connection, "hidden", ("read",), ["personnel"], actor="test")[0]
        everything = create_key(connection, "everything", ("read",), actor="test")[0]
        seen = create_key(connection, "seen", ("read",), ["letters"], actor="test")[0]
    with serving(base.knowledge, requires_key=True) as client:
        browser = Browser(client, writer)
        assert "/keys" not in browser.open("/").links
        assert browser.get("/keys").status == 403
        assert browser.send("/keys", {"name": "mine", "scope": "admin", "days": ""}).status == 403
        assert browser.send(f"/keys/{seen.id}/revoke").status == 403

        browser = Browser(client, limited)
        page = browser.open("/keys")
        assert "/keys" in page.links
        assert "seen" in page.text
        for name in ("hidden", "everything", "personnel", "writer"):
            assert name not in page.text.replace("every collection", "")
        for number in (hidden.id, everything.id):
            assert browser.send(f"/keys/{number}/revoke").status == 404
        assert browser.send("/keys", {"name": "all", "scope": "read", "days": ""}).status == 400
        assert (
            browser.send("/keys", {"name": "all", "scope": "read", "days": "", "collection": ["personnel"]}).status
            == 404
        )
        assert (
            browser.send("/keys", {"name": "own", "scope": "admin", "days": "", "collection": ["letters"]}).status
            == 200
        )
        assert browser.send(f"/keys/{seen.id}/revoke").status == 303
        assert (
            browser.send(
                "/keys", {"name": "own2", "scope": "read", "days": "", "collection": ["letters"]}, token=""
            ).status
            == 403
        )
    with base.connection() as connection:
        states = {each.name: each.state for each in list_keys(connection)}
    assert {name for name, state in states.items() if state == "revoked"} == {"seen"}
    assert "own" in states
    assert not {"all", "mine", "own2"} & set(states)


def test_a_key_has_a_limit_of_its_own_or_that_of_the_server(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    browser.open("/keys")
    assert browser.send("/keys", {"name": "slow", "scope": "read", "days": "", "limit": "1200"}).status == 200
    assert browser.send("/keys", {"name": "usual", "scope": "read", "days": "", "limit": ""}).status == 200
    for wrong in ("0", "-1", "1.5", "many", "1000001", "9" * 5_000, "²"):
        answer = browser.send("/keys", {"name": "odd", "scope": "read", "days": "", "limit": wrong})
        assert answer.status == 400, wrong
        assert "requests a minute" in Page(answer.content).text
    with base.connection() as connection:
        assert {key.name: key.requests_a_minute for key in list_keys(connection)} == {"slow": 1_200, "usual": None}
    assert "1,200 requests a minute" in browser.open("/keys").text


def test_a_deployment_brings_the_first_key_along_and_no_other(base: Stages) -> None:
    """It is kept where there was never a key: a variable that stays set brings no revoked key back."""
    text = "sb_" + "a1" * 32
    with base.connection() as connection:
        for wrong in ("sb_short", "a" * 64, "sb_" + "a b" * 20):
            with pytest.raises(QueryError, match="SOURCEBOOK_FIRST_KEY is no key"):
                create_first_key(connection, wrong, actor="test")
        made = create_first_key(connection, text, actor="test")
        assert made is not None
        assert (made.name, made.scopes, made.collections) == ("first", ("admin",), None)
        assert create_first_key(connection, text, actor="test") is None
        with serving(base.knowledge, requires_key=True) as client:
            assert client.get("/v1/keys", Authorization=f"Bearer {text}").status == 200
        revoke_key(connection, "first", actor="test")
        assert create_first_key(connection, text, actor="test") is None
        assert find_key(connection, text) is None
