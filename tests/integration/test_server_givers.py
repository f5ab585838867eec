"""A key for a collection that takes documents of another one, which does not exist for the key."""

import json

import pytest

from tests.integration.http_server import Client, serving
from tests.integration.mcp_client import Agent, over_http
from tests.integration.stages import Stages
from tests.integration.test_server import key

CONFIGURATION = """\
collections:
  payroll: {files: [{root: ./docs}]}
  handbook: {from: [{collection: payroll}]}
"""
ROUTES = (
    "/v1/collections",
    "/v1/collections/handbook/settings",
    "/v1/documents",
    "/v1/generations",
    "/v1/plan",
    "/v1/sources",
    "/v1/statistics",
    "/v1/status",
    "/v1/usage",
)


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.configure(CONFIGURATION)
    stages.collection = "payroll"
    stages.run()
    return stages


def test_the_giver_is_named_nowhere(base: Stages) -> None:
    async def work(agent: Agent) -> None:
        (source,) = (await agent.ask("list_sources"))["sources"]
        assert source["location"] == "another collection"

    limited = key(base, "limited", only=["handbook"])
    with serving(base.knowledge, requires_key=True) as anyone:
        client, operator = Client(anyone.port, limited), Client(anyone.port, key(base, "operator"))
        over_http(anyone.port, work, key=limited)
        for route in ROUTES:
            answer = client.get(route)
            assert answer.status == 200
            assert "payroll" not in json.dumps(answer.json), route
        (source,) = client.get("/v1/sources").json["collections"][0]["sources"]
        assert (source["kind"], source["location"]) == ("collection", "another collection")
        planned = client.get("/v1/plan").json["collections"][0]["items"]
        assert [each["detail"] for each in planned] == ["taken from another collection"]
        for route in ("/v1/collections/handbook/settings", "/v1/sources", "/v1/plan"):
            assert "payroll" in json.dumps(operator.get(route).json), route


def test_the_document_is_not_removed_and_its_giver_not_named(base: Stages) -> None:
    base.collection = "handbook"
    base.run()
    writer = key(base, "writer", "write", only=["handbook"])
    with serving(base.knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, writer)
        (item,) = client.get("/v1/documents").json["documents"]
        answer = client.request("DELETE", f"/v1/documents/{item['document_id']}")
        assert answer.status == 400
        assert "follows it" in answer.json["detail"]
        assert "payroll" not in answer.json["detail"]


def test_the_address_of_an_upload_does_not_name_the_giver(base: Stages) -> None:
    base.knowledge.upload("payroll", "tides.md", b"# Tides\n\nThe barnacle line marks high water.")
    base.run()
    base.collection = "handbook"
    base.run()
    limited = key(base, "limited", only=["handbook"])
    with serving(base.knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, limited)
        found = client.post("/v1/search", {"query": "barnacle", "mode": "keyword"}).json
        (item,) = [each for each in client.get("/v1/documents").json["documents"] if each["title"] == "Tides"]
        assert [hit["uri"] for hit in found["results"]] == [item["uri"]]
        for said in (found, item, client.get(f"/v1/documents/{item['document_id']}").json):
            assert "payroll" not in json.dumps(said)
        assert client.get("/v1/documents/lookup?name=tides.md").status == 200
