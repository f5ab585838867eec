"""Work requests: asked for once, claimed once, followed by everybody."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from psycopg import Connection

from sourcebook.admin.audit import audit_events
from sourcebook.admin.claimed_work import recover_work
from sourcebook.admin.work_requests import (
    ask_for_work,
    cancel_work,
    claim_work,
    end_work,
    find_work,
    list_work,
    record_progress,
    waiting_work,
)
from sourcebook.database.database import Database
from sourcebook.errors import QueryError
from tests.integration.stages import Stages


@pytest.fixture
def asked(database: Database) -> Iterator[Connection]:
    """A connection to a database with two collections."""
    with database.connection() as connection:
        for name in ("handbook", "papers"):
            connection.execute("INSERT INTO collection (name, settings) VALUES (%s, '{}')", (name,))
        yield connection


def test_a_request_is_claimed_followed_and_ended(asked: Connection) -> None:
    request = ask_for_work(asked, "handbook", {"documents": ["file:///a.md"], "force": False}, asked_by="key web")
    assert (request.state, request.arguments) == ("waiting", {"documents": ["file:///a.md"]})

    claimed = claim_work(asked, worker="host:1")
    assert claimed is not None
    assert (claimed.id, claimed.state, claimed.worker) == (request.id, "running", "host:1")
    assert claim_work(asked, worker="host:2") is None

    assert record_progress(asked, request.id, "documents", 3, 10, 1) is False
    found = find_work(asked, request.id)
    assert found is not None
    assert (found.stage, found.done, found.total, found.failed) == ("documents", 3, 10, 1)
    assert found.revision > claimed.revision > request.revision

    end_work(asked, request.id, "succeeded")
    found = find_work(asked, request.id)
    assert found is not None
    assert found.has_ended
    assert found.ended_at is not None
    assert record_progress(asked, request.id, "documents", 4, 10, 1) is None


def test_the_same_idempotency_key_is_the_same_request(asked: Connection) -> None:
    first = ask_for_work(asked, "handbook", {"force": True}, asked_by="key web", idempotency_key="k")
    again = ask_for_work(asked, "handbook", {"force": True}, asked_by="key web", idempotency_key="k")
    other = ask_for_work(asked, "handbook", {"force": True}, asked_by="key app", idempotency_key="k")
    assert again.id == first.id != other.id
    with pytest.raises(QueryError, match="used for another request"):
        ask_for_work(asked, "handbook", {"only_failed": True}, asked_by="key web", idempotency_key="k")
    assert [event.action for event in audit_events(asked)] == ["work.sync", "work.sync"]


def test_a_waiting_request_is_cancelled_at_once_and_a_running_one_by_its_worker(asked: Connection) -> None:
    waiting = ask_for_work(asked, "papers", asked_by="key web")
    cancelled = cancel_work(asked, waiting.id, actor="key app")
    assert cancelled is not None
    assert cancelled.state == "cancelled"
    assert claim_work(asked, worker="host:1") is None

    running = ask_for_work(asked, "papers", asked_by="key web")
    claim_work(asked, worker="host:1")
    assert record_progress(asked, running.id, "documents", 0, 2, 0) is False
    stopping = cancel_work(asked, running.id, actor="key app")
    assert stopping is not None
    assert (stopping.state, stopping.cancel_asked) == ("running", True)
    assert record_progress(asked, running.id, "documents", 1, 2, 0) is True
    end_work(asked, running.id, "cancelled")
    over = cancel_work(asked, running.id, actor="key app")
    assert over is not None
    assert over.revision == stopping.revision + 2
    assert cancel_work(asked, running.id + 1, actor="key app") is None


def test_many_workers_claim_each_request_once(asked: Connection, database: Database) -> None:
    wanted = {ask_for_work(asked, "papers", {"sources": [str(each)]}, asked_by="key web").id for each in range(40)}

    def work(number: int) -> list[int]:
        claimed = []
        with database.connection() as connection:
            while (request := claim_work(connection, worker=f"host:{number}")) is not None:
                claimed.append(request.id)
        return claimed

    with ThreadPoolExecutor(6) as threads:
        claims = [number for each in threads.map(work, range(6)) for number in each]
    assert sorted(claims) == sorted(wanted)


def test_requests_that_differ_in_their_documents_alone_are_one_work_with_an_end_for_each(asked: Connection) -> None:
    """300 uploads are one run; what is cancelled ends at once, and a worker that died twice takes each alone."""
    asking: list[dict[str, Any]] = [
        *({"documents": [f"u{number}"], "kinds": ["uploads"]} for number in range(300)),
        {"kinds": ["uploads"]}, {"documents": ["u0"], "force": True}, {"documents": ["u1", "u0"], "kinds": ["uploads"]},
    ]  # fmt: skip
    numbers = [ask_for_work(asked, "papers", each, asked_by="key web").id for each in asking]
    together = [*numbers[:300], numbers[302]]
    assert [each.id for each in waiting_work(asked)] == [numbers[0], numbers[300], numbers[301]]
    claimed = claim_work(asked, worker="host:1", number=numbers[0])
    assert claimed is not None
    assert claimed.id == numbers[0]
    assert claimed.arguments == waiting_arguments(range(300))
    assert states(asked, together) == {"running"}
    assert states(asked, numbers[300:302]) == {"waiting"}

    assert record_progress(asked, claimed.id, "documents", 1, 300, 0) is False
    assert {found.stage for found in map(partial(find_work, asked), together) if found} == {"documents"}
    for number in together[:-1]:
        cancel_work(asked, number, actor="key web")
    assert states(asked, together[:-1]) == {"cancelled"}
    assert record_progress(asked, claimed.id, "documents", 2, 300, 0) is False
    cancel_work(asked, together[-1], actor="key web")
    assert record_progress(asked, claimed.id, "documents", 3, 300, 0) is True
    end_work(asked, claimed.id, "cancelled")
    assert states(asked, together) == {"cancelled"}

    pair = [ask_for_work(asked, "handbook", {"documents": [name]}, asked_by="key web").id for name in "ab"]
    for attempt, size in ((1, 2), (2, 2), (3, 1)):
        claimed = claim_work(asked, worker=f"host:{attempt}", collection="handbook")
        assert claimed is not None
        assert (claimed.attempts, len(claimed.arguments["documents"])) == (attempt, size)
        recover_work(asked)
    assert [find.state for find in map(partial(find_work, asked), pair) if find] == ["failed", "waiting"]


def waiting_arguments(numbers: range) -> dict[str, list[str]]:
    return {"documents": [f"u{number}" for number in numbers], "kinds": ["uploads"]}


def states(connection: Connection, numbers: list[int]) -> set[str]:
    return {found.state for found in map(partial(find_work, connection), numbers) if found}


def test_each_of_several_requests_counts_its_own_failures(stages: Stages) -> None:
    stages.configure()
    stages.write("broken.docx", b"PK\x03\x04 nothing else")
    stages.write("good.md", "# Good\n")
    stages.run()
    with stages.connection() as connection:
        asked = [
            ask_for_work(connection, "handbook", {"documents": [stages.uri(name)]}, asked_by="key web").id
            for name in ("good.md", "broken.docx")
        ]
        claimed = claim_work(connection, worker="host:1")
        assert claimed is not None
        end_work(connection, claimed.id, "succeeded", failed=1, run_id="r")
        ended = [find_work(connection, number) for number in asked]
    assert [(each.state, each.failed, each.run_id) for each in ended if each] == [
        ("succeeded", 0, "r"), ("succeeded", 1, "r")
    ]  # fmt: skip


def test_each_change_tells_its_id_to_those_who_listen(asked: Connection, database: Database) -> None:
    with database.connection() as listener:
        listener.execute("LISTEN sourcebook_work")
        request = ask_for_work(asked, "papers", asked_by="key web")
        claim_work(asked, worker="host:1")
        heard = [note.payload for note in listener.notifies(timeout=5, stop_after=2)]
    assert heard == [str(request.id)] * 2


def test_requests_are_listed_by_collection_and_state_page_by_page(asked: Connection) -> None:
    numbers = [
        ask_for_work(asked, name, {"force": each}, asked_by="key web").id
        for each in (False, True)
        for name in ("papers", "handbook")
    ]
    claim_work(asked, worker="host:1")
    assert [each.id for each in list_work(asked, limit=2)] == numbers[:1:-1]
    assert [each.id for each in list_work(asked, before=numbers[2])] == numbers[1::-1]
    assert [each.id for each in list_work(asked, ["papers"], states=["waiting"])] == [numbers[2]]
    assert list_work(asked, []) == []
    with pytest.raises(QueryError, match="there is no state 'asleep'"):
        list_work(asked, states=["asleep"])


def test_a_request_for_no_collection_or_with_a_bad_key_is_refused(asked: Connection) -> None:
    with pytest.raises(QueryError, match="handbok"):
        ask_for_work(asked, "handbok", asked_by="key web")
    for key in ("", "x" * 201, "a\0b"):
        with pytest.raises(QueryError, match="1 to 200 characters"):
            ask_for_work(asked, "handbook", asked_by="key web", idempotency_key=key)
