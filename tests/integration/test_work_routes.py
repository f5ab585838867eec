"""Work over HTTP: asked for, listed, cancelled and followed."""

import signal
import time
from collections.abc import Iterator

import pytest

from sourcebook.admin.access_keys import create_key, revoke_key
from sourcebook.admin.audit import audit_events
from sourcebook.admin.work_requests import claim_work, end_work, record_progress
from sourcebook.server import work_events
from tests.integration.cli.command import start
from tests.integration.event_stream import Event, events, opened
from tests.integration.http_server import Client, serving
from tests.integration.stages import Stages
from tests.waiting import wait_until

CONFIGURATION = """\
collections:
  handbook: {files: [{root: ./docs/handbook}]}
  personnel: {files: [{root: ./docs/personnel}]}
"""
LISTENING = (
    "FROM pg_stat_activity WHERE query LIKE '%LISTEN sourcebook_work%' AND datname = current_database() "
    "AND pid <> pg_backend_pid()"
)
LISTENERS = f"SELECT count(*) {LISTENING}"
END_LISTENERS = f"SELECT pg_terminate_backend(pid) {LISTENING}"


@pytest.fixture
def client(stages: Stages) -> Iterator[Client]:
    """A server on this machine, over two collections."""
    stages.configure(CONFIGURATION)
    with serving(stages.knowledge, requires_key=False) as client:
        yield client


def key(stages: Stages, name: str, *scopes: str, only: list[str] | None = None) -> str:
    with stages.connection() as connection:
        _, text = create_key(connection, name, scopes or ("read",), only, actor="test")  # type: ignore[arg-type]
    return text


def test_work_is_asked_for_once_listed_and_cancelled(client: Client, stages: Stages) -> None:
    body = {"kinds": ["files"], "only_failed": True}
    asked = client.post("/v1/collections/handbook/sync", body, Idempotency_Key="a")
    assert asked.status == 202
    assert (asked.json["state"], asked.json["arguments"]) == ("waiting", body)
    place = asked.headers["location"]
    assert client.get(place).json == asked.json
    again = client.post("/v1/collections/handbook/sync", body, Idempotency_Key="a")
    assert (again.status, again.json["id"]) == (202, asked.json["id"])
    assert client.post("/v1/collections/handbook/sync", {}, Idempotency_Key="a").status == 422
    whole = client.request("POST", "/v1/collections/personnel/sync")
    assert (whole.status, whole.json["arguments"]) == (202, {})

    listed = client.get("/v1/work-requests?limit=1").json
    assert [each["id"] for each in listed["requests"]] == [whole.json["id"]]
    rest = client.get(f"/v1/work-requests?limit=1&cursor={listed['next_cursor']}").json
    assert ([each["id"] for each in rest["requests"]], rest["next_cursor"]) == ([asked.json["id"]], None)
    assert client.get("/v1/work-requests?state=running").json["requests"] == []
    assert len(client.get("/v1/work-requests?collection=personnel").json["requests"]) == 1

    cancelled = client.request("POST", f"{place}/cancel")
    assert (cancelled.status, cancelled.json["state"]) == (200, "cancelled")
    with stages.connection() as connection:
        assert [(each.actor, each.action) for each in audit_events(connection)] == [
            ("local caller", "work.cancel"),
            ("local caller", "work.sync"),
            ("local caller", "work.sync"),
        ]


def test_a_key_asks_for_work_on_its_collections_alone_and_needs_the_scope(stages: Stages) -> None:
    stages.configure(CONFIGURATION)
    other = stages.knowledge.request_work("personnel", actor="test")
    reads, writes = key(stages, "reads"), key(stages, "writes", "write", only=["handbook"])
    with serving(stages.knowledge, requires_key=True) as client:
        reader, writer = Client(client.port, reads), Client(client.port, writes)
        assert reader.post("/v1/collections/handbook/sync", {}).status == 403
        assert reader.request("POST", f"/v1/work-requests/{other.id}/cancel").status == 403
        assert len(reader.get("/v1/work-requests").json["requests"]) == 1
        assert client.post("/v1/collections/handbook/sync", {}).status == 401

        assert writer.post("/v1/collections/personnel/sync", {}).status == 404
        for path in ("", "/events"):
            assert writer.get(f"/v1/work-requests/{other.id}{path}").status == 404
        assert writer.request("POST", f"/v1/work-requests/{other.id}/cancel").status == 404
        assert writer.get("/v1/work-requests?collection=personnel").status == 404
        assert writer.get("/v1/work-requests").json == {"requests": [], "next_cursor": None}
        asked = writer.post("/v1/collections/handbook/sync", {})
        assert (asked.status, asked.json["asked_by"]) == (202, "key writes")
    found = stages.knowledge.work(other.id)
    assert found is not None
    assert found.state == "waiting"


@pytest.mark.parametrize(
    "body",
    [
        {"documents": ["a\0b"]},
        {"sources": ["\ud800"]},
        {"documents": [""]},
        {"documents": ["x" * 8_001]},
        {"documents": ["x"] * 1_001},
        {"kinds": ["mail"]},
        {"force": "yes"},
        {"thorough": True},
        [],
        {"documents": "file:///a.md"},
    ],
)
def test_a_body_that_is_no_part_of_a_collection_is_refused(client: Client, body: object) -> None:
    answer = client.post("/v1/collections/handbook/sync", body)
    assert answer.status == 422, answer.content
    assert answer.headers["content-type"] == "application/problem+json"
    assert client.get("/v1/work-requests").json["requests"] == []


