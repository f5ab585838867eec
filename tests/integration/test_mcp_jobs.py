"""Jobs for agents: followed, waited for, cancelled; and the tools that write, for those who may."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from mcp import MCPError

from sourcebook.admin.access_keys import create_key
from sourcebook.admin.audit import audit_events
from sourcebook.admin.work_requests import claim_work, end_work, record_progress
from sourcebook.database.database import Database
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Scope
from sourcebook.server.mcp.catalogue import TOOLS
from tests.integration.http_server import serving
from tests.integration.mcp_client import VERSIONS, Agent, over_http
from tests.waiting import wait_until

READING = [tool.name for tool in TOOLS if tool.scope == "read"]
WRITING = [tool.name for tool in TOOLS if tool.scope == "write"]


@pytest.fixture
def knowledge(database: Database) -> KnowledgeBase:
    """Two collections without documents."""
    with database.connection() as connection:
        for name in ("handbook", "personnel"):
            connection.execute("INSERT INTO collection (name, settings) VALUES (%s, '{}')", (name,))
    return KnowledgeBase(database)


def test_a_job_is_looked_at_and_cancelled(knowledge: KnowledgeBase) -> None:
    with knowledge.database.connection() as connection:
        ended = knowledge.request_work("handbook", actor="test").id
        claim_work(connection, worker="host:1")
        end_work(connection, ended, "failed", "the site is away")
        running = knowledge.request_work("handbook", actor="test").id
        claim_work(connection, worker="host:1")
        waiting = knowledge.request_work("handbook", actor="test").id

    async def work(agent: Agent) -> None:
        job = await agent.ask("get_job", job=waiting)
        assert (job["job"], job["collection"], job["state"]) == (waiting, "handbook", "waiting")
        assert f"job={waiting}" in job["how_to_go_on"]
        assert (await agent.ask("cancel_job", job=waiting))["state"] == "cancelled"
        assert "how_to_go_on" not in await agent.ask("get_job", job=waiting)
        stopping = await agent.ask("cancel_job", job=running)
        assert stopping["state"] == "running"
        assert "It stops" in stopping["how_to_go_on"]
        failed = await agent.ask("cancel_job", job=ended)
        assert (failed["state"], failed["error"]) == ("failed", "the site is away")
        assert "job: input should be" in await agent.refused("get_job", job=0)

    with serving(knowledge, requires_key=False) as client:
        over_http(client.port, work)
    with knowledge.database.connection() as connection:
        cancelled = [event for event in audit_events(connection) if event.action == "work.cancel"]
    assert {event.actor for event in cancelled} == {"local caller"}
    assert len(cancelled) == 2


def test_a_key_without_the_scope_is_offered_no_tool_that_writes(knowledge: KnowledgeBase) -> None:
    job = knowledge.request_work("handbook", actor="test").id

    async def only_reads(agent: Agent) -> None:
        listed = (await agent.client.list_tools()).tools
        assert [tool.name for tool in listed] == READING
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed)
        assert (await agent.ask("get_job", job=job))["state"] == "waiting"
        for tool in WRITING:
            with pytest.raises(MCPError, match=f"there is no tool '{tool}'"):
                await agent.client.call_tool(tool, {"job": job})

    async def writes(agent: Agent) -> None:
        listed = {tool.name: tool.annotations for tool in (await agent.client.list_tools()).tools}
        assert list(listed) == [tool.name for tool in TOOLS]
        hints = listed["cancel_job"]
        assert hints is not None
        assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) == (False, True, True)
        assert (await agent.ask("cancel_job", job=job))["state"] == "cancelled"

    with serving(knowledge, requires_key=True) as client:
        over_http(client.port, only_reads, key=key_of(knowledge, "reader", "read"))
        over_http(client.port, writes, key=key_of(knowledge, "writer", "write"))


def test_the_job_of_a_hidden_collection_does_not_exist(knowledge: KnowledgeBase) -> None:
    hidden = knowledge.request_work("personnel", actor="test").id
    key = key_of(knowledge, "agent", "write", ["handbook"])

    async def work(agent: Agent) -> None:
        for tool in ("get_job", "cancel_job"):
            assert await agent.refused(tool, job=hidden) == await agent.refused(tool, job=1 << 40)
        assert await agent.refused("get_job", job=hidden, wait=True) == "there is no such job"

    with serving(knowledge, requires_key=True) as client:
        over_http(client.port, work, key=key)
    found = knowledge.work(hidden)
    assert found is not None
    assert found.state == "waiting"


@pytest.mark.parametrize("version", VERSIONS)
def test_an_agent_waits_for_a_job_and_is_told_of_its_progress(knowledge: KnowledgeBase, version: str) -> None:
    job = knowledge.request_work("handbook", actor="test").id
    told: list[tuple[float, float | None, str | None]] = []

    async def take(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    def process() -> None:
        """Do the work, each step when the agent has been told of the one before."""
        with knowledge.database.connection() as connection:
            wait_until(lambda: len(told) == 1)
            claim_work(connection, worker="host:1")
            for number, (stage, done) in enumerate([("documents", 1), ("documents", 3), ("embeddings", 2)], 2):
                record_progress(connection, job, stage, done, 4, 1)
                wait_until(lambda: len(told) == number)  # noqa: B023 - it is called before the next step
            end_work(connection, job, "succeeded")

    async def work(agent: Agent) -> Any:
        answer = await agent.client.call_tool("get_job", {"job": job, "wait": True}, progress_callback=take)
        assert not answer.is_error
        return answer.structured_content

    worker = threading.Thread(target=process)
    worker.start()
    with serving(knowledge, requires_key=False) as client:
        done = over_http(client.port, work, version=version)
    worker.join()
    assert done["state"] == "succeeded"
    assert [progress for progress, _, _ in told] == sorted(progress for progress, _, _ in told)
    assert [message for _, _, message in told] == [
        "waiting for a worker",
        "documents: 1 of 4, 1 failed",
        "documents: 3 of 4, 1 failed",
        "embeddings: 2 of 4, 1 failed",
    ]
    assert all(total is not None and progress < total for progress, total, _ in told)


def key_of(knowledge: KnowledgeBase, name: str, scope: Scope, collections: list[str] | None = None) -> str:
    """Return a new key with one scope."""
    with knowledge.database.connection() as connection:
        _, key = create_key(connection, name, (scope,), collections, lasts=timedelta(hours=1), actor="test")
    return key
