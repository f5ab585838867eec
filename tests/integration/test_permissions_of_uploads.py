"""Who may see what is uploaded: as the collection says, or as the upload does."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sourcebook import KnowledgeBase
from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.admin.retention import delete_removed
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.command.app import app
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import AccessError, QueryError, UnknownDocumentError
from sourcebook.model.access import Scope
from sourcebook.transfer.export import export_collections
from sourcebook.transfer.importing import import_collections
from tests.conftest import CreateDatabase
from tests.integration.http_server import Client, serving
from tests.integration.mcp_client import Agent, over_http
from tests.integration.page_forms import Browser, fields_of
from tests.integration.stages import Stages
from tests.integration.test_page_uploads import send
from tests.permissions.counts import wrong_counts

TIDES = b"# Tides\n\nThe barnacle marks high water.\n"
KNOTS = b"# Knots\n\nThe barnacle holds the walrus.\n"


@pytest.fixture
def base(stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stages:
    """A collection over an empty folder, and a store of uploads of its own."""
    monkeypatch.setenv("SOURCEBOOK_UPLOADS", str(tmp_path / "uploads"))
    stages.root.mkdir(exist_ok=True)
    configure(stages)
    return stages


def configure(stages: Stages, folder: dict[str, Any] | None = None, **permissions: Any) -> None:
    files = [{"root": str(stages.root), **(folder or {})}]
    stages.configure(json.dumps({"collections": {stages.collection: {"files": files, **permissions}}}))


def seen(stages: Stages, *principals: str) -> set[str | None]:
    return {item.title for item in stages.knowledge.seen_by(principals).documents()}


def sound(stages: Stages) -> None:
    with stages.connection() as connection:
        assert not list(wrong_counts(connection))


def key(base: Stages, name: str, *scopes: Scope, **other: Any) -> str:
    with base.connection() as connection:
        return create_key(connection, name, list(scopes) or ["read"], actor="test", **other)[1]


def test_the_collection_says_who_sees_uploads_and_sources_that_say_nothing(base: Stages) -> None:
    """Before the first ingest, too; a source's own list comes first, and what is denied is denied in both."""
    base.write("a.md", "# A\n\nThe barnacle.")
    configure(base, allowed=["group:board"], denied=["user:eve"])
    base.knowledge.upload(base.collection, "tides.md", TIDES)
    assert seen(base) == set()
    base.run()
    assert seen(base) == set()
    assert seen(base, "group:board") == {"A", "Tides"}
    assert seen(base, "group:board", "user:eve") == set()
    configure(base, {"allowed": ["everyone"]}, allowed={"tides.*": ["group:hr"]}, denied=["user:eve"])
    assert seen(base) == {"A"}
    assert seen(base, "group:hr") == {"A", "Tides"}
    assert seen(base, "user:eve", "group:hr") == set()
    configure(base)
    assert seen(base) == {"A", "Tides"}
    assert base.run()["embeddings"].extra["computed"] == 0
    sound(base)


def test_an_upload_names_who_sees_it(base: Stages) -> None:
    """Where the collection says nothing, too; a next version keeps them; the audit says who named whom."""
    base.knowledge.upload(base.collection, "tides.md", TIDES, allowed=["group:board", " USER:anna "])
    base.knowledge.upload(base.collection, "knots.md", KNOTS)
    assert seen(base) == {"knots"}
    base.run()
    sound(base)
    assert seen(base) == {"Knots"}
    assert seen(base, "user:anna") == {"Knots", "Tides"}
    base.knowledge.upload(base.collection, "tides.md", TIDES + b"\nMore.\n")
    base.run()
    assert seen(base) == {"Knots"}
    (found,) = base.knowledge.permissions("tides.md")
    assert (found.allowed, [each.kind for each in found.reasons]) == (("group:board", "user:anna"), ["upload"])
    base.knowledge.upload(base.collection, "tides.md", TIDES + b"\nMore.\n", allowed="everyone")
    assert seen(base) == {"Knots", "Tides"}
    sound(base)
    with base.connection() as connection:
        events = [each for each in audit_events(connection) if each.action == "upload.permit"]
    assert sorted((each.details["before"], each.details["allowed"]) for each in events if each.details["before"]) == [
        (["group:board", "user:anna"], ["everyone"])
    ]
    configure(base, denied=["user:eve"])
    assert seen(base, "user:eve") == set()


