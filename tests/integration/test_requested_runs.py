"""Requested work done by Dagster: the sensor claims it, the run records its progress, and every end is told."""

import shutil
import threading
from pathlib import Path
from uuid import uuid4

import dagster as dg
import pytest

from orchestration.definitions import defs
from orchestration.instance import STORAGE_VARIABLE
from orchestration.watch import FolderWatch
from resources.requested_run import WORK_REQUEST
from sensors.requested_work import requested_work_sensor
from sourcebook.admin.claimed_work import DAGSTER
from sourcebook.admin.work_requests import claim_work
from sourcebook.contract.work import WorkRequest
from tests.exported import link_model
from tests.integration.stages import Stages
from tests.integration.test_configuration_mistakes import tick
from tests.waiting import wait_until

TITLES = "SELECT title FROM document WHERE removed_at IS NULL ORDER BY title"
AGE = "UPDATE work_request SET asked_at = asked_at - interval '4 seconds' RETURNING 1"


@pytest.fixture
def handbook(
    stages: Stages, instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exported_model: Path
) -> Stages:
    """One collection over a folder with two documents that were never ingested."""
    link_model(exported_model, tmp_path / "home")
    monkeypatch.setenv(STORAGE_VARIABLE, stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SOURCEBOOK_CONFIG", str(tmp_path / "sourcebook.yaml"))
    stages.write("near.md", "# Near\n\nThe light is green.\n")
    stages.write("far.md", "# Far\n\nThe light is white.\n")
    stages.configure()
    return stages


def asked(stages: Stages, **arguments: object) -> int:
    """Ask for work some seconds ago, so that the watch has had its time."""
    request = stages.knowledge.request_work("handbook", actor="test", **arguments)  # type: ignore[arg-type]
    stages.rows(AGE)
    return request.id


def now(stages: Stages, number: int) -> WorkRequest:
    found = stages.knowledge.work(number)
    assert found is not None
    return found


def test_a_request_becomes_one_run_that_records_its_progress_and_its_end(
    handbook: Stages, instance: dg.DagsterInstance
) -> None:
    fresh = handbook.knowledge.request_work("handbook", actor="test").id
    assert not tick(requested_work_sensor, instance).run_requests  # the watch has three seconds
    handbook.knowledge.cancel_work(fresh, actor="test")
    number = asked(handbook, documents=[handbook.uri("near.md")])
    (wanted,) = tick(requested_work_sensor, instance).run_requests or ()
    assert (wanted.partition_key, wanted.tags[WORK_REQUEST]) == ("handbook", str(number))
    assert (now(handbook, number).state, now(handbook, number).worker) == ("running", DAGSTER)
    assert not tick(requested_work_sensor, instance).run_requests

    done = defs.resolve_job_def("ingest").execute_in_process(
        instance=instance, partition_key="handbook", tags=wanted.tags, run_config=wanted.run_config
    )
    assert done.success
    ended = now(handbook, number)
    assert (ended.state, ended.run_id, ended.failed) == ("succeeded", done.run_id, 0)
    assert ended.stage is not None
    assert [row["title"] for row in handbook.rows(TITLES)] == ["Near"]


def status_of_run(wanted: dg.RunRequest, instance: dg.DagsterInstance) -> dg.DagsterRunStatus:
    """Do the run that the sensor asks for, and return how it ended."""
    done = defs.resolve_job_def("ingest").execute_in_process(
        instance=instance,
        partition_key="handbook",
        tags=wanted.tags,
        run_config=wanted.run_config,
        raise_on_error=False,
    )
    found = instance.get_run_by_id(done.run_id)
    assert found is not None
    return found.status


def test_a_cancelled_request_stops_its_run(handbook: Stages, instance: dg.DagsterInstance) -> None:
    """It stops after its batch."""
    number = asked(handbook)
    (wanted,) = tick(requested_work_sensor, instance).run_requests or ()
    handbook.knowledge.cancel_work(number, actor="test")
    assert status_of_run(wanted, instance) == dg.DagsterRunStatus.CANCELED
    tick(requested_work_sensor, instance)
    assert now(handbook, number).state == "cancelled"


def test_a_run_that_comes_after_its_request_was_cancelled_does_nothing(
    handbook: Stages, instance: dg.DagsterInstance
) -> None:
    """Dagster's daemon may take longer to create a run than a cancelled request waits for it.

    One whose process was ended before it could say that it was cancelled is no failure.
    """
    number = asked(handbook)
    (wanted,) = tick(requested_work_sensor, instance).run_requests or ()
    handbook.knowledge.cancel_work(number, actor="test")
    handbook.rows("UPDATE work_request SET started_at = now() - interval '30 seconds' RETURNING 1")
    tick(requested_work_sensor, instance)
    assert now(handbook, number).state == "cancelled"

    made = dg.DagsterRun("ingest", tags=wanted.tags, status=dg.DagsterRunStatus.STARTING)
    late = instance.add_run(made)
    by_hand = instance.add_run(made._replace(run_id=str(uuid4()), root_run_id=late.run_id, parent_run_id=late.run_id))
    killed = instance.add_run(made._replace(run_id=str(uuid4()), status=dg.DagsterRunStatus.FAILURE))
    tick(requested_work_sensor, instance)
    found = {run.run_id: run.status for run in instance.get_runs()}
    assert found == {
        late.run_id: dg.DagsterRunStatus.CANCELING,
        by_hand.run_id: dg.DagsterRunStatus.STARTING,
        killed.run_id: dg.DagsterRunStatus.CANCELED,
    }

    assert status_of_run(wanted, instance) == dg.DagsterRunStatus.CANCELED
    assert now(handbook, number).state == "cancelled"
    assert not handbook.rows(TITLES)


def test_a_run_that_dies_and_one_that_never_comes_end_or_repeat_their_request(
    handbook: Stages, instance: dg.DagsterInstance
) -> None:
    number = asked(handbook)
    (wanted,) = tick(requested_work_sensor, instance).run_requests or ()
    for attempt, retries in ((1, "1"), (1, "0"), (2, "0"), (3, "0")):  # Dagster starts the first one again
        tags = {**wanted.tags, "dagster/max_retries": retries}
        run = instance.add_run(dg.DagsterRun("ingest", tags=tags, status=dg.DagsterRunStatus.STARTED))
        assert not tick(requested_work_sensor, instance).run_requests
        assert (now(handbook, number).state, now(handbook, number).attempts) == ("running", attempt)
        instance.report_run_failed(run)
        (wanted,) = tick(requested_work_sensor, instance).run_requests or (wanted,)
        assert now(handbook, number).state == ("failed" if attempt == 3 else "running")
    assert now(handbook, number).error == "its process was killed"

    number = asked(handbook)
    for attempt in (1, 2, 3):
        assert tick(requested_work_sensor, instance).run_requests
        assert now(handbook, number).attempts == attempt
        handbook.rows("UPDATE work_request SET started_at = now() - interval '3 minutes' RETURNING 1")
    tick(requested_work_sensor, instance)
    assert now(handbook, number).error == "Dagster started no run for it, 3 times: its daemon may be down"


def test_a_request_for_no_source_of_the_collection_succeeds_without_a_run(
    handbook: Stages, instance: dg.DagsterInstance
) -> None:
    number = asked(handbook, kinds=["site"])
    assert not tick(requested_work_sensor, instance).run_requests
    assert now(handbook, number).state == "succeeded"


def test_the_watch_does_small_requests_and_leaves_others_to_the_sensor(handbook: Stages, tmp_path: Path) -> None:
    for number in range(130):
        handbook.write(f"many/{number}.md", f"# Many {number}\n\nThe light is red.\n")
    large = handbook.knowledge.request_work("handbook", actor="test").id
    forced = handbook.knowledge.request_work("handbook", force=True, actor="test").id
    stop = threading.Event()
    watch = threading.Thread(target=FolderWatch(tmp_path / "sourcebook.yaml", handbook.database, stop).run, daemon=True)
    watch.start()
    try:
        small = handbook.knowledge.request_work("handbook", kinds=["site"], actor="test").id
        wait_until(lambda: now(handbook, small).state == "succeeded", seconds=120, what="it is done")
        assert {now(handbook, each).state for each in (large, forced)} == {"waiting"}
        shutil.rmtree(handbook.root / "many")
        for number in (large, forced):
            handbook.knowledge.cancel_work(number, actor="test")
        small = handbook.knowledge.request_work("handbook", actor="test").id
        wait_until(lambda: now(handbook, small).state == "succeeded", seconds=120, what="it is done")
    finally:
        stop.set()
        watch.join(60)
    assert [row["title"] for row in handbook.rows(TITLES)] == ["Far", "Near"]
    with handbook.connection() as connection:
        assert claim_work(connection, worker="host:1") is None
