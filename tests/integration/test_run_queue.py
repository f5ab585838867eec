"""Dagster's own queue over the instance file: runs that use what is scarce wait there, and keep no place of others."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import dagster as dg
import pytest
from dagster_shared.serdes import deserialize_value

from orchestration.instance import SETTINGS, STORAGE_VARIABLE
from orchestration.schedules import nightly, weekly
from resources.knowledge import Knowledge
from resources.partition import PARTITION
from resources.run_uses import PREFIX, Use, queued_run_tags
from sensors.abandoned_runs import IN_PROCESS
from sensors.changed_files import changed_files_sensor
from sensors.requested_work import requested_work_sensor
from sourcebook.database.database import Database
from tests.checkout import CHECKOUT
from tests.integration.stages import Stages
from tests.integration.test_configuration_mistakes import tick
from tests.waiting import wait_until

_LAUNCHER = """
run_launcher:
  module: tests.integration.noting_launcher
  class: NotingLauncher
"""
_ORIGIN = """
{"__class__": "ExternalPipelineOrigin", "pipeline_name": "ingest", "external_repository_origin": {
  "__class__": "ExternalRepositoryOrigin", "repository_name": "__repository__", "repository_location_origin": {
    "__class__": "RegisteredRepositoryLocationOrigin", "location_name": "sourcebook"}}}
"""
"""The job that a queued run is of, as Dagster keeps it."""
_DAEMON = """\
import sys
from importlib.metadata import entry_points
(script,) = entry_points(group="console_scripts", name="dagster-daemon")
sys.argv[:] = [script.name, "run", "--empty-workspace"]
sys.exit(script.load()())
"""


@pytest.fixture
def queue(
    dagster_tables: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dg.DagsterInstance]:
    """The instance of `sourcebook up` with places for three runs, and Dagster's daemon."""
    monkeypatch.setenv(STORAGE_VARIABLE, database.url)
    settings = SETTINGS.read_text().replace("dequeue_interval_seconds: 2", "dequeue_interval_seconds: 1")
    (tmp_path / "dagster.yaml").write_text(settings + _LAUNCHER)
    environment = {**os.environ, "DAGSTER_HOME": str(tmp_path), "PYTHONPATH": str(CHECKOUT)}
    with (
        dg.DagsterInstance.from_config(str(tmp_path)) as instance,
        (tmp_path / "daemon.log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-c", _DAEMON], cwd=CHECKOUT, env=environment, stdout=log, stderr=log
        ) as daemon,
    ):
        try:
            yield instance
        finally:
            daemon.kill()


def queued(instance: dg.DagsterInstance, partition: str, *uses: Use) -> str:
    """Put a run into the queue, as a sensor has it requested."""
    tags = {PARTITION: partition, **queued_run_tags(uses)}
    origin: Any = deserialize_value(_ORIGIN)
    run = dg.DagsterRun("ingest", tags=tags, status=dg.DagsterRunStatus.QUEUED, remote_job_origin=origin)
    return instance.add_run(run).run_id


def test_runs_that_transcribe_wait_in_the_queue_and_let_others_pass(queue: dg.DagsterInstance) -> None:
    """Never two at once where the limit is 1, not even beside a command that transcribes; others go on."""

    def of(status: dg.DagsterRunStatus) -> set[str]:
        return {run.run_id for run in queue.get_runs(dg.RunsFilter(statuses=[status]))}

    def started(*wanted: str) -> None:
        wait_until(lambda: set(wanted) <= of(dg.DagsterRunStatus.STARTED), seconds=60, what="the queue starts the runs")

    def end(number: str) -> None:
        run = queue.get_run_by_id(number)
        assert run is not None
        queue.report_run_canceled(run)

    command = queue.add_run(
        dg.DagsterRun(
            "ingest",
            tags={PARTITION: "talks", IN_PROCESS: "ingest", **queued_run_tags({Use.SPEECH})},
            status=dg.DagsterRunStatus.STARTED,
        )
    ).run_id
    first, second = (queued(queue, name, Use.SPEECH, Use.MODEL) for name in ("lectures", "calls"))
    texts = [queued(queue, name, Use.PARSERS, Use.MODEL) for name in ("handbook", "wiki")]
    started(*texts)
    assert of(dg.DagsterRunStatus.QUEUED) == {first, second}

    end(command)
    end(texts[0])
    started(first)
    last = queued(queue, "news", Use.CRAWL)
    end(texts[1])
    started(first, last)
    assert of(dg.DagsterRunStatus.QUEUED) == {second}

    end(first)
    started(second)


def uses(request: dg.RunRequest) -> set[str]:
    """Return what a requested run is said to use; it has the asset of the pool where it transcribes."""
    found = {tag.removeprefix(PREFIX) for tag in request.tags if tag.startswith(PREFIX)}
    assert request.asset_selection is not None
    assert (dg.AssetKey("transcripts") in request.asset_selection) == (Use.SPEECH in found)
    return found


def test_a_requested_run_says_what_it_uses(
    stages: Stages, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text needs no place in the pool of speech, nor does a night without recordings; a new recording does."""
    monkeypatch.setenv("SOURCEBOOK_HOME", str(stages.root.parent / "home"))
    monkeypatch.setenv("SOURCEBOOK_CONFIG", str(stages.root.parent / "sourcebook.yaml"))
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", stages.database.url)
    stages.configure()
    stages.write("tides.md", "# Tides\n\nThe gauge stands in the harbour.\n")

    def changed() -> dg.RunRequest:
        first = tick(changed_files_sensor, instance)
        (request,) = tick(changed_files_sensor, instance, first.cursor).run_requests or ()
        return request

    def asked() -> dg.RunRequest:
        with stages.connection() as connection:
            connection.execute("UPDATE work_request SET state = 'cancelled', ended_at = now()")
        stages.knowledge.request_work("handbook", actor="test")
        stages.rows("UPDATE work_request SET asked_at = asked_at - interval '4 seconds' RETURNING 1")
        (request,) = tick(requested_work_sensor, instance).run_requests or ()
        return request

    def tonight(schedule: dg.ScheduleDefinition) -> dg.RunRequest:
        with dg.build_schedule_context(
            instance,
            scheduled_execution_time=datetime(2026, 11, 23, 2, tzinfo=UTC),
            resources={"knowledge": Knowledge()},
        ) as context:
            (request,) = cast("list[dg.RunRequest]", schedule(context))
        return request

    everything = {Use.PARSERS, Use.MODEL}
    assert uses(changed()) == uses(asked()) == uses(tonight(nightly)) == everything
    stages.write("talk.mp3", b"no sound")
    assert uses(changed()) == uses(asked()) == everything | {Use.SPEECH}
    stages.raw_files()
    assert uses(changed()) == uses(tonight(weekly)) == everything | {Use.SPEECH}
    stages.transcripts()
    assert uses(changed()) == everything, "a recording that failed waits for its time"
    stages.configure(
        "collections: {handbook: {files: [{root: ./docs}], embedding: {provider: openai, "
        "base_url: 'http://127.0.0.1:1/v1', model: m, dimensions: 4}}}"
    )
    assert uses(changed()) == {Use.PARSERS}, "the model of a provider takes nothing of the run's"