def test_a_list_without_principals_is_refused(base: Stages) -> None:
    """Nobody takes an empty list for everyone; nothing is stored."""
    for wrong in ([], ["board"], [""], ["group:board", "nobody"]):
        with pytest.raises(QueryError, match="allowed"):
            base.knowledge.upload(base.collection, "tides.md", TIDES, allowed=wrong)
    for allowed, denied in ((None, "user:eve"), ("everyone", "eve")):
        with pytest.raises(QueryError, match=r"^denied: "):
            base.knowledge.upload(base.collection, "tides.md", TIDES, allowed=allowed, denied=denied)
    assert base.knowledge.uploads() == []


def test_attachments_and_copies_follow_an_upload(base: Stages) -> None:
    mail = (
        b"From: a@example.com\nSubject: Pay\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
        b"--b\nContent-Type: text/plain\n\nThe barnacle.\n"
        b"--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=pay.txt\n\nThe limpet.\n--b--\n"
    )
    both = {base.collection: {"files": [{"root": str(base.root)}]}, "all": {"from": {"collection": base.collection}}}
    base.configure(json.dumps({"collections": both}))
    base.knowledge.upload(base.collection, "pay.eml", mail, allowed=["group:hr"])
    base.run()
    base.collection, own = "all", base.collection
    base.run()
    assert seen(base) == set()
    assert len(base.knowledge.seen_by(["group:hr"]).documents()) == 4
    base.knowledge.upload(own, "pay.eml", mail, allowed=["everyone"])
    assert len(base.knowledge.seen_by([]).documents()) == 4
    sound(base)


def test_a_key_that_writes_opens_nothing_that_is_there(base: Stages) -> None:
    """It may name who sees a new name; others for an older one need the scope admin; principals upload nothing."""
    writer, admin = key(base, "writer", "write"), key(base, "admin", "admin")
    anna = key(base, "anna", principals=["user:anna"])
    with serving(base.knowledge, requires_key=True) as anyone:
        path = f"/v1/uploads/{base.collection}/tides.md?allowed="

        def put(who: str, allowed: str, content: bytes = TIDES) -> int:
            return Client(anyone.port, who).request("PUT", path + allowed, content).status

        assert put(anna, "user:anna") == 403
        assert put(writer, "group:board&allowed=group:hr") == 202
        assert put(writer, "everyone") == 403
        assert put(writer, "everyone", KNOTS) == 403
        assert seen(base) == set()
        assert put(writer, "group:hr&allowed=group:board", KNOTS) == 202
        assert put(writer, "group:hr&allowed=group:board&denied=user:eve", KNOTS) == 403
        removal = f"/v1/uploads?collection={base.collection}&name=tides.md"
        assert Client(anyone.port, writer).request("DELETE", removal).status == 202
        base.run()
        assert put(writer, "everyone") == 403
        assert Client(anyone.port, writer).request("PUT", path.partition("?")[0], TIDES).status == 202
        base.run()
        assert seen(base) == set()
        assert put(writer, "nobody") == 400
        assert put(admin, "everyone") == 202
        assert seen(base) == {"Tides"}
        base.knowledge.upload(base.collection, "older.md", KNOTS)
        assert (
            Client(anyone.port, writer).request("PUT", path.replace("tides", "older") + "user:eve", KNOTS).status == 403
        )


def test_each_face_takes_principals(base: Stages) -> None:
    """Python over HTTP, the form of the page, and nobody who asks for principals."""
    with serving(base.knowledge, requires_key=False) as open_server:
        with RemoteKnowledgeBase(f"http://127.0.0.1:{open_server.port}") as remote:
            remote.upload(base.collection, "tides.md", TIDES, allowed=["group:board"], denied="user:eve")
            with pytest.raises(QueryError, match="allowed"):
                remote.upload(base.collection, "knots.md", KNOTS, allowed=[])
        browser = Browser(open_server)
        (fields,) = fields_of(browser.open(f"/collections/{base.collection}/upload"), "/collections/handbook/upload")
        for wrong in ({"allowed": "board"}, {"denied": "user:eve"}):
            assert send(browser, base.collection, [("knots.md", KNOTS)], fields={**fields, **wrong}).status == 400
        named = {**fields, "allowed": "group:hr, user:anna", "denied": "user:eve"}
        assert send(browser, base.collection, [("knots.md", KNOTS)], fields=named).status == 303
    base.run()
    assert seen(base) == set()
    assert seen(base, "group:board") == {"Tides"}
    assert seen(base, "group:hr") == {"Knots"}
    assert seen(base, "group:hr", "group:board", "user:eve") == set()
    with pytest.raises(AccessError):
        base.knowledge.seen_by(["user:anna"]).upload(base.collection, "a.md", TIDES)


