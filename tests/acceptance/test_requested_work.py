"""Requested work under `sourcebook up`: small requests in the watch, others as runs of Dagster, and cancelled ones."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sourcebook import KnowledgeBase
from sourcebook.contract.work import WorkRequest
from tests.acceptance.processes import free_port
from tests.acceptance.workplace import COMMAND, Workplace, temporary_workplace
from tests.waiting import wait_until

SECONDS = 240.0
"""Seconds for a step on a busy machine."""


@pytest.fixture(scope="module")
def served(exported_model: Path) -> Iterator[tuple[Workplace, KnowledgeBase]]:
    """A workplace under `up` with one ingested file, and its knowledge base."""
    with temporary_workplace() as workplace:
        workplace.take_model(exported_model)
        workplace.configure(handbook="docs")
        workplace.write("docs/a.md", "# Flags\n\nThe flag is green.\n")
        workplace.ingest()
        log = workplace.folder / "up.txt"
        with (
            log.open("wb") as told,
            subprocess.Popen(
                [COMMAND, "up", "--port", str(free_port()), "--metrics-port", "0", "--json"],
                cwd=workplace.folder,
                env=workplace.environment,
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=told,
            ) as process,
            KnowledgeBase.connect(home=workplace.home) as knowledge,
        ):
            try:
                watched = workplace.home / "dagster" / "watch.log"
                wait_until(
                    lambda: watched.exists() and "watching " in watched.read_text(), seconds=SECONDS, what="it is up"
                )
                yield workplace, knowledge
            finally:
                process.terminate()
                process.wait(SECONDS)


def ended(knowledge: KnowledgeBase, number: int) -> WorkRequest:
    """Wait for the end of a request."""

    def found() -> WorkRequest | None:
        request = knowledge.work(number)
        return request if request is not None and request.has_ended else None

    request = wait_until(found, seconds=SECONDS, what=f"request {number} has ended")
    assert request is not None
    return request


def test_small_requests_are_done_at_once_and_others_by_runs(served: tuple[Workplace, KnowledgeBase]) -> None:
    workplace, knowledge = served
    ended(knowledge, knowledge.request_work("handbook").id)  # the first one waits for the watch to begin
    begun = time.monotonic()
    small = ended(knowledge, knowledge.request_work("handbook").id)
    print(f"\na small request took {time.monotonic() - begun:.1f} s")
    assert (small.state, small.worker != "dagster") == ("succeeded", True)

    forced = ended(knowledge, knowledge.request_work("handbook", force=True).id)
    assert (forced.state, forced.worker, forced.stage is not None) == ("succeeded", "dagster", True)
    assert forced.run_id is not None
    assert [each["id"] for each in workplace.json("requests", str(forced.id))["requests"]] == [forced.id]


def test_a_cancelled_request_that_waits_for_its_run_ends_with_it(served: tuple[Workplace, KnowledgeBase]) -> None:
    _, knowledge = served
    number = knowledge.request_work("handbook", force=True).id

    def is_claimed() -> bool:
        request = knowledge.work(number)
        return request is not None and request.state == "running"

    wait_until(is_claimed, seconds=SECONDS, what="it is claimed")
    knowledge.cancel_work(number)
    cancelled = ended(knowledge, number)
    assert cancelled.state == "cancelled"
    # Its run is there before that of a later request.
    assert ended(knowledge, knowledge.request_work("handbook", force=True).id).state == "succeeded"
    with psycopg.connect(knowledge.database.dagster_url(), autocommit=True) as connection:
        states = (
            "SELECT status FROM runs JOIN run_tags USING (run_id) WHERE key = 'sourcebook/work_request' AND value = %s"
        )

        def found() -> set[str]:
            return {status for (status,) in connection.execute(states, (str(number),))}

        wait_until(lambda: found() <= {"CANCELED", "FAILURE", "SUCCESS"}, seconds=SECONDS, what="its run has ended")
        assert found() == {"CANCELED"}


def test_of_two_workers_at_once_one_is_killed_and_everything_is_done_once(
    workplace: Workplace, exported_model: Path
) -> None:
    workplace.take_model(exported_model)
    workplace.configure(handbook="docs", diary="diary")
    for number in range(40):
        workplace.write(f"docs/{number}.md", f"# Flag {number}\n\nThe flag {number} is green.\n")
        workplace.write(f"diary/{number}.md", f"# Day {number}\n\nThe wind of the day {number} is calm.\n")
    asked = [each["id"] for each in workplace.json("ingest", "--ask")["requests"]]
    assert len(asked) == 2
    with KnowledgeBase.connect(home=workplace.home) as knowledge:

        def worked_on() -> dict[str, str]:
            """Return the requests that are running, by the process id of their worker."""
            running = knowledge.work_requests(states=["running"])
            return {(each.worker or "").rpartition(":")[2]: str(each.id) for each in running}

        with (
            workplace.start("ingest", "--requests") as first,
            workplace.start("ingest", "--requests", "--json") as other,
        ):
            wait_until(lambda: len(worked_on()) == 2, seconds=SECONDS, what="both have claimed one")
            assert set(worked_on()) == {str(first.pid), str(other.pid)}
            lost = int(worked_on()[str(first.pid)])
            first.kill()
            out, err = other.communicate(timeout=SECONDS)
        assert other.returncode == 0, err
        done = {each["id"] for each in json.loads(out)["requests"]}
        if lost not in done:  # the other one ended before the first was seen to be dead
            assert workplace.json("ingest", "--requests")["requests"][0]["id"] == lost
        found = {number: knowledge.work(number) for number in asked}
    assert {number: (each.state, each.attempts) for number, each in found.items() if each is not None} == {
        number: ("succeeded", 2 if number == lost else 1) for number in asked
    }
    assert len(workplace.json("documents", "--limit", "100")["documents"]) == 80
