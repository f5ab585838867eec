"""Collections over REST: made, changed and deleted by those who may, and refused to all others."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from tests.integration.http_server import Answer, Client, serving
from tests.integration.stages import Stages


@pytest.fixture
def base(stages: Stages) -> Stages:
    """A collection of the file, and a folder that the API may read."""
    stages.write("power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.\n")
    stages.configure()
    stages.run()
    notes = stages.root.parent / "notes"
    notes.mkdir()
    (notes / "seal.md").write_text("# Seal\n\nThe seal of the housing is greased in spring.\n")
    stages.settle(notes / "seal.md")
    stages.knowledge.folders = (notes,)
    return stages


@pytest.fixture
def anyone(base: Stages) -> Iterator[Client]:
    with serving(base.knowledge, requires_key=True) as client:
        yield client


def client_of(base: Stages, anyone: Client, *scopes: str, only: list[str] | None = None) -> Client:
    with base.connection() as connection:
        name = "-".join([*scopes, *(only or ())])
        _, text = create_key(connection, name, scopes, only, lasts=None, actor="test")  # type: ignore[arg-type]
    return Client(anyone.port, text)


@pytest.fixture
def admin(base: Stages, anyone: Client) -> Client:
    return client_of(base, anyone, "admin")


def send(client: Client, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    content = None if body is None else json.dumps(body).encode()
    return client.request(method, path, content, {"Content-Type": "application/json", **headers})


def files(base: Stages) -> dict[str, Any]:
    return {"files": [{"root": str(base.root.parent / "notes")}]}


def test_a_collection_is_made_read_changed_and_deleted(base: Stages, admin: Client) -> None:
    made = admin.post("/v1/collections", {"name": "notes", "settings": files(base)})
    assert (made.status, made.headers["location"]) == (201, "/v1/collections/notes")
    assert made.json == {"name": "notes", "declared_in": "api", "settings": files(base)}
    base.collection = "notes"
    base.run()
    assert admin.get("/v1/collections/notes").json["documents"] == 1
    found = admin.post("/v1/search", {"query": "seal of the housing", "collections": "notes"})
    assert [hit["title"] for hit in found.json["results"]] == ["Seal"]
    assert [each["declared_in"] for each in admin.get("/v1/status").json["collections"]] == ["file", "api"]

    settings = admin.get("/v1/collections/notes/settings")
    patched = send(
        admin, "PATCH", "/v1/collections/notes", {"retries": {"attempts": 3}}, If_Match=settings.headers["etag"]
    )
    assert patched.json["settings"] == {**files(base), "retries": {"attempts": 3}}
    stale = send(admin, "PATCH", "/v1/collections/notes", {"retries": None}, If_Match=settings.headers["etag"])
    assert stale.status == 412
    assert admin.get("/v1/collections/notes/settings").headers["etag"] == patched.headers["etag"]
    merge = send(
        admin, "PATCH", "/v1/collections/notes", {"retries": None}, Content_Type="application/merge-patch+json"
    )
    assert merge.json["settings"] == files(base)

    fixed = send(admin, "PATCH", "/v1/collections/notes", {"chunking": {"tokens": 64}})
    assert (fixed.status, "Ask with rebuild=true" in fixed.json["detail"]) == (400, True)
    assert send(admin, "PATCH", "/v1/collections/notes?rebuild=true", {"chunking": {"tokens": 64}}).status == 200

    assert admin.request("DELETE", "/v1/collections/notes").status == 204
    for gone in (
        admin.get("/v1/collections/notes"),
        admin.get("/v1/collections/notes/settings"),
        admin.request("DELETE", "/v1/collections/notes"),
        admin.post("/v1/search", {"query": "seal", "collections": "notes"}),
    ):
        assert (gone.status, gone.json["detail"]) == (404, "there is no such collection")
    with base.connection() as connection:
        events = [(event.action, event.actor) for event in audit_events(connection) if event.actor == "key admin"]
    assert [action for action, _ in events] == ["collection.delete", *["collection.change"] * 3, "collection.create"]


def test_sources_come_and_go_with_the_scope_write(base: Stages, anyone: Client, admin: Client) -> None:
    assert admin.post("/v1/collections", {"name": "notes"}).status == 201
    writer = client_of(base, anyone, "write", only=["notes"])
    added = writer.post("/v1/collections/notes/sources", {"kind": "files", "source": files(base)["files"][0]})
    assert (added.status, added.json["settings"]) == (201, files(base))
    site = {"kind": "site", "source": {"url": "https://docs.example.com/"}}
    assert writer.post("/v1/collections/notes/sources", site).status == 201
    assert writer.post("/v1/collections/notes/sources", site).status == 409
    place = "/v1/collections/notes/sources?location=https%3A%2F%2Fdocs.example.com%2F"
    assert writer.request("DELETE", place).status == 204
    assert writer.request("DELETE", place).status == 404
    assert writer.get("/v1/collections/notes/settings").json["settings"] == files(base)

    hidden = {"kind": "collection", "source": {"collection": "handbook"}}
    missing = {"kind": "collection", "source": {"collection": "nothing"}}
    told = [writer.post("/v1/collections/notes/sources", each) for each in (hidden, missing)]
    assert [(each.status, each.json["detail"]) for each in told] == [(400, "from: there is no such collection")] * 2
    for answer in (
        writer.post("/v1/collections", {"name": "notes"}),
        send(writer, "PATCH", "/v1/collections/notes", {}),
        writer.request("DELETE", "/v1/collections/notes"),
    ):
        assert answer.status == 403


def test_what_a_key_does_not_see_it_neither_makes_nor_changes(base: Stages, anyone: Client, admin: Client) -> None:
    admin.post("/v1/collections", {"name": "notes"})
    admin.post("/v1/collections", {"name": "own"})
    limited = client_of(base, anyone, "admin", only=["own", "handbook"])
    assert limited.request("DELETE", "/v1/collections/own").status == 204
    assert limited.post("/v1/collections", {"name": "own"}).status == 201
    for name in ("notes", "nothing"):  # taken, and free
        assert limited.post("/v1/collections", {"name": name}).status == 403
        for answer in (
            limited.get(f"/v1/collections/{name}/settings"),
            send(limited, "PATCH", f"/v1/collections/{name}", {}),
            limited.request("DELETE", f"/v1/collections/{name}"),
            limited.post(f"/v1/collections/{name}/sources", {"kind": "files", "source": {"root": "/etc"}}),
            limited.request("DELETE", f"/v1/collections/{name}/sources?location=x"),
        ):
            assert (answer.status, answer.json["detail"]) == (404, "there is no such collection")
    taken = send(limited, "PATCH", "/v1/collections/own", {"from": [{"collection": "notes"}]})
    assert (taken.status, taken.json["detail"]) == (400, "from: there is no such collection")
    assert send(limited, "PATCH", "/v1/collections/own", {"from": [{"collection": "handbook"}]}).status == 200
    reader = client_of(base, anyone, "read")
    assert reader.get("/v1/collections/notes/settings").status == 200
    assert reader.post("/v1/collections/notes/sources", {"kind": "files", "source": {"root": "/etc"}}).status == 403


def test_what_the_file_declares_is_changed_in_the_file(base: Stages, admin: Client) -> None:
    for answer in (
        admin.post("/v1/collections", {"name": "handbook"}),
        send(admin, "PATCH", "/v1/collections/handbook", {"retries": {"attempts": 3}}),
        send(admin, "PATCH", "/v1/collections/handbook", {}, If_Match="*"),
        admin.request("DELETE", "/v1/collections/handbook"),
        admin.post("/v1/collections/handbook/sources", {"kind": "files", "source": files(base)["files"][0]}),
        admin.request("DELETE", "/v1/collections/handbook/sources?location=x"),
    ):
        assert answer.status == 409
    assert answer.json["detail"] == "sourcebook.yaml declares this collection: change it in that file"
    assert admin.get("/v1/collections/handbook/settings").json["declared_in"] == "file"


def test_bad_requests_are_refused_without_repeating_them(base: Stages, admin: Client) -> None:
    for status, body in (
        (422, {"name": ""}),
        (422, {"name": "x" * 64}),
        (422, {"name": 5}),
        (422, {"name": "notes", "settings": []}),
        (422, {"name": "notes", "origin": "file"}),
        (400, {"name": "../etc"}),
        (400, {"name": "a\0b"}),
        (400, {"name": "notes", "settings": {"files": [{"root": "/etc/marmalade"}]}}),
        (400, {"name": "notes", "settings": {"marmalade": 1}}),
        (400, {"name": "notes", "settings": {"from": {"collection": "marmalade\0"}}}),
        (400, {"name": "notes", "settings": {"from": {"collection": "\ud800"}}}),
        (400, {"name": "notes", "settings": {"usage": {"prices": {"x": float("inf")}}}}),
    ):
        answer = admin.post("/v1/collections", body)
        assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json"), body
        assert b"marmalade" not in answer.content
    deep = b'{"name": "notes", "settings": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}"
    assert admin.post("/v1/collections", deep).status in {400, 422}
    assert admin.request("DELETE", "/v1/collections/a%00b").status == 404
    for untyped in ({}, {"Content-Type": "text/plain"}):  # what a page of another site could send
        assert admin.request("POST", "/v1/collections", b'{"name": "notes"}', untyped).status == 422
    assert [each["name"] for each in admin.get("/v1/collections").json["collections"]] == ["handbook"]
