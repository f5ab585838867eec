"""The REST server removes, restores and retries documents for callers that may."""

import pytest

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.selection import Selection
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages

CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook, tags: [shared]}]}
  personnel: {files: [{root: ./docs/personnel}]}
  all: {from: [{collection: handbook, tags: [shared]}]}
"""


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("handbook/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.write("handbook/broken.docx", b"PK\x03\x04 no document")
    stages.write("personnel/salaries.md", "# Salaries\n\nThe engineer earns a bonus of marmalade.")
    stages.configure(CONFIGURATION)
    stages.run_all("handbook", "personnel", "all")
    stages.collection = "handbook"
    return stages


def key(base: Stages, name: str, scope: str, only: list[str] | None = None) -> str:
    with base.connection() as connection:
        _, text = create_key(connection, name, (scope,), only, lasts=None, actor="test")  # type: ignore[arg-type]
    return text


def test_a_document_is_removed_and_restored_through_a_key(base: Stages, knowledge: KnowledgeBase) -> None:
    number = base.rows("SELECT id FROM document WHERE uri = %(uri)s ORDER BY id", uri=base.uri("handbook/power.md"))[0]
    with serving(knowledge, requires_key=True) as anyone:
        writer = Client(anyone.port, key(base, "writer", "write", ["handbook"]))
        removed = writer.request("DELETE", f"/v1/documents/{number['id']}")
        assert removed.status == 200
        assert [(each["collection"], each["document_id"]) for each in removed.json["removed"]] == [
            ("handbook", number["id"])
        ]
        assert not writer.post("/v1/search", {"query": "batteries", "min_relevance": 0}).json["results"]
        assert [each["uri"] for each in writer.get("/v1/documents?state=removed").json["documents"]] == [
            base.uri("handbook/power.md")
        ]
        assert writer.get(f"/v1/documents/{number['id']}").json["document"]["state"] == "removed"
        assert base.found("batteries") == set()
        restored = writer.post(f"/v1/documents/{number['id']}/restore", b"")
        assert restored.status == 202
        (work,) = restored.json["work"]
        assert (work["collection"], work["asked_by"], work["state"]) == ("handbook", "key writer", "waiting")
        base.run(Selection(documents=tuple(work["arguments"]["documents"])))
        assert base.found("batteries") == {"power.md"}
    with base.connection() as connection:
        done = [(each.actor, each.action, each.subject, each.details.get("id")) for each in audit_events(connection)]
    assert ("key writer", "document.restore", "collection handbook", number["id"]) in done
    assert {subject for _, action, subject, _ in done if action == "document.remove"} == {
        "collection handbook",
        "collection all",
    }


def test_only_a_key_that_may_write_and_sees_the_document_changes_it(base: Stages, knowledge: KnowledgeBase) -> None:
    (salaries,) = knowledge.documents("personnel")
    (taken,) = knowledge.documents("all")
    with serving(knowledge, requires_key=True) as anyone:
        reader = Client(anyone.port, key(base, "reader", "read"))
        writer = Client(anyone.port, key(base, "writer", "write", ["handbook"]))
        other = Client(anyone.port, key(base, "other", "write", ["all"]))
        for method, path in (("DELETE", ""), ("POST", "/restore")):
            path = f"/v1/documents/{salaries.document_id}{path}"
            assert reader.request(method, path).status == 403
            hidden = writer.request(method, path)
            missing = writer.request(method, path.replace(str(salaries.document_id), "999999"))
            assert (hidden.status, hidden.json) == (missing.status, missing.json)
            assert hidden.status == 404
        follows = other.request("DELETE", f"/v1/documents/{taken.document_id}")
        assert follows.status == 400
        assert b"handbook" not in follows.content, "the collection that it is taken from does not exist for the key"
        assert writer.request("DELETE", "/v1/documents/99999999999999999999").status == 404
    assert base.found("marmalade") == {"salaries.md"}


def test_failed_items_are_retried_by_id_by_uri_and_by_class(base: Stages, knowledge: KnowledgeBase) -> None:
    (failed,) = knowledge.documents("handbook", failed=True)
    assert failed.failure_class is not None
    with serving(knowledge, requires_key=True) as anyone:
        writer = Client(anyone.port, key(base, "writer", "write", ["handbook"]))
        by_id = {"documents": [failed.document_id]}
        by_uri = {"documents": [failed.uri], "collection": "handbook"}
        by_class = {"collection": "handbook", "failure": failed.failure_class}
        for asked in (by_id, by_uri, by_class):
            answer = writer.post("/v1/documents/retry", asked)
            assert answer.status == 202
            (work,) = answer.json["work"]
            assert work["arguments"] == {"documents": [failed.uri], "only_failed": True}
        (work,) = writer.post("/v1/documents/retry", {"collection": "handbook"}).json["work"]
        assert work["arguments"] == {"only_failed": True}
        assert writer.post("/v1/documents/retry", {"collection": "handbook", "failure": "password"}).json["work"] == []
        for method in ("GET", "PUT", "PATCH", "DELETE"):
            for name in ("retry", "export"):
                other = writer.request(method, f"/v1/documents/{name}")
                assert (other.status, other.headers["allow"]) == (405, "POST"), "no document has this name"
        (salaries,) = knowledge.documents("personnel")
        for status, refused in [
            (404, {"documents": [salaries.document_id]}),
            (404, {"collection": "personnel"}),
            (404, {"documents": [10**30]}),
            (400, {"documents": [failed.uri]}),
            (400, {}),
            (422, {"documents": [1] * 1_001}),
            (422, {"collection": "handbook", "failure": "<script>"}),
        ]:
            assert writer.post("/v1/documents/retry", refused).status == status
    assert {request.asked_by for request in knowledge.work_requests("handbook")} == {"key writer"}


def test_tags_and_metadata_are_given_where_nobody_has_changed_the_document_since(
    base: Stages, knowledge: KnowledgeBase
) -> None:
    number = next(item.document_id for item in knowledge.documents("handbook") if item.state == "ready")
    path = f"/v1/documents/{number}"
    with serving(knowledge, requires_key=True) as anyone:
        writer = Client(anyone.port, key(base, "writer", "write", ["handbook"]))
        seen = writer.get(path)
        changed = writer.patch(path, {"tags": ["winter"], "metadata": {"a": 1}}, If_Match=seen.headers["etag"])
        assert (changed.status, changed.json["given_tags"], changed.json["given_metadata"]) == (
            200,
            ["winter"],
            {"a": 1},
        )
        assert changed.json["tags"] == ["shared", "winter"]
        again = writer.get(path)
        assert (again.content, again.headers["etag"]) == (changed.content, changed.headers["etag"])
        late = writer.patch(path, {"tags": []}, If_Match=seen.headers["etag"])
        assert (late.status, late.headers["content-type"]) == (412, "application/problem+json")
        assert writer.get(path).json["given_tags"] == ["winter"]
        asked = {"query": "batteries", "filters": {"tags": ["winter"]}, "min_relevance": 0}
        assert [hit["document_id"] for hit in writer.post("/v1/search", asked).json["results"]] == [number]
        assert writer.patch(path, {}).content == again.content, "nothing to change"
        assert writer.patch(path, {"metadata": {"a": None}}, If_Match="*").json["given_metadata"] == {}
        for status, body in [
            (422, {"tags": ["<script>canary\n"]}),
            (422, {"tags": [" "]}),
            (422, {"tags": ["canary"] * 51}),
            (400, {"metadata": {"tags": "<script>canary"}}),
            (400, {"metadata": {"canary": 10**19}}),
            (422, {"tags": "<script>canary"}),
            (422, {"metadata": ["canary"]}),
            (422, {"canary": 1}),
            (400, b'{"metadata": {"canary": 1e999}}'),
            (400, b'{"tags": ["canary'),
        ]:
            refused = writer.patch(path, body)
            assert (refused.status, refused.headers["content-type"]) == (status, "application/problem+json")
            assert b"canary" not in refused.content
        assert Client(anyone.port, key(base, "reader", "read")).patch(path, {"tags": []}).status == 403
        assert Client(anyone.port, key(base, "other", "write", ["personnel"])).patch(path, {"tags": []}).status == 404
    with base.connection() as connection:
        assert [each.actor for each in audit_events(connection) if each.action == "document.change"] == [
            "key writer"
        ] * 2
