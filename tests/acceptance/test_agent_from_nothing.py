"""An agent alone goes from an empty home to a cited answer and back, by the protocol's own client."""

import time
from typing import Any

import psutil
import pytest
from mcp import StdioServerParameters

from tests.acceptance.workplace import Workplace
from tests.integration.mcp_client import Agent, over_stdio
from tests.integration.stages import html
from tests.waiting import wait_until
from tests.web_server import WebServer

MOST_SECONDS = 60.0
"""Seconds of the whole way, on a machine with nothing else to do; a busy one has more."""


@pytest.mark.usefixtures("model_was_exported")
def test_collection_folder_site_wait_search_cite_and_remove_by_calls_alone(workplace: Workplace) -> None:
    workplace.write("docs/power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.\n")
    workplace.write("docs/old/knots.txt", "A bowline holds under load.")
    workplace.write("letters/june.md", "# June\n\nThe lighthouse keeper wrote about barnacles.\n")
    workers: list[psutil.Process] = []

    async def work(agent: Agent) -> None:
        async def done(tool: str, **arguments: Any) -> Any:
            job = await agent.ask(tool, **arguments, wait=True)
            while job["state"] in {"waiting", "running"}:
                job = await agent.ask("get_job", job=job["job"], wait=True)
            assert job["state"] == "succeeded", job
            return job

        async def first(query: str, **options: Any) -> Any:
            return (await agent.ask("search_documents", query=query, limit=1, **options))["results"][0]

        assert (await agent.ask("list_collections"))["collections"] == []
        folder = await agent.ask(
            "ingest_documents", path=str(workplace.docs), file_patterns=["*.md"], tags=["gauge"], collection="harbour"
        )
        assert folder["collection"] == "harbour"
        site = f"http://127.0.0.1:{web.port}/"
        crawl = await done("crawl_website", url=site, collection="harbour", max_pages=5, rate=10, js_enabled=False)
        assert "changed" not in crawl
        workers.extend(own_workers())

        hit = await first("How long do the batteries last?")
        assert (hit["citation"]["title"], hit["tags"]) == ("Power", ["gauge"])
        assert hit["citation"]["uri"] == f"{workplace.uri('docs/power.md')}#power"
        assert (await first("How high is the spring tide?", options={"mode": "keyword"}))["citation"]["uri"] == site

        listed = await agent.ask("list_documents", sort="title")
        assert [each["title"] for each in listed["documents"]] == ["Power", "Tides"], "no text file, by the pattern"
        (counts,) = (await agent.ask("get_statistics"))["collections"]
        assert (counts["documents"], counts["jobs"]) == (2, {})

        again = await done("crawl_website", url=site, collection="harbour", max_pages=7)
        assert again["changed"] == "max_pages: 5 → 7"
        removed = await agent.ask("remove_document", document="docs/power.md")
        assert [each["uri"] for each in removed["removed"]] == [workplace.uri("docs/power.md")]
        await done("remove_source", location=site)
        assert (await agent.ask("list_documents"))["documents"] == []

    with WebServer() as web:
        web.page("/", html("Tides", "The spring tide of Harwich is four metres high in March."))
        parameters = StdioServerParameters(
            command=workplace.command,
            args=["mcp", "--private-hosts"],
            env=workplace.environment,
            cwd=workplace.folder,
        )
        begun = time.monotonic()
        over_stdio(parameters, work)
        seconds = time.monotonic() - begun
    assert workers, "the work was done beside the server"
    wait_until(lambda: not any(map(lives, workers)), what="the worker ends with its server")
    assert seconds < MOST_SECONDS * max(1.0, psutil.getloadavg()[0] / (psutil.cpu_count() or 1))


def own_workers() -> list[psutil.Process]:
    """The processes that do the work of a server that this process has started."""
    return [each for each in psutil.Process().children(recursive=True) if "request_worker" in command_line(each)]


def command_line(process: psutil.Process) -> str:
    """Return what a process was started with; nothing of one that has ended meanwhile."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def lives(process: psutil.Process) -> bool:
    """Whether a process runs, which one that nobody has waited for does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
