"""The MCP server over the standard streams of the process, for an agent on this machine that starts it."""

import io
import re
from collections.abc import Callable, Collection
from typing import Final

import anyio
from mcp.server.stdio import stdio_server

from sourcebook.installation import installed_version
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant, Scope
from sourcebook.server.mcp.protocol import make_server
from sourcebook.server.mcp.wire import Wire


def serve_stdio(
    knowledge: Callable[[], KnowledgeBase],
    wire: Wire,
    *,
    collections: list[str],
    read_only: bool,
    chatgpt: bool,
    unredacted: bool = False,
    rerankers: Collection[str] = (),
    all_options: bool = False,
) -> None:
    """Answer the requests that come, until there are no more.

    Args:
        knowledge: returns the knowledge base.
        wire: the streams to read requests from and to write answers to; nothing else may write to them.
        collections: names of the only collections that exist for the agent; every collection where empty.
        read_only: whether the agent is offered no tool that writes.
        chatgpt: whether to offer `search` and `fetch` in ChatGPT's shape as well.
        unredacted: whether the agent may ask for what collections redact.
        rerankers: names and folders of the only models that a search may rerank with.
        all_options: whether the list of tools describes every argument and answer.
    """
    grant = local_grant(collections, read_only=read_only, unredacted=unredacted)
    server = make_server(
        lambda _: knowledge(),
        lambda _: grant,
        is_local=True,
        rerankers=rerankers,
        chatgpt=chatgpt,
        all_options=all_options,
        version=installed_version(),
    )

    async def run() -> None:
        reading, writing = wire
        requests = anyio.wrap_file(_Lines(reading, encoding="utf-8", errors="replace"))
        answers = _Answers(io.TextIOWrapper(writing, encoding="utf-8", newline="\n", line_buffering=True))
        async with stdio_server(requests, answers) as (received, sent):
            await server.run(received, sent, server.create_initialization_options())

    anyio.run(run)


def local_grant(collections: Collection[str], *, read_only: bool, unredacted: bool = False) -> Grant:
    """Return what an agent may do that whoever runs the process has started: make collections, too, where it writes."""
    scopes: tuple[Scope, ...] = ("read" if read_only else "admin", *(("unredacted",) if unredacted else ()))
    return Grant("local agent", scopes, tuple(collections) or None)


class _Answers(anyio.AsyncFile[str]):
    """Lines that go out as they are written, in one turn of a thread; the SDK flushes each in a second one."""

    async def flush(self) -> None:
        """Return at once."""


_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
"""Escapes of JSON: a pair of surrogates, a lone one, or any other."""


class _Lines(io.TextIOWrapper):
    """Lines of JSON without lone surrogates: the SDK drops a request with one, and its client waits for ever."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override] # typeshed's bases contradict each other
        """Return the next line."""
        return _ESCAPE.sub(lambda found: r"\ufffd" if found[1] else found[0], super().readline(size))
