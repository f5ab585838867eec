"""`sourcebook search` as a newcomer uses it: ingest, ask, narrow, turn the page."""

import re
import signal
import time

import pytest
from mcp import StdioServerParameters

from tests.acceptance.workplace import Workplace
from tests.integration.http_server import Client
from tests.integration.mcp_client import Agent, over_stdio

DAYS = "\n\n".join(
    f"## Day {day}\n\nAt the harbour on day {day}. " + "The wind was light and the sea calm. " * 25
    for day in range(1, 8)
)


@pytest.mark.usefixtures("model_was_exported")
def test_one_question_asked_in_many_ways(workplace: Workplace) -> None:
    """Both legs answer, without torch; filters, pages, groups and context hold through the whole command."""
    workplace.configure(handbook="docs")
    workplace.write("docs/log.md", f"# Log\n\n{DAYS}\n")
    workplace.write("docs/power.md", "# Power\n\nThe batteries of the harbour last ninety hours in a gale.\n")
    workplace.write("docs/notes.txt", "The power cut of May: nobody was at the harbour.\n")
    with workplace.unrecorded():
        workplace.ingest()
        answer = workplace.json("search", "How long is there electricity at the harbour?", "-n", "1", "--explain")
        (best,) = answer["results"]
        assert best["uri"] == workplace.uri("docs/power.md")
        assert answer["notes"] == [], "the model was exported: no note tells of torch"
        assert {leg["leg"] for leg in answer["explanation"]["legs"]} == {"vector", "keyword"}

        found: list[tuple[str, int]] = []
        offset: int | None = 0
        while offset is not None:
            page = workplace.json("search", "harbour", "-n", "4", "--offset", str(offset))
            found += [(result["uri"], result["ordinal"]) for result in page["results"]]
            offset = page["next_offset"]
        assert len(found) == len(set(found)) == page["total_candidates"] > 8

        grouped = workplace.json("search", "harbour", "--group-by", "document")["results"]
        assert len(grouped) == 3
        assert sum(1 + len(result["also"]) for result in grouped) == len(found)

        for query in (
            ("harbour", "--filter", "media_type=text/plain"),
            ('"power cut" harbour',),
            ("title:notes harbour",),
        ):
            (only,) = workplace.json("search", *query)["results"]
            assert only["uri"] == workplace.uri("docs/notes.txt"), query
        assert workplace.uri("docs/notes.txt") not in workplace.run("search", "harbour -nobody", "-n", "50")

        asked = workplace.json("search", "where is power.md", "--strategy", "auto", "--explain")
        assert asked["results"][0]["uri"] == workplace.uri("docs/power.md"), "no passage has the name of its file"
        assert asked["explanation"]["strategy"].startswith("file name: power.md is the name of a file; ")

        shown = workplace.run("search", '"day 4"', "--mode", "keyword", "--neighbours", "1")
        assert " > At the harbour on day 4." in shown
        assert "day 5" in shown

        ask_over_http(workplace)
        ask_as_an_agent(workplace)


def ask_over_http(workplace: Workplace) -> None:
    """Ask a server in a process of its own, without a key and with one; it ends when it is told to."""
    key = workplace.run("key", "create", "website", "-c", "handbook", "--expires", "90d").strip()
    assert key.startswith("sb_")
    assert workplace.json("key")["keys"][0]["state"] == "valid"
    log = workplace.folder / "serve.log"
    server = workplace.start("serve", "--port", "0", errors_to=log)
    try:
        while not (address := re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())):
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)  # until it has said its address
        for client in (Client(int(address[1])), Client(int(address[1]), key)):
            answer = client.post("/v1/search", {"query": "How long is there electricity?", "limit": 1})
            assert answer.json["results"][0]["uri"] == workplace.uri("docs/power.md")
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
    assert server.returncode == 0, log.read_text()
    assert key not in log.read_text()
    workplace.run("key", "revoke", "website")
    assert workplace.json("key", "list")["keys"][0]["state"] == "revoked"


def ask_as_an_agent(workplace: Workplace) -> None:
    """Ask as an agent that starts the command itself and restricts it to one collection."""

    async def work(agent: Agent) -> None:
        answer = await agent.ask("search_documents", query="How long is there electricity?", limit=1)
        assert answer["results"][0]["citation"]["uri"] == workplace.uri("docs/power.md") + "#power"
        assert "no argument 'path'" in await agent.refused("list_sources", path="/etc")
        hidden = await agent.refused("search_documents", query="harbour", collections="attic")
        assert hidden == "there is no such collection"

    over_stdio(
        StdioServerParameters(
            command=workplace.command,
            args=["mcp", "--collection", "handbook"],
            cwd=workplace.folder,
            env=workplace.environment | {"SOURCEBOOK_LOG_LEVEL": "debug"},
        ),
        work,
    )
