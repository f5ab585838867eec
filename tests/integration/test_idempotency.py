"""Requests with an `Idempotency-Key`: one that is sent again changes nothing twice."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sourcebook.admin.idempotent_answers import delete_old_answers
from tests.integration.http_server import Answer, Client, serving
from tests.integration.stages import Stages
from tests.integration.test_server import key
from tests.waiting import wait_until

JUDGMENT = {"query": "How long do the batteries last?", "document": "handbook/power.md"}
URL = "/v1/judgments"


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("handbook/power.md", "# Power\n\nThe batteries last fourteen months.")
    stages.configure("collections:\n  handbook: {files: [{root: ./docs/handbook}]}\n")
    stages.run()
    return stages


def send(client: Client, name: str, body: Any = JUDGMENT) -> Answer:
    return client.post(URL, body, Idempotency_Key=name)


def events(base: Stages) -> int:
    with base.connection() as connection:
        return len(connection.execute("SELECT FROM audit_event WHERE action = 'judgment.record'").fetchall())


def test_a_repetition_is_answered_and_changes_nothing(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        first, again = send(client, "one"), send(client, "one")
        assert (first.status, again.status, again.content) == (204, 204, b"")
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"
        assert events(base) == 1
        assert send(client, "two").status == 204
        assert events(base) == 2
        gone = "/v1/queries"
        bodies = [client.request("DELETE", gone, headers={"Idempotency-Key": "three"}) for _ in range(2)]
        assert [each.json for each in bodies] == [{"searches": 0}] * 2
        assert bodies[1].headers["content-type"] == bodies[0].headers["content-type"]
        assert bodies[1].headers["idempotency-replayed"] == "true"


def test_a_key_belongs_to_one_request_of_one_caller(base: Stages) -> None:
    first, second = key(base, "first", "write"), key(base, "second", "write")
    with serving(base.knowledge, requires_key=True) as anyone:
        client = Client(anyone.port, first)
        assert send(client, "one").status == 204
        other = send(client, "one", {**JUDGMENT, "grade": 2})
        assert (other.status, other.headers["content-type"]) == (422, "application/problem+json")
        elsewhere = client.request("DELETE", f"{URL}?query=a&document=b", headers={"Idempotency-Key": "one"})
        assert elsewhere.status == 422
        assert send(Client(anyone.port, second), "one").headers.get("idempotency-replayed") is None
        assert send(anyone, "one").status == 401
        with base.connection() as connection:
            connection.execute("UPDATE access_key SET revoked_at = now() WHERE name = 'first'")
        assert send(client, "one").status == 401
        renamed = key(base, "first", "write")  # the name is given again
        assert "idempotency-replayed" not in send(Client(anyone.port, renamed), "one").headers


def test_the_key_of_a_request_that_failed_can_be_used_again(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        assert send(client, "one", {**JUDGMENT, "document": "nothing.md"}).status == 404
        assert send(client, "one", b"{").status == 400
        with base.connection() as connection:
            connection.execute("ALTER TABLE sourcebook.judgment RENAME TO judgment_away")
        try:
            assert send(client, "one").status >= 500
        finally:
            with base.connection() as connection:
                connection.execute("ALTER TABLE sourcebook.judgment_away RENAME TO judgment")
        assert send(client, "one").status == 204
        for name in ("", "x" * 201, "two words", "\xe4"):
            assert send(client, name).status == 400


def test_a_repetition_of_a_running_request_waits_its_turn(base: Stages) -> None:
    with (
        serving(base.knowledge, requires_key=False) as client,
        base.connection() as blocking,
        ThreadPoolExecutor(1) as threads,
    ):
        with blocking.transaction():
            blocking.execute("LOCK TABLE judgment IN ACCESS EXCLUSIVE MODE")
            running = threads.submit(send, client, "one")
            with base.connection() as looking:
                wait_until(
                    lambda: looking.execute("SELECT true FROM idempotent_answer").fetchone(), what="the key is kept"
                )
            busy = send(client, "one")
            assert (busy.status, busy.headers["retry-after"]) == (409, "1")
        assert running.result().status == 204
        assert send(client, "one").headers["idempotency-replayed"] == "true"
        assert events(base) == 1


def test_the_same_request_at_once_runs_once(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: send(client, "one"), range(24)))
        assert {each.status for each in answers} <= {204, 409}
        assert events(base) == 1


def test_a_key_is_free_a_minute_after_its_server_died_and_forgotten_after_a_day(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        assert send(client, "one").status == 204
        with base.connection() as connection:
            connection.execute("UPDATE idempotent_answer SET status = NULL")
            assert send(client, "one").status == 409
            connection.execute("UPDATE idempotent_answer SET asked_at = now() - interval '61 s'")
            assert send(client, "one").status == 204
            connection.execute("UPDATE idempotent_answer SET asked_at = now() - interval '25 h'")
            assert delete_old_answers(connection) == 1


def test_searches_and_new_keys_are_kept_nowhere(base: Stages) -> None:
    with serving(base.knowledge, requires_key=False) as client:
        for path, body in (("/v1/search", {"query": "batteries"}), ("/v1/keys", {"name": "website"})):
            assert client.post(path, body, Idempotency_Key="one").status in {200, 201}
        assert client.post("/v1/keys", {"name": "website"}, Idempotency_Key="one").status == 400
        too_large = client.post(URL, b"x" * 1_000_001, Idempotency_Key="one")
        assert too_large.status == 413
        with base.connection() as connection:
            assert connection.execute("SELECT FROM idempotent_answer").fetchall() == []
