"""Routes of the server that report, judge, and administrate: what they answer, and to whom."""

import pytest

from sourcebook.admin.access_keys import list_keys
from sourcebook.contract.access import AccessKey
from sourcebook.knowledge_base import KnowledgeBase
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages
from tests.integration.test_server import CONFIGURATION, key

QUERY = "How long do the batteries last?"


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Two collections, of which a key may see one."""
    stages.write("handbook/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.write("handbook/seal.md", "# Seals\n\nThe seal of the housing is greased in spring.")
    stages.write("personnel/salaries.md", "# Salaries\n\nThe batteries engineer earns a marmalade bonus in winter.")
    stages.configure(CONFIGURATION.replace("personnel: {", "personnel: {retention: {queries: 30d}, "))
    stages.run_all("personnel", "handbook")
    return stages


def listed_keys(base: Stages) -> list[AccessKey]:
    with base.connection() as connection:
        return list_keys(connection)


def test_reports_are_those_of_the_library(base: Stages, knowledge: KnowledgeBase) -> None:
    base.write("handbook/new.md", "# New\n\nA new page.")
    with serving(knowledge, requires_key=False) as client:
        counted = client.get("/v1/statistics?collection=handbook").json["collections"]
        assert counted == [each.as_dict() for each in knowledge.statistics("handbook")]
        (listed,) = client.get("/v1/sources?collection=handbook").json["collections"]
        assert [each["location"] for each in listed["sources"]] == [
            each.location for each in knowledge.sources("handbook")[0].sources
        ]
        planned = client.get("/v1/plan").json["collections"]
        assert {each["name"]: each["counts"] for each in planned} == {"handbook": {"new": 1}, "personnel": {}}
        assert planned[0]["items"][0]["uri"].endswith("new.md")
        used = client.get("/v1/usage?by=model&since=7d").json["usage"]
        assert used == [each.as_dict() for each in knowledge.usage(by=["model"])]
        assert client.get("/v1/usage?total=true").json["usage"][0]["model"] is None
        assert client.get("/v1/usage?since=99999d").status == 200
        assert client.get("/v1/usage?since=soon").status == 422
        assert client.get("/v1/usage?by=colour").status == 422


def test_facets_are_those_of_the_search(base: Stages, knowledge: KnowledgeBase) -> None:
    limited = key(base, "website", only=["handbook"])
    with serving(knowledge, requires_key=False) as client:
        asked = {"query": QUERY, "min_relevance": 0, "mode": "keyword"}
        direct = knowledge.search(QUERY, mode="keyword", min_relevance=0, facets=True)
        assert client.post("/v1/facets", asked).json["facets"] == direct.facets
        seen = Client(client.port, limited).post("/v1/facets", asked).json["facets"]
        assert seen["collection"] == {"handbook": 1}
        assert client.post("/v1/facets", {"query": QUERY, "limit": 3}).status == 422
        assert knowledge.queries() == []


def test_judgments_are_recorded_by_writers_and_forgotten(base: Stages, knowledge: KnowledgeBase) -> None:
    reader, writer = key(base, "reader", only=["handbook"]), key(base, "writer", "write", only=["handbook"])
    sent = {"query": QUERY, "document": "handbook/power.md"}
    with serving(knowledge, requires_key=True) as anyone:
        assert Client(anyone.port, reader).post("/v1/judgments", sent).status == 403
        client = Client(anyone.port, writer)
        assert client.post("/v1/judgments", {**sent, "grade": 3}).status == 204
        assert client.post("/v1/judgments", {**sent, "document": "personnel/salaries.md"}).status == 404
        assert client.post("/v1/judgments", {**sent, "grade": 1_001}).status == 422
        for document in ("a\0b", "x" * 9_000, 1 << 70, -1):
            assert client.post("/v1/judgments", {**sent, "document": document}).status == 404
        (judged,) = client.get("/v1/judgments").json["judgments"]
        assert (judged["query"], judged["grade"], judged["collection"]) == (QUERY, 3, "handbook")
        gone = "/v1/judgments?query=How+long+do+the+batteries+last%3F&document=handbook/power.md"
        assert [client.request("DELETE", gone).status for _ in range(2)] == [204, 404]
        assert client.request("DELETE", "/v1/judgments?query=a%00b&document=handbook/power.md").status == 404
        assert knowledge.judgments() == []
        knowledge.judge("bonus", "personnel/salaries.md")
        assert client.get("/v1/judgments").json == {"judgments": []}
        assert client.get("/v1/judgments?collection=personnel").status == 404


def test_the_query_log_is_for_administrators(base: Stages, knowledge: KnowledgeBase) -> None:
    with base.connection() as connection:
        connection.execute(
            "INSERT INTO logged_query (collection, query, results, asked_at) VALUES ('personnel', 'bonus', 1, now())"
        )
    limited, writer = key(base, "limited", "admin", only=["handbook"]), key(base, "writer", "write")
    admin = key(base, "admin", "admin")
    with serving(knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, admin)
        assert Client(anyone.port, writer).get("/v1/queries").status == 403
        assert Client(anyone.port, limited).get("/v1/queries").json == {"queries": []}
        assert Client(anyone.port, limited).request("DELETE", "/v1/queries").json == {"searches": 0}
        assert [each["query"] for each in client.get("/v1/queries?since=1h").json["queries"]] == ["bonus"]
        assert client.request("DELETE", "/v1/queries").json == {"searches": 1}
        assert client.get("/v1/audit?limit=1").json["events"][0]["action"] == "queries.forget"


def test_keys_are_made_and_revoked_by_administrators_of_what_they_open(base: Stages, knowledge: KnowledgeBase) -> None:
    limited, admin = key(base, "limited", "admin", only=["handbook"]), key(base, "admin", "admin")
    with serving(knowledge, requires_key=True) as anyone:
        below = Client(anyone.port, limited)
        assert below.get("/v1/audit").status == 403
        assert [each["name"] for each in below.get("/v1/keys").json["keys"]] == ["limited"]
        assert below.post("/v1/keys", {"name": "other"}).status == 400
        assert below.post("/v1/keys", {"name": "other", "collections": ["personnel"]}).status == 404
        (above,) = [each.id for each in listed_keys(base) if each.name == "admin"]
        assert below.request("DELETE", f"/v1/keys/{above}").status == 404
        client = Client(anyone.port, admin)
        made = client.post("/v1/keys", {"name": "page", "collections": ["handbook"], "expires_in": 3600})
        assert (made.status, made.headers["cache-control"]) == (201, "no-store")
        assert made.json["key"]["collections"] == ["handbook"]
        page = Client(anyone.port, made.json["text"])
        assert page.get("/v1/collections").status == 200
        assert client.post("/v1/keys", {"name": "page"}).status == 400
        assert client.post("/v1/keys", {"name": "two", "collections": ["nothing"]}).status == 404
        assert client.post("/v1/keys", {"name": "two", "scopes": ["all"]}).status == 422
        listed = client.get("/v1/keys")
        assert {each["name"]: each["state"] for each in listed.json["keys"]} == {
            "limited": "valid",
            "admin": "valid",
            "page": "valid",
        }
        assert made.json["text"].encode() not in listed.content
        gone = f"/v1/keys/{made.json['key']['id']}"
        assert client.request("DELETE", gone).json["state"] == "revoked"
        assert client.request("DELETE", gone).json["state"] == "revoked"
        assert client.request("DELETE", "/v1/keys/99999999999999999999").status == 404
        assert page.get("/v1/collections").status == 401


def test_pages_of_the_audit_follow_their_cursors(base: Stages, knowledge: KnowledgeBase) -> None:
    for number in range(3):
        key(base, f"key {number}")
    with serving(knowledge, requires_key=False) as client:
        first = client.get("/v1/audit?limit=2").json
        second = client.get(f"/v1/audit?limit=2&cursor={first['next_cursor']}").json
        assert [each["subject"] for each in first["events"] + second["events"]] == [
            "key key 2",
            "key key 1",
            "key key 0",
        ]
        assert second["next_cursor"] is None
        assert {each["actor"] for each in first["events"]} == {"test"}
