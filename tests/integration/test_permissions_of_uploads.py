"""Who may see what is uploaded: as the collection says, or as the upload does."""

import json
from pathlib import Path
from typing import Any

import pytest

from sourcebook import KnowledgeBase
from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import AccessError, QueryError
from sourcebook.model.access import Scope
from sourcebook.transfer.export import export_collections
from sourcebook.transfer.importing import import_collections
from tests.conftest import CreateDatabase
from tests.integration.http_server import Client, serving
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
            remote.upload(base.collection, "tides.md", TIDES, allowed=["group:board"])
            with pytest.raises(QueryError, match="allowed"):
                remote.upload(base.collection, "knots.md", KNOTS, allowed=[])
        browser = Browser(open_server)
        (fields,) = fields_of(browser.open(f"/collections/{base.collection}/upload"), "/collections/handbook/upload")
        wrong = send(browser, base.collection, [("knots.md", KNOTS)], fields={**fields, "allowed": "board"})
        assert wrong.status == 400
        named = {**fields, "allowed": "group:hr, user:anna"}
        assert send(browser, base.collection, [("knots.md", KNOTS)], fields=named).status == 303
    base.run()
    assert seen(base) == set()
    assert seen(base, "group:board") == {"Tides"}
    assert seen(base, "group:hr") == {"Knots"}
    with pytest.raises(AccessError):
        base.knowledge.seen_by(["user:anna"]).upload(base.collection, "a.md", TIDES)


def test_an_export_keeps_who_sees_an_upload(base: Stages, tmp_path: Path, create_database: CreateDatabase) -> None:
    base.knowledge.upload(base.collection, "tides.md", TIDES, allowed=["group:board"])
    base.run()
    export_collections(base.database, tmp_path / "export", ["handbook"])
    with Database(DatabaseLocation(tmp_path / "other", create_database("template1"))) as other:
        import_collections(other, tmp_path / "export")
        with KnowledgeBase(other, query_embedder=base.embedder) as knowledge:
            assert knowledge.seen_by([]).documents() == []
            assert [each.title for each in knowledge.seen_by(["group:board"]).documents()] == ["Tides"]
