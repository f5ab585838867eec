"""Requested work done by processes: claimed by one, cancelled, failed, and taken over from a killed one."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from orchestration.ingest import IngestedCollection, IngestEvents, ingest
from orchestration.instance import STORAGE_VARIABLE
from orchestration.progress_display import ProgressDisplay
from orchestration.requested_work import do_requested_work
from sourcebook.admin.claimed_work import claimed_work, recover_work, selection_of
from sourcebook.admin.work_requests import cancel_work, forget_work
from sourcebook.config.loading import load_configuration
from sourcebook.contract.work import WorkRequest
from sourcebook.database.lock import collection_lock
from sourcebook.errors import ConfigurationError
from sourcebook.model.progress import listening
from sourcebook.model.selection import EVERYTHING, Selection
from tests.checkout import CHECKOUT
from tests.exported import link_model
from tests.integration.stages import Stages
from tests.waiting import wait_until

WORKER = """\
import sys, time
from pathlib import Path
from sourcebook.admin.claimed_work import claimed_work
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation

with Database(DatabaseLocation(Path(sys.argv[2]), sys.argv[1])) as database, claimed_work(database) as work:
    with work.followed():
        print(work.request.id, flush=True)
        time.sleep(600)
"""


@pytest.fixture
def handbook(
    stages: Stages, instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exported_model: Path
) -> Stages:
    """One collection over a folder with a document that was never ingested."""
    link_model(exported_model, tmp_path / "home")
    monkeypatch.setenv(STORAGE_VARIABLE, stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    stages.write("near.md", "# Near\n\nThe light is green.\n")
    stages.configure()
    return stages


def done(stages: Stages, events: IngestEvents | None = None) -> list[WorkRequest]:
    """Do what waits, as `sourcebook ingest --requests` does."""
    results: list[IngestedCollection] = []
    configuration = load_configuration(stages.root.parent / "sourcebook.yaml")
    return list(do_requested_work(configuration, stages.database, events=events or IngestEvents(), done=results.append))


def now(stages: Stages, number: int) -> WorkRequest:
    found = stages.knowledge.work(number)
    assert found is not None
    return found


@contextmanager
def worker(stages: Stages, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that has claimed a request and works on it."""
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, stages.database.url, str(tmp_path / "home")],
        cwd=CHECKOUT, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline().strip().isdigit()
        try:
            yield process
        finally:
            process.kill()


def test_each_request_is_done_with_its_progress_and_its_failed_items(handbook: Stages) -> None:
    handbook.write("broken.pdf", b"%PDF-1.7 broken")
    first = handbook.knowledge.request_work("handbook", actor="test")
    second = handbook.knowledge.request_work("handbook", documents=[handbook.uri("near.md")], actor="test")
    ended = done(handbook)
    assert [(each.id, each.state, each.attempts) for each in ended] == [
        (first.id, "succeeded", 1), (second.id, "succeeded", 1)
    ]  # fmt: skip
    assert (ended[0].failed, ended[0].stage is not None, ended[0].run_id is not None) == (1, True, True)
    assert (ended[1].failed, ended[1].stage, ended[1].run_id) == (0, None, None)  # nothing was to be done
    assert handbook.found("light") == {"near.md"}
    assert done(handbook) == []


def test_a_cancelled_request_stops_after_the_batch_and_its_run_is_shown_as_cancelled(
    handbook: Stages, instance: dg.DagsterInstance
) -> None:
    number = handbook.knowledge.request_work("handbook", actor="test").id

    def cancel(*_: object) -> None:
        handbook.knowledge.cancel_work(number, actor="test")
        time.sleep(1.5)  # the worker looks twice a second

    (ended,) = done(handbook, IngestEvents(started=cancel))
    assert (ended.state, ended.error, ended.cancel_asked) == ("cancelled", None, True)
    (run,) = instance.get_runs()
    assert run.status == dg.DagsterRunStatus.CANCELED
    assert handbook.rows("SELECT * FROM search_entry") == []
    handbook.knowledge.request_work("handbook", actor="test")
    assert [each.state for each in done(handbook)] == ["succeeded"]
    assert handbook.found("light") == {"near.md"}


def test_ctrl_c_ends_an_ingest_as_interrupted_and_its_run_is_shown_as_cancelled(
    handbook: Stages, instance: dg.DagsterInstance, capfd: pytest.CaptureFixture[str]
) -> None:
    """Python raises `KeyboardInterrupt` at any step of the work; the display says that nothing is lost."""

    def press(*_: object) -> None:
        raise KeyboardInterrupt

    configuration = load_configuration(handbook.root.parent / "sourcebook.yaml")
    work = ingest(configuration, handbook.database, collections=[], selection=EVERYTHING, events=IngestEvents())
    with pytest.raises(KeyboardInterrupt), ProgressDisplay(quiet=False), listening(press):
        list(work)
    (run,) = instance.get_runs()
    assert run.status == dg.DagsterRunStatus.CANCELED
    assert "Interrupted. What is done stays" in capfd.readouterr().err
    assert [each.state for each in done(handbook)] == []


