"""Settings of a collection as a form: previewed, refused beside the fields, saved; those of the file are shown."""

import re
import sqlite3
from collections.abc import Iterator

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.errors import SettingsError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.selection import EVERYTHING
from sourcebook.server.page.settings_form import form_values, written_settings
from sourcebook.stages.raw_files.source_records import fetch_records
from tests.integration.http_server import Answer, Client, serving
from tests.integration.inert_pages import Page
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages

HOSTILE = "<script>canary()</script>"
SITE = "https://docs.example.com/"
SETTINGS = {
    "description": "What the station knows",
    "sites": [{"url": SITE, "tags": ["docs"], "politeness": {"requests_per_second": 0.5}}],
    "chunking": {"tokens": 200, "context": ["title"]},
    "retention": {"removed": "30d"},
}
NOTES = {"name": "notes", "table": {"url": "${NOTES_URL}", "name": "notes"}, "key": "id", "text": "body"}


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("notes/a.md", "# A\n\nMarmalade.")
    stages.write("notes/b.md", "# B\n\nHoney.")
    stages.configure("collections:\n  handbook: {files: [{root: ./docs, tags: [x]}], retention: {removed: 14d}}\n")
    return stages


@pytest.fixture
def knowledge(base: Stages) -> KnowledgeBase:
    base.knowledge.is_owners = True  # any folder of the tests may be read
    return base.knowledge


@pytest.fixture
def open_server(knowledge: KnowledgeBase) -> Iterator[Client]:
    with serving(knowledge, requires_key=False) as client:
        yield client


def values_of(page: Page) -> dict[str, str]:
    """Return the values of the fields of the form."""
    shown = {
        held["name"]: held["value"]
        for tag, held in page.tags
        if tag == "input" and {"name", "value"} <= held.keys() and (held.get("type") != "checkbox" or "checked" in held)
    }
    return shown | page.areas


def refused(answer: Answer, status: int, name: str, said: str) -> None:
    """Check that a form was refused with a sentence beside one of its fields."""
    page = Page(answer.content)
    assert (answer.status, page.acting()) == (status, []), answer.content
    assert "Nothing was saved." in page.text
    _, wrong = page.with_id(f"wrong-{name.replace('.', '-')}")
    assert wrong["class"] == "error"
    assert [held["name"] for _, held in page.tags if held.get("aria-describedby") == wrong["id"]] == [name]
    assert re.search(said, page.text), page.text


def test_what_a_form_shows_it_sends_back_unchanged() -> None:
    values, counts = form_values(SETTINGS)
    assert counts == {"files": 0, "sites": 1, "repositories": 0, "records": 0, "from": 0}
    assert (values["sites.0.url"], values["chunking.tokens"]) == (SITE, "200")
    assert "retention" in values["other"]
    assert written_settings(values, SETTINGS).settings == SETTINGS
    many = {"sites": [{"url": f"{SITE}{number}/"} for number in range(30)], "from": {"collection": "handbook"}}
    values, counts = form_values(many)
    assert "sites" not in counts
    assert written_settings(values, many).settings == {**many, "from": [many["from"]]}
    for shown in (
        {"allowed": [{"hr/**": ["group:hr", "user:anna"]}, {"**": ["everyone"]}], "denied": ["user:eve"]},
        {"allowed": [], "files": [{"root": "/a", "allowed": "posix"}, {"root": "/b", "allowed": {"x/**": []}}]},
        {"allowed": ["group:board"], "sites": [{"url": SITE, "denied": ["group:guests"], "documents_decide": True}]},
        {"records": [{**NOTES, "metadata": {"state": "status"}, "max_records": 9, "allowed": "readers"}]},
        {"search": {"limit": 10, "min_relevance": 0.2}, "sites": [{"url": SITE}]},
        {"records": [{"name": "pushed", "pushed": True, "key": "id", "template": "{{ a }}", "metadata": ["a", "b"]}]},
        {"records": [{**NOTES, "table": {"url": "${NOTES_URL}", "query": "SELECT 1", "schema": "public"}}]},
    ):
        assert written_settings(form_values(shown)[0], shown).settings == shown


