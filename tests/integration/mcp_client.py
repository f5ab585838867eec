"""An agent: a client of the protocol's SDK that asks one server and returns plain values."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

Value = TypeVar("Value")
VERSIONS = ("legacy", "auto")
"""Ways to begin: the handshake of the protocol up to 2025-11-25, and the one without a handshake since."""


@dataclass(frozen=True)
class Agent:
    """A client that is connected."""

    client: Client

    async def ask(self, tool: str, **arguments: Any) -> Any:
        """Return the answer of a tool, which says the same in both forms."""
        result = await self.client.call_tool(tool, arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert not result.is_error, content.text
        assert json.loads(content.text) == result.structured_content
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Return the sentence of a tool that fails."""
        result = await self.client.call_tool(tool, arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert result.is_error
        return content.text


def over_http(
    port: int,
    work: Callable[[Agent], Awaitable[Value]],
    *,
    key: str | None = None,
    version: str = "auto",
    **headers: str,
) -> Value:
    """Let an agent work that talks to a server on this machine.

    Args:
        port: the port of the server.
        work: what the agent does.
        key: its key or token.
        version: the way to begin.
        headers: headers of each request.
    """

    async def run() -> Value:
        sent = headers if key is None else {"Authorization": f"Bearer {key}", **headers}
        async with httpx2.AsyncClient(headers=sent, timeout=30) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
            async with Client(transport, mode=version) as client:
                return await work(Agent(client))

    return asyncio.run(run())


def over_stdio(parameters: StdioServerParameters, work: Callable[[Agent], Awaitable[Value]]) -> Value:
    """Let an agent work that starts its server; nothing but the protocol may come from it."""

    strays: list[object] = []

    async def take(message: object) -> None:
        strays.append(message)

    async def run() -> Value:
        async with Client(parameters, mode="legacy", message_handler=take) as client:
            return await work(Agent(client))

    done = asyncio.run(run())
    assert strays == [], "lines beside the protocol reach the client as errors"
    return done
