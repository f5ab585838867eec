"""The database goes away under the server: 503 within five seconds, and answers as soon as it is back."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest

from sourcebook.admin.access_keys import create_key
from tests.integration.http_server import Answer, Client, serving
from tests.integration.test_outage import Outage, published_server
from tests.waiting import wait_until

_LIMIT = 5.0
"""Longest wait for an answer, in seconds."""
_BACK = 2.0
"""Longest time until requests are answered again, in seconds."""
_MANY = 60
"""Requests at once, of which the server's threads take forty."""


@pytest.fixture(scope="module")
def outage(shared_public_folder: Path) -> Iterator[Outage]:
    """The server that the tests of this module share."""
    with published_server(shared_public_folder) as outage:
        yield outage


def called_tool(client: Client) -> Answer:
    """Answer of the tool `list_collections`."""
    return client.post(
        "/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_collections", "arguments": {}}},
        Accept="application/json, text/event-stream",
    )


def got(path: str, accept: str = "application/json") -> Callable[[Client], Answer]:
    """Return what asks for a path."""
    return lambda client: client.get(path, Accept=accept)


ASKED: dict[str, Callable[[Client], Answer]] = {
    "collections": got("/v1/collections"),
    "documents": got("/v1/documents?limit=5"),
    "document": got("/v1/documents/1"),
    "status": got("/v1/status"),
    "stats": got("/v1/statistics"),
    "ready": got("/ready"),
    "page": got("/collections", "text/html"),
    "search": lambda client: client.post("/v1/search", {"query": "tide moon"}),
    "facets": lambda client: client.post("/v1/facets", {"query": "tide"}),
    "keyed": lambda client: client.post("/v1/collections", {"name": "made"}, Idempotency_Key="once"),
    "upload": lambda client: client.request("PUT", "/v1/uploads/handbook/tide.md", b"# Tide"),
}


def timed(ask: Callable[[Client], Answer], client: Client) -> tuple[Answer, float]:
    """Return an answer, and the seconds until it came."""
    started = time.monotonic()
    answer = ask(client)
    return answer, time.monotonic() - started


@pytest.mark.alone
def test_a_stopped_database_is_503_within_five_seconds(outage: Outage) -> None:
    """SIGSTOP: the kernel accepts connections, and nobody answers, with a key or without, in every face."""
    with (
        outage.knowledge() as knowledge,
        serving(knowledge, requires_key=True) as foreign,
        serving(knowledge, requires_key=False) as local,
        ThreadPoolExecutor(2 * _MANY) as threads,
    ):
        with knowledge.database.connection() as connection:
            _, text = create_key(connection, "writer", ("read", "write"), None, actor="test")
        clients = {"with a key": Client(foreign.port, text), "without": local}
        before = {name: ask(local).status for name, ask in ASKED.items() if name not in {"keyed", "upload"}}
        assert set(before.values()) <= {200, 404}, str(before)
        assert "handbook" in called_tool(local).content.decode()
        outage.signal(signal.SIGSTOP)
        try:
            asked = [(name, who) for name in ASKED for who in clients]
            asked += [("documents", who) for who in clients for _ in range(_MANY - len(ASKED))]
            waiting = [(name, who, threads.submit(timed, ASKED[name], clients[who])) for name, who in asked]
            of_tools = {who: threads.submit(timed, called_tool, client) for who, client in clients.items()}
            for name, who, each in waiting:
                answer, seconds = each.result()
                assert (answer.status, seconds < _LIMIT) == (503, True), (name, who, answer, seconds)
                if name == "page":
                    assert b"<h1" in answer.content
                else:
                    assert answer.headers["content-type"] == "application/problem+json", (name, who)
                    assert answer.headers["retry-after"] == "2"
            for who, each in of_tools.items():
                answer, seconds = each.result()
                assert seconds < _LIMIT, (who, answer, seconds)
                assert answer.status == 503 or answer.json["result"]["isError"], (who, answer)
        finally:
            outage.signal(signal.SIGCONT)
        back = time.monotonic()
        for client in clients.values():
            wait_until(lambda client=client: client.get("/v1/collections").status == 200)  # type: ignore[misc]
        assert time.monotonic() - back < _BACK
        after = {name: ask(local).status for name, ask in ASKED.items() if name not in {"keyed", "upload"}}
        assert after == before
        assert "handbook" in called_tool(local).content.decode()


def stop_sessions(outage: Outage, number: int) -> None:
    """Send a signal to the processes of the sessions alone."""
    with psycopg.connect(outage.url) as connection:
        found = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchall()
    for (process,) in found:
        psutil.Process(process).send_signal(number)


@pytest.mark.alone
def test_sessions_that_are_stopped_are_replaced(outage: Outage) -> None:
    """SIGSTOP to every session: new ones are answered; 503 within the limit, and answers by new connections."""
    with outage.knowledge() as knowledge, serving(knowledge, requires_key=False) as client:
        assert client.get("/v1/collections").status == 200
        stop_sessions(outage, signal.SIGSTOP)
        try:
            answer, seconds = timed(got("/v1/documents"), client)
            assert (answer.status, seconds < _LIMIT) == (503, True), (answer, seconds)
            assert client.get("/v1/documents").status == 200
        finally:
            for process in psutil.Process(outage.postmaster).children():
                process.send_signal(signal.SIGCONT)


def test_a_lock_elsewhere_is_503(outage: Outage) -> None:
    """`LOCK TABLE document` of another session: busy, and at once after it."""
    with (
        outage.knowledge() as knowledge,
        serving(knowledge, requires_key=False) as client,
        psycopg.connect(outage.url) as locking,
    ):
        locking.execute("LOCK TABLE sourcebook.document IN ACCESS EXCLUSIVE MODE")
        answer, seconds = timed(got("/v1/documents"), client)
        assert (answer.status, seconds < _LIMIT) == (503, True), (answer, seconds)
        assert json.loads(answer.content)["type"].endswith("database-busy")
        locking.rollback()
        assert client.get("/v1/documents").status == 200
