"""The server for agents beside the library: what the protocol adds to a search, its start, strays on its output."""

import asyncio
import json
import time
from collections.abc import Callable

from mcp import Client

from benchmarks.harness.bench import Bench
from benchmarks.harness.latency import Latency
from benchmarks.harness.library import Library
from benchmarks.harness.mcp_agent import HttpAgent, stdio_agent
from benchmarks.harness.report import Row, middle, say, spread
from benchmarks.parts.search import questions_of, searched_library
from benchmarks.parts.server import serving
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.mcp.protocol import make_server

_STARTS = 5
_FEWEST = 100
"""Questions, at least."""
_WARM_UP = 10
"""Questions that are asked before, in other words, and not measured."""


def run(bench: Bench) -> list[Row]:
    """Ask the library, an agent's own process and a server in turns; then start processes for a first answer each."""
    library, collection = searched_library(bench)
    questions = _enough(questions_of(bench))
    rows = []
    with library.knowledge() as knowledge, stdio_agent(library) as local, serving(library) as (port, _, _):
        local.begin()
        remote = HttpAgent(port)
        asked: dict[str, Callable[[str], object]] = {
            "the library": lambda question: knowledge.search(question, collection),
            "stdio": lambda question: local.search(question, collection),
            "HTTP": lambda question: remote.search(question, collection),
        }
        took = _times(asked, questions)
        alone = took.pop("the library")
        for name, each in took.items():
            say(f"  the library: {alone}; an agent over {name}: {each}")
            note = f"p50 {each.p50 - alone.p50:+.1f} ms; {each.p95:.1f} against {alone.p95:.1f} ms"
            rows.append(Row(f"what MCP over {name} adds to a search, p95", each.p95 - alone.p95, "ms", 10.0, note))
    starts, strays = [], local.strays
    for question in questions[:_STARTS]:
        seconds, more = _first_answer(library, collection, question)
        starts.append(seconds)
        strays += more
    rows.append(Row("first answer of `sourcebook mcp`, start included", middle(starts), "s", 1.5, spread(starts, "s")))
    rows.append(Row("bytes beside the protocol on standard output", float(strays), "", 0.0))
    rows.append(Row("characters of the list of tools", float(_characters()), "", 12_000.0))
    return rows


def _characters() -> int:
    """Return the characters of the answer to `tools/list`, as JSON of the SDK."""

    async def ask() -> int:
        server = make_server(_no_knowledge, lambda _: Grant("benchmarks"), is_local=True)
        async with Client(server) as client:
            listed = await client.list_tools()
        return len(json.dumps(listed.model_dump(mode="json", by_alias=True, exclude_none=True), ensure_ascii=False))

    return asyncio.run(ask())


def _no_knowledge(_: Grant) -> KnowledgeBase:
    raise AssertionError("a list of tools needs no knowledge base")


def _enough(questions: list[str]) -> list[str]:
    """Return at least a hundred questions: those of a small set in several wordings, as each is asked once."""
    times = -(-_FEWEST // len(questions))
    return [question if number == 0 else f"{question} {number}" for number in range(times) for question in questions]


def _times(asked: dict[str, Callable[[str], object]], questions: list[str]) -> dict[str, Latency]:
    """Ask each question of each in turns; return the latencies. Each question is new to all of them."""
    for question in questions[:_WARM_UP]:
        for ask in asked.values():
            ask(f"warm-up: {question}")
    took: dict[str, list[float]] = {name: [] for name in asked}
    for question in questions:
        for name, ask in asked.items():
            started = time.perf_counter()
            ask(question)
            took[name].append((time.perf_counter() - started) * 1000)
    return {name: Latency(times) for name, times in took.items()}


def _first_answer(library: Library, collection: str, question: str) -> tuple[float, int]:
    """Return the seconds until the first answer of a new process, the embedded server's start included; and strays."""
    started = time.perf_counter()
    with stdio_agent(library) as agent:
        agent.begin()
        found = agent.search(question, collection)
        seconds = time.perf_counter() - started
        agent.rest()
    assert "results" in found
    return seconds, agent.strays