def test_who_sees_an_upload_may_have_its_original(base: Stages) -> None:
    """And that of a file beside it; of an upload whose bytes others may see under another name, nothing."""
    base.write("a.md", "# A\n\nThe barnacle.")
    base.knowledge.upload(base.collection, "tides.md", TIDES, allowed=["group:hr"])
    base.knowledge.upload(base.collection, "also tides.md", TIDES, allowed=["group:board"])
    base.run()
    hidden = base.knowledge.show("also tides.md").item.document_id
    theirs = base.knowledge.seen_by(["group:hr"])
    for name, content in (("tides.md", TIDES), ("a.md", b"# A\n\nThe barnacle.")):
        with theirs.original(name) as original:
            assert original.stream.read() == content
    with pytest.raises(UnknownDocumentError):
        theirs.original(hidden or 0)
    with base.knowledge.seen_by([]).original("a.md") as original:
        assert original.size


def test_an_export_keeps_who_sees_an_upload(base: Stages, tmp_path: Path, create_database: CreateDatabase) -> None:
    base.knowledge.upload(base.collection, "tides.md", TIDES, allowed=["group:board"])
    base.run()
    export_collections(base.database, tmp_path / "export", ["handbook"])
    with Database(DatabaseLocation(tmp_path / "other", create_database("template1"))) as other:
        import_collections(other, tmp_path / "export")
        with KnowledgeBase(other, query_embedder=base.embedder) as knowledge:
            assert knowledge.seen_by([]).documents() == []
            assert [each.title for each in knowledge.seen_by(["group:board"]).documents()] == ["Tides"]


def test_who_sees_an_upload_is_changed_and_taken_back(base: Stages) -> None:
    """At once, by who administers alone; attachments and copies follow, and nothing is embedded."""
    both = {
        base.collection: {"files": [{"root": str(base.root)}], "allowed": ["group:staff"]},
        "all": {"from": {"collection": base.collection}},
    }
    base.configure(json.dumps({"collections": both}))
    base.knowledge.upload(base.collection, "hr/tides.md", TIDES, allowed=["group:hr"])
    base.run()
    base.collection, own = "all", base.collection
    base.run()
    base.collection = own
    writer, admin = key(base, "writer", "write"), key(base, "admin", "admin")
    other = key(base, "other", "admin", collections=["all"])
    with serving(base.knowledge, requires_key=True) as anyone:
        path = f"/v1/uploads/{own}/hr/tides.md"

        def patch(who: str, body: Any, place: str = path) -> int:
            return (
                Client(anyone.port, who)
                .request("PATCH", place, json.dumps(body).encode(), {"Content-Type": "application/json"})
                .status
            )

        for narrower in (["group:hr"], ["group:board"], None):
            assert patch(writer, {"allowed": narrower}) == 403
        assert patch(other, {"allowed": ["everyone"]}) == patch(admin, {"allowed": None}, path + "x") == 404
        assert patch(admin, {"allowed": []}) == patch(admin, {}) == 422
        assert patch(admin, {"allowed": ["hr"]}) == patch(admin, {"allowed": None, "denied": ["user:eve"]}) == 400
        assert seen(base, "group:staff") == set()
        assert patch(admin, {"allowed": ["group:board"]}) == 200
        assert [len(base.knowledge.seen_by([each]).documents()) for each in ("group:board", "group:hr")] == [2, 0]
        with RemoteKnowledgeBase(f"http://127.0.0.1:{anyone.port}", key=admin) as remote:
            assert remote.permit_upload(own, "hr/tides.md", ["everyone"], denied=["user:eve"]).changed
            assert [len(base.knowledge.seen_by([each]).documents()) for each in ("user:anna", "user:eve")] == [2, 0]
            assert remote.permit_upload(own, "hr/tides.md", None).changed
            assert not remote.permit_upload(own, "hr/tides.md", None).changed
    assert [len(base.knowledge.seen_by([each]).documents()) for each in ("group:staff", "group:board")] == [2, 0]
    assert base.run()["embeddings"].extra["computed"] == 0
    permit = ["uploads", "-c", own, "--permit", "hr/tides.md", "--allowed", "user:anna", "--denied", "group:hr"]
    assert CliRunner().invoke(app, permit).output.endswith("seen by user:anna; not by group:hr\n")
    assert seen(base, "user:anna", "group:hr") == set()
    assert seen(base, "user:anna") == {"Tides"}
    with base.connection() as connection:
        events = [each.details for each in audit_events(connection) if each.action == "upload.permit"]
    assert [(each["before"], each["allowed"]) for each in reversed(events)] == [
        (None, ["group:hr"]),
        (["group:hr"], ["group:board"]),
        (["group:board"], ["everyone"]),
        (["everyone"], None),
        (None, ["user:anna"]),
    ]
    sound(base)