def test_there_is_no_request_where_there_is_none(client: Client) -> None:
    for number in ("1", "0", "-1", str(1 << 63), "9" * 40):
        for method, path in (("GET", ""), ("GET", "/events"), ("POST", "/cancel")):
            assert client.request(method, f"/v1/work-requests/{number}{path}").status == 404
    assert client.post("/v1/collections/handbok/sync", {}).status == 404
    assert client.get("/v1/work-requests?cursor=abc").status == 422
    assert client.get("/v1/work-requests?state=asleep").status == 422


def test_events_tell_each_change_within_a_second_until_the_end(client: Client, stages: Stages) -> None:
    number = stages.knowledge.request_work("handbook", actor="test").id
    path = f"/v1/work-requests/{number}/events"
    with opened(client, path) as answer, stages.connection() as connection:
        assert answer.headers["content-type"].startswith("text/event-stream")
        told = events(answer)
        first = next(told)
        assert (first.name, first.data["id"], first.id) == ("waiting", number, 1)

        def after(change: float) -> Event:
            event = next(told)
            assert time.monotonic() - change < 1
            return event

        begun = time.monotonic()
        claim_work(connection, worker="host:1")
        assert after(begun).name == "running"
        for done in (1, 2):
            begun = time.monotonic()
            record_progress(connection, number, "documents", done, 2, 0)
            event = after(begun)
            assert (event.data["stage"], event.data["done"], event.id) == ("documents", done, 2 + done)
        begun = time.monotonic()
        end_work(connection, number, "failed", "the disk is full")
        last = after(begun)
        assert (last.name, last.data["error"], last.id) == ("failed", "the disk is full", 5)
        assert list(told) == []
    with opened(client, path, Last_Event_ID="3") as answer:
        assert [event.id for event in events(answer)] == [5]
    for known, status in (("5", 204), ("6", 204), ("nonsense", 200), ("9" * 30, 200)):
        assert client.get(path, Last_Event_ID=known).status == status


def test_one_connection_listens_for_all_and_none_when_they_have_gone(client: Client, stages: Stages) -> None:
    """A client that goes away, and one that reads nothing, leave nothing behind."""
    numbers = [stages.knowledge.request_work("handbook", actor="test").id for _ in range(2)]
    with stages.connection() as connection:

        def listeners() -> int:
            row = connection.execute(LISTENERS.encode()).fetchone()
            return int(row[0]) if row else -1

        for number in (*numbers * 5, numbers[0]):
            with opened(client, f"/v1/work-requests/{number}/events") as answer:
                assert next(events(answer)).name == "waiting"
                wait_until(lambda: listeners() == 1, seconds=60, what="one connection listens")
        with opened(client, f"/v1/work-requests/{numbers[0]}/events") as slow:
            claim_work(connection, worker="host:1", number=numbers[0])
            for done in range(200):
                record_progress(connection, numbers[0], "documents", done, 200, 0)
            end_work(connection, numbers[0], "succeeded")
            told = list(events(slow))
            assert (told[-1].name, told[-1].data["done"]) == ("succeeded", 199)
        wait_until(lambda: listeners() == 0, seconds=60, what="nobody listens")


def test_a_stream_goes_on_where_the_listening_session_was_ended(client: Client, stages: Stages) -> None:
    number = stages.knowledge.request_work("handbook", actor="test").id
    with opened(client, f"/v1/work-requests/{number}/events") as answer, stages.connection() as connection:
        told = events(answer)
        assert next(told).name == "waiting"
        for attempt in range(2):
            wait_until(lambda: connection.execute(END_LISTENERS.encode()).rowcount, seconds=60, what="it is ended")
            if attempt == 0:
                claim_work(connection, worker="host:1")
                assert next(told).name == "running"
        end_work(connection, number, "succeeded")
        assert next(told).name == "succeeded"
    assert client.get("/health").status == 200


def test_a_silent_stream_shows_that_it_lives(client: Client, stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_events, "SECONDS_BETWEEN_SIGNS", 0.3)
    number = stages.knowledge.request_work("handbook", actor="test").id
    with opened(client, f"/v1/work-requests/{number}/events") as answer:
        lines = [next(iter(answer)) for _ in range(7)]
    assert lines[:1] == [b"event: waiting\n"]
    assert lines[-3:] == [b": ping\n", b"\n", b": ping\n"]


def test_a_stream_ends_where_its_key_is_revoked_and_where_its_collection_goes(stages: Stages) -> None:
    stages.configure(CONFIGURATION)
    number = stages.knowledge.request_work("handbook", actor="test").id
    text = key(stages, "reads")
    path = f"/v1/work-requests/{number}/events"
    with serving(stages.knowledge, requires_key=True) as server, stages.connection() as connection:
        client = Client(server.port, text)
        with opened(client, path) as answer:
            told = events(answer)
            assert next(told).name == "waiting"
            revoke_key(connection, "reads", actor="test")
            claim_work(connection, worker="host:1")
            assert list(told) == []
        client = Client(server.port, key(stages, "reads again"))
        with opened(client, path) as answer:
            told = events(answer)
            assert next(told).name == "running"
            connection.execute("DELETE FROM collection WHERE name = 'handbook'")
            assert list(told) == []


def test_a_server_that_is_told_to_end_ends_its_streams(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    stages.configure(CONFIGURATION)
    number = stages.knowledge.request_work("handbook", actor="test").id
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(stages.root.parent / "home"))
    with start("serve", "--port", "0", "--no-work") as process:
        assert process.stderr is not None
        client = Client(int(process.stderr.readline().split()[2].rpartition(":")[2]))
        with opened(client, f"/v1/work-requests/{number}/events") as answer:
            told = events(answer)
            assert next(told).name == "waiting"
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert list(told) == []
            assert time.monotonic() - begun < 4
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
