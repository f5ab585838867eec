"""Who may see what, asked over REST, by the client, and awaited."""

import asyncio
import json

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.errors import QueryError, SourcebookError, UnknownDocumentError
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages


def filled(stages: Stages) -> None:
    """Ingest two collections, of which the second one takes the documents of the first."""
    stages.write("hr/pay.md", "# Pay\n\nThe barnacle.")
    folder = {"root": str(stages.root), "allowed": {"hr/**": ["group:hr"]}}
    both = {"handbook": {"files": [folder]}, "all": {"from": {"collection": "handbook"}}}
    stages.configure(json.dumps({"collections": both, "groups": {"hr": ["user:anna"]}}))
    for stages.collection in ("handbook", "all"):
        stages.run()


def key(stages: Stages, *scopes: str, only: list[str] | None = None) -> str:
    with stages.connection() as connection:
        return create_key(connection, "-".join([*scopes, *(only or ())]), scopes, only, lasts=None, actor="test")[1]  # type: ignore[arg-type]


def test_all_faces_answer_alike(stages: Stages) -> None:
    filled(stages)
    own = stages.knowledge
    with serving(own, requires_key=True) as anyone:
        with RemoteKnowledgeBase(f"http://127.0.0.1:{anyone.port}", key(stages, "admin")) as remote:
            for principals in (None, "user:anna", ["user:eve", "user:anna"]):
                assert remote.permissions(principals=principals) == own.permissions(principals=principals)
                for names in ("all", ["handbook", "all"]):
                    asked = {"principals": principals, "collections": names}
                    assert remote.permissions("pay.md", **asked) == own.permissions("pay.md", **asked)
            number = own.show("pay.md").item.document_id
            assert number is not None
            assert remote.permissions(number) == own.permissions(number)
            for wrong in ({"principals": ["anna"]}, {"document": "nowhere.md"}, {"collections": "nowhere"}):
                with pytest.raises((QueryError, UnknownDocumentError)):
                    remote.permissions(**wrong)
        with (
            RemoteKnowledgeBase(f"http://127.0.0.1:{anyone.port}", key(stages, "write")) as writer,
            pytest.raises(SourcebookError, match="admin"),
        ):
            writer.permissions()
    assert asyncio.run(AsyncKnowledgeBase(own).permissions("pay.md")) == own.permissions("pay.md")


def test_a_key_of_one_collection_learns_nothing_of_others(stages: Stages) -> None:
    """The collection that a document is taken from has no name, no place and no pattern."""
    filled(stages)
    with serving(stages.knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, key(stages, "admin", only=["all"]))
        assert client.get("/v1/permissions").json["permissions"][0]["documents"] == {"all": 1}
        (found,) = client.get("/v1/permissions?document=pay.md&principal=user:anna").json["permissions"]
        assert [(each["kind"], each["collection"], each["source"], each["pattern"]) for each in found["reasons"]] == [
            ("original", "all", "another collection", None),
            ("rule", "another collection", "another collection", None),
        ]
        assert found["answer"] == {"is_seen": True, "path": ["user:anna", "group:hr"]}
        assert client.get("/v1/permissions?collection=handbook").status == 404
        number = stages.knowledge.show("pay.md", "handbook").item.document_id
        assert client.get(f"/v1/permissions?document={number}").status == 404
        assert client.get("/v1/permissions?principal=anna").status in {400, 422}