def test_an_agent_names_who_sees_new_documents(base: Stages) -> None:
    """With a key that writes, none that are there; nothing of such a call is stored."""
    both = [{"name": "new.md", "text": KNOTS.decode()}, {"name": "tides.md", "text": TIDES.decode()}]
    asked = {"collection": base.collection, "documents": both}

    async def work(agent: Agent) -> None:
        assert "is no principal" in await agent.refused("ingest_documents", allowed=["hr"], **asked)
        folder = {"collection": base.collection, "folder": str(base.root)}
        assert "documents that are sent" in await agent.refused("ingest_documents", allowed=["group:hr"], **folder)
        await agent.ask("ingest_documents", allowed=["group:hr"], **asked | {"documents": both[1:]})
        assert "scope admin" in await agent.refused("ingest_documents", allowed=["everyone"], **asked)

    with serving(base.knowledge, requires_key=True) as anyone:
        over_http(anyone.port, work, key=key(base, "writer", "write"))
    assert [each.name for each in base.knowledge.uploads()] == ["tides.md"]
    base.run()
    assert (seen(base), seen(base, "group:hr")) == (set(), {"Tides"})


def test_what_is_forgotten_says_nothing_more(base: Stages) -> None:
    """Of files and of uploads, with their last row; what comes back under a name begins anew."""
    path = base.write("a.md", "# A\n\nThe barnacle.")
    configure(base, {"allowed": "posix"})
    base.knowledge.upload(base.collection, "tides.md", TIDES, allowed=["group:hr"])
    base.knowledge.upload(base.collection, "knots.md", KNOTS, allowed=["group:hr"])
    base.run()
    rows = "SELECT uri FROM item_permission ORDER BY uri"
    assert len(base.rows(rows)) == 3
    path.unlink()
    base.knowledge.remove_upload(base.collection, "tides.md")
    base.run()
    assert len(base.rows(rows)) == 3
    with base.connection() as connection, connection.transaction():
        delete_removed(connection, "infinity")
    assert [row["uri"].rpartition("/")[2] for row in base.rows(rows)] == ["knots.md"]
    base.knowledge.upload(base.collection, "tides.md", TIDES)
    base.run()
    assert seen(base) == {"Tides"}


def test_a_collection_is_deleted_with_what_not_everyone_sees(base: Stages) -> None:
    """By the row alone, as an administrator may."""
    base.knowledge.upload(base.collection, "tides.md", TIDES, allowed=["group:hr"])
    base.knowledge.upload(base.collection, "knots.md", KNOTS)
    base.run()
    with base.connection() as connection:
        connection.execute("DELETE FROM collection WHERE name = %s", [base.collection])
    tables = ["document", "search_entry", "lexeme_audience", "configuration_audience", "audience_count"]
    for table in (*tables, "item_permission"):
        assert base.rows(f"SELECT 1 FROM {table}") == [], table


def test_the_page_of_an_upload_changes_who_sees_it(base: Stages) -> None:
    """For who administers; an empty field takes it back."""
    base.knowledge.upload(base.collection, "tides.md", TIDES, allowed=["group:hr"])
    base.write("a.md", "# A\n\nThe barnacle.")
    base.run()
    number, other = (base.knowledge.show(name).item.document_id for name in ("tides.md", "a.md"))
    writer, admin = key(base, "writer", "write"), key(base, "admin", "admin")
    with serving(base.knowledge, requires_key=True) as anyone:
        pages = Browser(anyone, admin), Browser(anyone, writer)
        path = f"/documents/{number}/seen-by"
        assert [len(fields_of(each.open(f"/documents/{number}"), path)) for each in pages] == [1, 0]
        assert pages[1].send(path, {"allowed": "everyone"}).status == 403
        assert pages[0].send(path, {"allowed": "everyone"}, token="a" * 43).status == 403
        assert pages[0].send(path, {"allowed": "hr"}).status == 400
        assert pages[0].send(f"/documents/{other}/seen-by", {"allowed": "group:hr"}).status == 400
        assert seen(base) == {"A"}
        named = {"allowed": "group:board, user:anna", "denied": "user:eve"}
        assert pages[0].send(path, named).status == 303
        assert seen(base, "user:anna", "user:eve") == {"A"}
        assert seen(base, "user:anna") == seen(base, "group:board") == {"A", "Tides"}
        assert {*named.values()} <= {each.get("value") for _, each in pages[0].open(f"/documents/{number}").tags}
        assert pages[0].send(path, {"allowed": ""}).status == 303
    assert seen(base) == {"A", "Tides"}