def test_who_may_see_documents_is_a_field_whose_patterns_keep_their_order(
    base: Stages, knowledge: KnowledgeBase, open_server: Client
) -> None:
    """The database sorts the names of a mapping: `**` would come first, and decide."""
    base.write("notes/hr/pay.md", "# Pay\n\nNine guilders.")
    browser = Browser(open_server)
    folder = str(base.root / "notes")
    browser.open("/new-collection")
    sent = {"name": "notes", "files.0.root": folder, "allowed": "hr/**: group:hr\n**: everyone", "denied": "user:eve"}
    assert (
        "Settings: allowed, denied, files"
        in Page(browser.send("/new-collection", {**sent, "act": "preview"}).content).text
    )
    assert browser.send("/new-collection", {**sent, "act": "save"}).status == 303
    path = "/collections/notes/settings"
    for description in ("once", "twice"):
        page = browser.open(path)
        shown = values_of(page)
        assert shown["allowed"].splitlines() == ["hr/**: group:hr", "**: everyone"]
        assert browser.send(path, {**shown, "description": description, "act": "save"}).status == 303
    base.run_all("notes")

    def seen(*principals: str) -> set[str]:
        return {each.uri.rpartition("/")[2] for each in knowledge.documents("notes", as_principals=principals)}

    assert seen("user:anna") == {"a.md", "b.md"}
    assert seen("group:hr") == {"a.md", "b.md", "pay.md"}
    assert seen("group:hr", "user:eve") == set()
    assert browser.send(path, {**values_of(browser.open(path)), "allowed": "nobody", "act": "save"}).status == 303
    assert (seen("group:hr"), knowledge.collection_settings("notes").settings["allowed"]) == (set(), [])
    with pytest.raises(SettingsError, match="keeps their order"):
        knowledge.change_collection("notes", {"allowed": {"hr/**": ["group:hr"], "**": ["everyone"]}})
    with pytest.raises(SettingsError, match="is for administrators"):
        knowledge.add_source("notes", "site", {"url": SITE, "allowed": ["everyone"]})
    with base.connection() as connection:
        assert "permissions.change" in {each.action for each in audit_events(connection)}