def test_a_request_that_waits_for_another_process_can_be_cancelled(handbook: Stages) -> None:
    number = handbook.knowledge.request_work("handbook", actor="test").id

    def cancel(_: str) -> None:
        handbook.knowledge.cancel_work(number, actor="test")

    with collection_lock(handbook.database, "handbook"):
        assert [each.state for each in done(handbook, IngestEvents(waiting=cancel))] == ["cancelled"]


def test_a_request_whose_work_fails_ends_with_the_reason(handbook: Stages) -> None:
    handbook.knowledge.request_work("handbook", actor="test")

    def fail(*_: object) -> None:
        raise ConfigurationError("there is no such model")

    (ended,) = done(handbook, IngestEvents(started=fail))
    assert (ended.state, ended.error) == ("failed", "there is no such model")

    def break_down(*_: object) -> None:
        raise ZeroDivisionError

    handbook.knowledge.request_work("handbook", actor="test")
    (ended,) = done(handbook, IngestEvents(started=break_down))
    assert (ended.state, ended.error) == ("failed", "ZeroDivisionError")


def test_a_worker_that_is_interrupted_gives_its_request_back(handbook: Stages) -> None:
    number = handbook.knowledge.request_work("handbook", actor="test").id

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        done(handbook, IngestEvents(started=interrupt))
    found = now(handbook, number)
    assert (found.state, found.worker, found.attempts) == ("waiting", None, 0)


def test_the_request_of_a_killed_worker_is_taken_by_another_and_fails_after_three(
    handbook: Stages, tmp_path: Path
) -> None:
    """A living worker keeps its request, whoever looks; a killed one loses it within a moment."""
    numbers = [handbook.knowledge.request_work("handbook", force=each, actor="test").id for each in (False, True)]
    with handbook.connection() as connection, worker(handbook, tmp_path) as other:
        for attempt in (1, 2, 3):
            with worker(handbook, tmp_path) as process:
                assert recover_work(connection) == []
                assert now(handbook, numbers[1]).attempts == attempt
                process.kill()
                wait_until(lambda: recover_work(connection) == [numbers[1]], seconds=60, what="it is taken back")
            found = now(handbook, numbers[1])
            assert found.state == ("failed" if attempt == 3 else "waiting")
        assert found.error == "its worker ended 3 times before it was done: its machine may lack memory"
        assert now(handbook, numbers[0]).state == "running"
        cancel_work(connection, numbers[0], actor="test")
        other.kill()
        wait_until(lambda: recover_work(connection) == [numbers[0]], seconds=60, what="it is taken back")
    assert now(handbook, numbers[0]).state == "cancelled"


def test_a_worker_whose_request_was_taken_over_can_no_longer_write_to_it(handbook: Stages) -> None:
    number = handbook.knowledge.request_work("handbook", actor="test").id
    with claimed_work(handbook.database) as work, handbook.connection() as connection:
        assert work is not None
        connection.execute("UPDATE work_request SET state = 'waiting', worker = NULL")
        with claimed_work(handbook.database) as other:
            assert other is not None
            work.end("succeeded")
            assert now(handbook, number).state == "running"
            with work.followed():
                wait_until(lambda: work.is_lost, seconds=60, what="it knows")
            other.end("failed", "no")
    assert (now(handbook, number).state, now(handbook, number).attempts) == ("failed", 2)


def test_kinds_are_the_sources_of_these_kinds(stages: Stages) -> None:
    stages.configure(
        "collections:\n  handbook:\n    files: [{root: ./docs}, {root: ./more}]\n"
        "    sites: [{url: https://example.com/}]\n"
    )
    docs, more = str(stages.root), str(stages.root.parent / "more")

    def part(**arguments: list[str]) -> Selection | None:
        asked = stages.knowledge.request_work("handbook", actor="test", **arguments)  # type: ignore[arg-type]
        with stages.connection() as connection:
            return selection_of(connection, asked)

    assert part() == EVERYTHING
    assert part(kinds=["files"]) == Selection(sources=(docs, more))
    assert part(kinds=["site", "files"], sources=[more]) == Selection(sources=(more,))
    assert part(kinds=["uploads"]) is None
    assert part(kinds=["site"], sources=[docs]) is None


def test_ended_requests_are_forgotten_after_their_time(stages: Stages) -> None:
    stages.configure()
    old, new, waiting = (stages.knowledge.request_work("handbook", actor="test").id for _ in range(3))
    with stages.connection() as connection:
        for number in (old, new):
            cancel_work(connection, number, actor="test")
        connection.execute("UPDATE work_request SET ended_at = now() - interval '91 days' WHERE id = %s", (old,))
        assert forget_work(connection, timedelta(days=90)) == 1
    assert [each.id for each in stages.knowledge.work_requests()] == [waiting, new]
