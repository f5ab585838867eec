"""The MCP server: what agents are told, what exists for them, and how errors reach the model."""

from datetime import timedelta
from typing import Any

import pytest
from mcp import MCPError
from mcp.types import TextResourceContents

from sourcebook.admin.access_keys import create_key, revoke_key
from sourcebook.context.token_bound import token_bound
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.mcp.catalogue import CHATGPT_TOOLS, TOOLS
from tests.integration.http_server import Client, serving
from tests.integration.mcp_client import VERSIONS, Agent, over_http
from tests.integration.stages import Stages

CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook}]}
  personnel: {files: [{root: ./docs/personnel}]}
"""
POWER = "# Power\n\nThe batteries of the tide gauge last fourteen months. " + "The gauge runs on them alone. " * 3
LOG = "# Log\n\n" + "\n\n".join(
    f"## Day {day}\n\nThe harbour master wrote on day {day}: the swell was moderate. " + "The wind was light. " * 30
    for day in range(40)
)
SALARY = "# Salaries\n\nThe batteries engineer of the harbour earns a marmalade bonus in winter."


def fill(stages: Stages) -> None:
    """Two collections, of which a key may see one."""
    stages.write("handbook/power.md", POWER)
    stages.write("handbook/log.md", LOG)
    stages.write("personnel/salaries.md", SALARY)
    stages.configure(CONFIGURATION)
    stages.run_all("personnel", "handbook")


@pytest.fixture
def base(filled: Stages) -> Stages:
    return filled


@pytest.mark.parametrize("version", VERSIONS)
def test_an_agent_searches_cites_and_reads(base: Stages, knowledge: KnowledgeBase, version: str) -> None:
    async def work(agent: Agent) -> None:
        listed = (await agent.client.list_tools()).tools
        assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
        assert [tool.annotations and tool.annotations.read_only_hint for tool in listed] == [
            tool.scope == "read" for tool in TOOLS
        ]

        found = await agent.ask("search_documents", query="How long do the batteries last?", limit=1, facets=True)
        (hit,) = found["results"]
        assert hit["text"].endswith(POWER.rstrip().partition("\n\n")[2])
        uri = base.uri("handbook/power.md")
        assert hit["citation"] == {"title": "Power", "heading_path": ["Power"], "uri": f"{uri}#power", "version": 1}
        assert found["facets"]["collection"] == {"handbook": 1, "personnel": 1} | found["facets"]["collection"]

        whole = await agent.ask("fetch_document", document=hit["document"])
        assert whole["text"] == POWER.rstrip() + "\n" or whole["text"].strip() == POWER.strip()
        assert "next_start" not in whole
        by_tail = await agent.ask("fetch_document", document="handbook/power.md", collection="handbook")
        assert by_tail["document"] == hit["document"]

        names = [each["name"] for each in (await agent.ask("list_collections"))["collections"]]
        assert names == ["handbook", "personnel"]
        (source,) = (await agent.ask("list_sources", collections="handbook"))["sources"]
        assert (source["kind"], source["location"]) == ("files", str(base.root / "handbook"))
        (counts,) = (await agent.ask("get_statistics", collections=["handbook"]))["collections"]
        assert (counts["documents"], counts["states"]) == (2, {"ready": 2})
        assert counts["media_types"] == {"text/markdown": 2}

        resources = (await agent.client.list_resources()).resources
        assert [resource.name for resource in resources] == ["Log", "Power", "Salaries"]
        assert (await agent.client.list_resource_templates()).resource_templates[0].uri_template.endswith("{document}")
        (content,) = (await agent.client.read_resource(resources[1].uri)).contents
        assert isinstance(content, TextResourceContents)
        assert content.text == whole["text"]

    with serving(knowledge, requires_key=False) as client:
        over_http(client.port, work, version=version)


def test_long_answers_are_cut_and_say_how_to_go_on(base: Stages, knowledge: KnowledgeBase) -> None:
    async def work(agent: Agent) -> None:
        seen: list[int] = []
        offset: int | None = 0
        while offset is not None:
            page = await agent.ask("search_documents", query="harbour", limit=30, min_relevance=0, offset=offset)
            assert token_bound(str(page)) <= 4_400  # the same values in another notation
            seen += [hit["passage"] for hit in page["results"] if hit["citation"]["title"] == "Log"]
            offset = page.get("next_offset")
        assert len(seen) == len(set(seen)) > 30, "pages neither repeat nor skip"

        parts: list[str] = []
        start: int | None = 0
        while start is not None:
            part = await agent.ask("fetch_document", document="handbook/log.md", start=start)
            assert ("how_to_go_on" in part) == ("next_start" in part)
            parts.append(part["text"])
            start = part.get("next_start")
        assert len(parts) > 2
        assert "".join(parts).strip() == LOG.strip()
        longer = await agent.ask("fetch_document", document="handbook/log.md", max_tokens=20_000)
        assert longer["text"] == "".join(parts)
        assert "next_start" not in longer

        some = await agent.ask("fetch_document", document="handbook/log.md", first_passage=3, last_passage=4)
        shown = knowledge.show("handbook/log.md", "handbook")
        assert (some["start"], some["end"]) == (shown.passages[3].start_char, shown.passages[4].end_char)
        assert some["citation"]["uri"].endswith(f"#{shown.passages[3].anchor}")

    with serving(knowledge, requires_key=False) as client:
        over_http(client.port, work)


def test_what_a_key_may_not_see_does_not_exist_for_an_agent(base: Stages, knowledge: KnowledgeBase) -> None:
    with base.connection() as connection:
        _, limited = create_key(connection, "agent", ("read",), ["handbook"], lasts=timedelta(hours=1), actor="test")
    (secret,) = knowledge.documents("personnel")

    async def work(agent: Agent) -> None:
        found = await agent.ask("search_documents", query="batteries marmalade", limit=50, min_relevance=0)
        assert {hit["collection"] for hit in found["results"]} == {"handbook"}
        assert [each["name"] for each in (await agent.ask("list_collections"))["collections"]] == ["handbook"]
        assert [each["name"] for each in (await agent.ask("get_statistics"))["collections"]] == ["handbook"]
        assert {each["collection"] for each in (await agent.ask("list_sources"))["sources"]} == {"handbook"}
        assert [each.name for each in (await agent.client.list_resources()).resources] == ["Log", "Power"]
        pairs: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
            ("fetch_document", {"document": secret.document_id}, {"document": 999_999}),
            ("fetch_document", {"document": secret.uri}, {"document": "nothing.md"}),
            ("fetch_document", {"document": 1, "collection": "personnel"}, {"document": 1, "collection": "nothing"}),
            ("list_sources", {"collections": "personnel"}, {"collections": "nothing"}),
            ("get_statistics", {"collections": "personnel"}, {"collections": "nothing"}),
            ("search_documents", {"query": "a", "collections": "personnel"}, {"query": "a", "collections": "nothing"}),
            ("fetch", {"id": f"{secret.document_id}@0"}, {"id": "999999@0"}),
        ]
        for tool, hidden, missing in pairs:
            assert await agent.refused(tool, **hidden) == await agent.refused(tool, **missing), tool
        with pytest.raises(MCPError, match="there is no such document"):
            await agent.client.read_resource(f"sourcebook://documents/{secret.document_id}")

    with serving(knowledge, requires_key=True, chatgpt=True) as anyone:
        over_http(anyone.port, work, key=limited)
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        headers = {"Accept": "application/json, text/event-stream"}
        assert anyone.post("/mcp", message, **headers).status == 401
        assert Client(anyone.port, limited).post("/mcp", message, **headers).status == 200
        foreign = Client(anyone.port, limited).post("/mcp", message, **headers, Origin="http://elsewhere.example")
        assert foreign.status == 403
        assert Client(anyone.port, limited).get("/mcp").status == 405
        with base.connection() as connection:
            revoke_key(connection, "agent", actor="test")
        assert Client(anyone.port, limited).post("/mcp", message, **headers).status == 401


def test_errors_reach_the_model_as_sentences(base: Stages, knowledge: KnowledgeBase) -> None:
    async def work(agent: Agent) -> None:
        mistakes: list[tuple[str, dict[str, Any], str]] = [
            ("search_documents", {"query": "a", "qurey": "b"}, "there is no argument 'qurey'. search_documents takes "),
            ("search_documents", {}, "the argument query is missing"),
            ("search_documents", {"query": "a", "limit": 0}, "limit: input should be greater than or equal to 1"),
            ("search_documents", {"query": "a", "limit": "many"}, "limit: input should be a valid integer"),
            ("search_documents", {"query": "a", "max_tokens": 20_001}, "max_tokens: input should be less than"),
            ("search_documents", {"query": "a", "filters": {"colour": "red"}}, "colour"),
            ("search_documents", {"query": " "}, "query"),
            ("fetch_document", {"document": "/etc/passwd"}, "there is no such document"),
            ("fetch_document", {"document": "../../etc/passwd"}, "there is no such document"),
            ("fetch_document", {"document": 1 << 80}, "there is no such document"),
            ("fetch_document", {"document": "handbook/log.md", "start": 10**9}, "start is 1000000000; it must be"),
            ("fetch_document", {"document": 1, "start": 5, "last_passage": 5}, "a range of characters or of passages"),
        ]
        for tool, arguments, said in mistakes:
            answer = await agent.refused(tool, **arguments)
            assert said in answer or said in answer.lower(), answer
            assert "Error executing" not in answer
        with pytest.raises(MCPError, match="there is no tool 'remove_everything'"):
            await agent.client.call_tool("remove_everything", {})
        with base.connection() as connection:
            connection.execute("ALTER TABLE sourcebook.collection RENAME TO collection_away")
        try:
            away = await agent.refused("list_collections")
            assert away == "the database, a model or a package cannot be used on the server; its log says why"
        finally:
            with base.connection() as connection:
                connection.execute("ALTER TABLE sourcebook.collection_away RENAME TO collection")

    with serving(knowledge, requires_key=False) as client:
        over_http(client.port, work)


def test_chatgpt_finds_its_two_tools_where_they_are_asked_for(base: Stages, knowledge: KnowledgeBase) -> None:
    async def work(agent: Agent) -> None:
        listed = [tool.name for tool in (await agent.client.list_tools()).tools]
        assert listed == [tool.name for tool in (*TOOLS, *CHATGPT_TOOLS)]
        first, *_ = (await agent.ask("search", query="How long do the batteries last?"))["results"]
        assert set(first) == {"id", "title", "url"}
        short = await agent.ask("fetch", id=first["id"])
        assert short["text"].strip() == POWER.strip()
        assert set(short) == {"id", "title", "text", "url", "metadata"}

        log = next(each for each in (await agent.ask("search", query='"day 20"'))["results"] if each["title"] == "Log")
        long = await agent.ask("fetch", id=log["id"])
        assert "on day 20" in long["text"], "the part that answers"
        following = await agent.ask("fetch", id=long["metadata"]["next"].split()[3])
        assert LOG.find(long["text"].strip()) < LOG.find(following["text"].strip())
        assert "the id is none" in await agent.refused("fetch", id="../etc")

    with serving(knowledge, requires_key=False, chatgpt=True) as client:
        over_http(client.port, work)


@pytest.mark.parametrize("sent", [[], {"query": "hunter2"}, {"jsonrpc": "2.0", "id": "hunter2", "password": "hunter2"}])
def test_what_is_no_message_is_refused_and_not_repeated(base: Stages, knowledge: KnowledgeBase, sent: Any) -> None:
    headers = {"Accept": "application/json, text/event-stream"}
    with serving(knowledge, requires_key=False) as client:
        answer = client.post("/mcp", sent, **headers)
        assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, -32602, None)
        assert b"hunter2" not in answer.content
        assert b"pydantic" not in answer.content