def test_records_of_a_database_that_the_server_names_are_read(
    base: Stages, knowledge: KnowledgeBase, open_server: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its URL stays in the environment; any other variable, path and program is refused beside its field."""
    database = sqlite3.connect(base.root / "notes.db", isolation_level=None)
    database.execute("CREATE TABLE notes (id, heading, body)")
    database.execute("INSERT INTO notes VALUES (1, 'Fog signal', 'The fog signal sounds twice a minute.')")
    monkeypatch.setenv("NOTES_URL", f"sqlite:///{base.root / 'notes.db'}")
    browser = Browser(open_server)
    browser.open("/new-collection")
    sent = {"name": "notes", "act": "save", "records.0.name": "notes", "records.0.key": "id", "records.0.text": "body"}
    sent |= {"records.0.table.url": "${NOTES_URL}", "records.0.table.name": "notes", "records.0.title": "heading"}
    assert "variable of the server's environment" in Page(browser.send("/new-collection", sent).content).text
    monkeypatch.setenv("SOURCEBOOK_RECORD_DATABASES", "OTHER_URL, NOTES_URL")
    for changed, name, said in (
        ({"records.0.table.url": "sqlite:////etc/notes.db"}, "records.0.table.url", "SOURCEBOOK_RECORD_DATABASES"),
        ({"records.0.table.url": "x${NOTES_URL}"}, "", "variable of the server's environment"),
        ({"records.0.title": "${NOTES_URL}"}, "", "variable of the server's environment"),
        ({"sites.0.url": "https://example.com/${NOTES_URL}"}, "", "variable of the server's environment"),
        ({"records.0.key": ""}, "records.0.key", "the key is missing"),
        ({"records.0.table.query": "SELECT 1"}, "records.0.table.url", "either a name or a query"),
        ({"records.0.pushed": "true"}, "records.0.name", "records come from one of"),
        ({"records.0.refresh": "soon"}, "records.0.refresh", "a duration"),
        ({"records.0.allowed": "group:"}, "records.0.allowed", "a list of principals"),
        ({"allowed": "board"}, "allowed", "a list of principals"),
        ({"allowed": "hr/**: board"}, "allowed", "a list of principals"),
        ({"allowed": "hr/**: group:hr\ngroup:board"}, "allowed", "a list of principals"),
        ({"denied": "eve"}, "denied", "a list of principals"),
        ({"sites.0.url": SITE, "sites.0.allowed": "posix"}, "sites.0.allowed", "a list of principals"),
    ):
        answer = browser.send("/new-collection", {**sent, **changed})
        if name:
            refused(answer, 400, name, said)
        else:
            assert (answer.status, said in Page(answer.content).text) == (400, True)
    assert browser.send("/new-collection", sent).status == 303
    assert "${NOTES_URL}" in str(knowledge.collection_settings("notes").settings)
    with base.connection() as connection:
        fetch_records(connection, "notes", EVERYTHING)
    base.run_all("notes")
    (hit,) = knowledge.search("fog signal", "notes")
    assert (hit.title, hit.uri) == ("Fog signal", "record://notes/1")
    shown = values_of(browser.open("/collections/notes/settings"))
    assert (shown["records.0.table.url"], shown["records.0.name"]) == ("${NOTES_URL}", "notes")


def test_a_collection_is_previewed_made_changed_and_previewed_again(
    base: Stages, knowledge: KnowledgeBase, open_server: Client
) -> None:
    browser = Browser(open_server)
    (fields,) = fields_of(browser.open("/new-collection?kind=folder"), "/new-collection")
    folder = str(base.root / "notes")
    sent = {**fields, "name": "notes", "description": HOSTILE, "files.0.root": folder, "files.0.tags": "x, of winter"}
    seen = browser.send("/new-collection", {**sent, "act": "preview"})
    page = Page(seen.content)
    assert (seen.status, page.acting()) == (200, [])
    assert re.search(r"new\s*2", page.text), page.text
    assert "Settings: description, files" in page.text
    assert [each.name for each in knowledge.collections()] == ["handbook"]
    made = browser.send("/new-collection", {**sent, "act": "save"})
    (work,) = knowledge.work_requests()
    assert (made.status, made.headers["location"], work.collection) == (303, f"/work/{work.id}", "notes")
    assert knowledge.collection_settings("notes").settings == {
        "description": HOSTILE,
        "files": [{"root": folder, "tags": ["x", "of winter"]}],
    }
    base.run_all("notes")

    path = "/collections/notes/settings"
    page = browser.open(path)
    shown = values_of(page)
    assert (shown["files.0.root"], shown["description"], shown["files.1.root"]) == (folder, HOSTILE, "")
    unchanged = Page(browser.send(path, {**shown, "act": "preview"}).content)
    assert "No setting differs" in unchanged.text
    sent = {**shown, "files.0.exclude": "b*", "other": "retention: {removed: 3d}"}
    page = Page(browser.send(path, {**sent, "act": "preview"}).content)
    assert "Settings: files, retention" in page.text
    assert re.search(r"gone\s*1", page.text), page.text
    assert knowledge.count_documents("notes") == 2
    assert "retention" not in knowledge.collection_settings("notes").settings
    assert browser.send(path, {**sent, "act": "save"}).status == 303
    base.run_all("notes")
    assert knowledge.count_documents("notes") == 1
    late = browser.send(path, {**sent, "description": "of before", "act": "save"})
    assert (late.status, values_of(Page(late.content))["description"]) == (409, HOSTILE)  # what is saved by now
    emptied = {**values_of(browser.open(path)), "files.0.root": "", "description": "", "act": "save"}
    assert browser.send(path, {**emptied, "other": ""}).status == 303
    assert knowledge.collection_settings("notes").settings == {}


def test_errors_stand_beside_their_fields_and_say_what_the_yaml_says(
    knowledge: KnowledgeBase, open_server: Client
) -> None:
    browser = Browser(open_server)
    browser.open("/new-collection")
    for fields, name, said in (
        ({"sites.0.url": "file:///etc"}, "sites.0.url", "http or https"),
        ({"sites.0.url": SITE, "sites.0.max_pages": "many"}, "sites.0.max_pages", "whole number"),
        ({"sites.1.url": "http://127.0.0.1/"}, "sites.1.url", "no public name"),
        ({"sites.0.tags": "docs"}, "sites.0.url", "the key is missing"),
        ({"files.0.root": "relative"}, "files.0.root", "absolute path"),
        ({"files.0.root": "/etc"}, "files.0.root", "hidden files, and folders of the system"),
        ({"repositories.0.url": "git@example.com:a.git"}, "repositories.0.url", "https without a user"),
        ({"chunking.tokens": "3"}, "chunking.tokens", "from 16 to 8192"),
        ({"chunking.overlap": "x"}, "chunking.overlap", "whole number"),
        ({"embedding.model": "/weights"}, "embedding.model", "allowed are auto"),
        ({"other": "retentoin: {removed: 30d}"}, "other", "there is no such key"),
        ({"other": "retention: [1"}, "other", "line 1, column"),
        ({"other": "just text"}, "other", "on a line of its own"),
        ({"other": "a: &a [x]\nb: *a"}, "other", "there is no such key"),
        ({"other": "description: x", "description": "y"}, "other", "fields of its own"),
        ({"other": "chunking: {tokens: 100}", "chunking.tokens": "99"}, "other", "field of its own"),
        ({"other": "records: [{name: a, python: os.system}]"}, "other", r"records\[0\].key: the key is missing"),
        ({"name": "a b"}, "name", "a collection's name is"),
    ):
        for act in ("preview", "save"):
            answer = browser.send("/new-collection", {"name": "made", "act": act, **fields})
            refused(answer, 400, name, said)
    again = browser.send("/new-collection", {"name": "handbook", "act": "save"})
    assert (again.status, "Nothing was saved." in Page(again.content).text) == (409, True)
    assert [each.name for each in knowledge.collections()] == ["handbook"]
    assert knowledge.work_requests() == []


def test_another_model_needs_a_new_generation_to_be_asked_for(
    base: Stages, knowledge: KnowledgeBase, open_server: Client
) -> None:
    knowledge.create_collection("notes", {"files": [{"root": str(base.root / "notes")}]})
    base.run_all("notes")
    browser = Browser(open_server)
    path = "/collections/notes/settings"
    sent = {**values_of(browser.open(path)), "chunking.tokens": "64", "act": "preview"}
    answer = browser.send(path, sent)
    assert (answer.status, b"fixed by the generation" in answer.content) == (400, True)
    page = Page(browser.send(path, {**sent, "rebuild": "1"}).content)
    assert "Settings: chunking" in page.text
    assert browser.send(path, {**sent, "act": "save", "rebuild": "1"}).status == 303
    assert knowledge.collection_settings("notes").settings["chunking"] == {"tokens": 64}


def test_what_the_file_declares_is_shown_to_be_pasted_and_changed_there(open_server: Client) -> None:
    browser = Browser(open_server)
    page = browser.open("/collections/handbook/settings")
    assert "sourcebook.yaml on the server declares it" in page.text
    assert re.search(r"collections:\s+handbook:\s+files:\s+- root: ", page.text)
    assert "removed: 14d" in page.text
    assert "chunking" not in page.text
    assert [held["href"] for _, held in page.tags if held.get("aria-current") == "true" and "href" in held] == [
        "/collections"
    ]
    assert fields_of(page, "/collections/handbook/settings") == []
    assert browser.send("/collections/handbook/settings", {"act": "save"}).status == 409


def test_only_those_who_may_administer_and_see_it(base: Stages, knowledge: KnowledgeBase) -> None:
    knowledge.create_collection("website", {"sites": [{"url": SITE}]})
    knowledge.create_collection("hidden", {"sites": [{"url": f"{SITE}h/"}]})
    knowledge.create_collection("taking", {"from": [{"collection": "hidden"}]})
    with base.connection() as connection:
        keys = {
            scope: create_key(connection, scope, (scope,), ["website", "taking"], actor="test")[1]
            for scope in ("read", "write", "admin")
        }
    with serving(knowledge, requires_key=True) as client:
        path = "/collections/website/settings"
        for scope, key in keys.items():
            browser = Browser(client, key)
            page = browser.open(path)
            assert bool(fields_of(page, path)) == (scope == "admin")
            assert browser.get("/new-collection").status == (200 if scope == "admin" else 403)
            assert browser.get("/collections/hidden/settings").status == 404
            assert browser.get("/collections/taking/settings").status == 403
            if scope != "admin":
                assert browser.send(path, {"act": "save"}).status == 403
        mark = values_of(page)["of"]
        for sent, status in (
            ({"from.0.collection": "hidden"}, 400),
            ({"act": "save", "description": "x"}, 303),
        ):
            assert browser.send(path, {"of": mark, "act": "preview", **sent}).status == status
        assert browser.send("/new-collection", {"name": "other", "act": "save"}).status == 403
        assert browser.send(path, {"act": "save"}, token="x" * 43).status == 403
