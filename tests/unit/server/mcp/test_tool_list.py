"""The list of tools: short enough to be read before every conversation, and no argument out of reach."""

import asyncio
import json
from typing import Any

import pytest
from mcp import Client

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.mcp.catalogue import TOOLS, OfferedTool
from sourcebook.server.mcp.protocol import make_server
from sourcebook.server.mcp.tool_schemas import OPTIONS, short_schema, with_options

MOST_CHARACTERS = 12_000


def listed(*, all_options: bool) -> list[dict[str, Any]]:
    """The answer to `tools/list`, as the protocol's own client gets it."""

    def unasked(_: Grant) -> KnowledgeBase:
        raise AssertionError("a list of tools needs no knowledge base")

    async def ask() -> list[dict[str, Any]]:
        server = make_server(unasked, lambda _: Grant("tests"), is_local=True, all_options=all_options)
        async with Client(server) as client:
            found = await client.list_tools()
        return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in found.tools]

    return asyncio.run(ask())


def test_the_list_of_tools_is_short_and_has_every_tool() -> None:
    tools = listed(all_options=False)
    assert len(json.dumps(tools, ensure_ascii=False)) <= MOST_CHARACTERS
    assert [tool["name"] for tool in tools] == [tool.name for tool in TOOLS]
    whole = listed(all_options=True)
    assert all("outputSchema" in tool for tool in whole)
    assert [tool["annotations"] for tool in whole] == [tool["annotations"] for tool in tools]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: str(tool.name))
def test_every_argument_is_described_or_named(tool: OfferedTool) -> None:
    schema = short_schema(tool.arguments, tool.shown)
    every = set(tool.arguments.model_json_schema()["properties"])
    assert set(tool.shown) <= every
    described = set(schema["properties"]) - {OPTIONS}
    named = schema["properties"].get(OPTIONS, {}).get("description", "").removesuffix(".").replace(":", ",").split(", ")
    assert described | set(named[1:]) == every
    assert set(schema.get("required", ())) <= described
    assert "$ref" not in json.dumps(schema)


def test_an_option_is_an_argument_and_an_argument_counts_more() -> None:
    arguments = TOOLS[0].arguments
    assert with_options({"query": "a", "options": {"mode": "keyword", "query": "b"}}, arguments) == {
        "query": "a",
        "mode": "keyword",
    }
    assert with_options({"query": "a", "options": "keyword"}, arguments) == {"query": "a", "options": "keyword"}


def test_tools_that_change_something_say_so() -> None:
    for tool in TOOLS:
        if tool.scope == "write":
            assert tool.is_destructive, f"{tool.name} may take away or change what exists"
