"""Collections on the page: made with a site or for uploads, given another site, deleted; by whom, and by whom not."""

from collections.abc import Iterator

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from tests.integration.http_server import Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages

SITE = "https://docs.example.com/"
HOSTILE = "https://docs.example.com/<script>canary()</script>"


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.configure("collections:\n  handbook: {files: [{root: ./docs}]}\n")
    return stages


@pytest.fixture
def open_server(base: Stages) -> Iterator[Client]:
    with serving(base.knowledge, requires_key=False) as client:
        yield client


def test_a_collection_is_made_given_another_site_and_deleted(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    (fields,) = fields_of(browser.open("/collections"), "/collections")
    made = browser.send("/collections", {**fields, "name": "website", "url": SITE})
    (work,) = base.knowledge.work_requests()
    assert (made.status, made.headers["location"], work.collection) == (303, f"/work/{work.id}", "website")
    assert base.knowledge.collection_settings("website").settings == {"sites": [{"url": SITE}]}
    path = "/collections/website"
    page = browser.open(path)
    assert "Made over the API or on this page." in page.text
    (fields,) = fields_of(page, f"{path}/sites")
    first, again = (browser.send(f"{path}/sites", {**fields, "url": f"{SITE}more/"}) for _ in range(2))
    assert (first.status, again.status) == (303, 409)  # it has the site already
    page = browser.open(path)
    (fields, _) = fields_of(page, f"{path}/sources/remove")
    assert browser.send(f"{path}/sources/remove", fields).headers["location"] == path
    assert len(base.knowledge.collection_settings("website").settings["sites"]) == 1
    taken = browser.send(f"{path}/rename", {"name": "handbook"})
    assert (taken.status, b"the name is taken" in taken.content) == (409, True)
    path = "/collections/site"
    assert browser.send("/collections/website/rename", {"name": "site"}).headers["location"] == path
    assert browser.get("/collections/website").status == 404
    assert browser.send(f"{path}/delete", {"name": "webseite"}).status == 400
    deleted = browser.send(f"{path}/delete", {"name": "site"})
    assert (deleted.status, deleted.headers["location"]) == (303, "/collections")
    assert browser.get(path).status == 404
    with base.connection() as connection:
        actions = [(each.action, each.actor) for each in audit_events(connection) if each.action.startswith("coll")]
    assert {actor for _, actor in actions} == {"local caller"}
    assert {"collection.create", "collection.delete"} <= {action for action, _ in actions}


def test_a_collection_for_uploads_needs_no_site(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    browser.open("/collections")
    made = browser.send("/collections", {"name": "notes", "url": ""})
    assert (made.status, made.headers["location"]) == (303, "/collections/notes")
    assert "/collections/notes/upload" in browser.open("/collections/notes").links
    assert base.knowledge.work_requests() == []


def test_what_is_wrong_is_said_beside_the_form(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    browser.open("/collections")
    for name, url, status in (
        ("", "", 400),
        ("a b", "", 400),
        ("<script>canary()</script>", "", 400),
        ("x" * 64, "", 400),
        ("a", "file:///etc", 400),
        ("a", "javascript:canary()", 400),
        ("a", "http://", 400),
        ("handbook", "", 409),
    ):
        answer = browser.send("/collections", {"name": name, "url": url})
        assert answer.status == status, (name, url)
        page = Page(answer.content)
        assert page.acting() == []
        assert "The collection was not made:" in page.text
        assert [held["value"] for _, held in page.tags if held.get("name") == "name"] == [name]
    assert [each.name for each in base.knowledge.collections()] == ["handbook"]
    browser.send("/collections", {"name": "odd", "url": HOSTILE})
    browser.open("/collections/odd")  # acts in no way, made or not


def test_what_the_file_declares_is_changed_there(base: Stages, open_server: Client) -> None:
    browser = Browser(open_server)
    page = browser.open("/collections/handbook")
    assert "Declared in sourcebook.yaml." in page.text
    for name, fields in (("sites", {"url": SITE}), ("rename", {"name": "a"}), ("delete", {"name": "handbook"})):
        assert fields_of(page, f"/collections/handbook/{name}") == []
        answer = browser.send(f"/collections/handbook/{name}", fields)
        assert (answer.status, b"sourcebook.yaml" in answer.content) == (409, True)


def test_only_those_who_may_change_collections(base: Stages) -> None:
    for name in ("website", "hidden"):
        base.knowledge.create_collection(name, {"sites": [{"url": SITE}]})
    with base.connection() as connection:
        keys = {
            scope: create_key(connection, scope, (scope,), ["website"], actor="test")[1]
            for scope in ("read", "write", "admin")
        }
    with serving(base.knowledge, requires_key=True) as client:
        browsers = {scope: Browser(client, key) for scope, key in keys.items()}
        forms = {
            scope: {held["action"] for tag, held in browser.open("/collections/website").tags if tag == "form"}
            for scope, browser in browsers.items()
        }
        assert forms["read"] == {"/sign-out", "/language"}
        assert "/collections/website/sites" in forms["write"]
        assert "/collections/website/delete" not in forms["write"]
        assert "/collections/website/delete" in forms["admin"]
        for scope, path, fields, status in (
            ("read", "/collections/website/sites", {"url": f"{SITE}a/"}, 403),
            ("read", "/collections/website/sources/remove", {"location": SITE}, 403),
            ("write", "/collections/website/delete", {"name": "website"}, 403),
            ("write", "/collections/website/rename", {"name": "site"}, 403),
            ("admin", "/collections/website/rename", {"name": "site"}, 403),  # which the key does not see
            ("admin", "/collections/hidden/rename", {"name": "website"}, 404),
            ("write", "/collections", {"name": "another"}, 403),
            ("write", "/collections/hidden/sites", {"url": f"{SITE}a/"}, 404),
            ("write", "/collections/hidden/sources/remove", {"location": SITE}, 404),
            ("admin", "/collections/hidden/delete", {"name": "hidden"}, 404),
            ("admin", "/collections", {"name": "another"}, 403),
            ("admin", "/collections", {"name": "hidden"}, 403),
        ):
            assert browsers[scope].send(path, fields).status == status, (scope, path)
            assert browsers[scope].send(path, fields, token="x" * 43).status == 403, (scope, path)
    assert [each.name for each in base.knowledge.collections()] == ["handbook", "hidden", "website"]


def test_an_empty_base_offers_what_to_do_as_far_as_the_visitor_may(stages: Stages) -> None:
    with serving(stages.knowledge, requires_key=False) as client:
        for path in ("/documents", "/collections"):
            page = Browser(client).open(path)
            assert {"/new-collection", "/new-collection?kind=site", "/new-collection?kind=folder"} <= set(page.links)
            assert "sourcebook " not in page.text.partition("There is no document yet")[2]  # no command to type
        stages.knowledge.create_collection("notes", {})
        assert "/collections/notes/upload" in Browser(client).open("/documents").links
        with stages.connection() as connection:
            keys = [create_key(connection, scope, (scope,), actor="test")[1] for scope in ("read", "write")]
    with serving(stages.knowledge, requires_key=True) as client:
        reader, writer = (Browser(client, key).open("/documents") for key in keys)
        assert "Somebody with a key that may write brings them" in reader.text
        assert not [link for link in reader.links if "upload" in link or "new-collection" in link]
        assert "/collections/notes/upload" in writer.links
        assert not [link for link in writer.links if "new-collection" in link]
