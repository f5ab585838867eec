"""Sourcebook in a team's own code location: its names, its runs and its partitions beside theirs, and what it finds."""

import importlib.util
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import dagster as dg
import psycopg
import pytest

from orchestration.embedding.definitions import sourcebook_definitions
from orchestration.instance import STORAGE_VARIABLE
from resources.knowledge import Knowledge
from resources.partition import PARTITION
from tests.checkout import CHECKOUT
from tests.exported import link_model
from tests.integration.stages import Stages

PARTITIONS = "sourcebook_collection"
NIGHT = datetime(2026, 3, 29, 1, tzinfo=UTC)


@pytest.fixture
def handbook(
    stages: Stages, instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exported_model: Path
) -> Stages:
    """A configured collection over two documents that were never ingested, and the environment that names it."""
    link_model(exported_model, tmp_path / "home")
    monkeypatch.setenv(STORAGE_VARIABLE, stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SOURCEBOOK_CONFIG", str(tmp_path / "sourcebook.yaml"))
    monkeypatch.chdir(tmp_path)
    stages.write("surge.md", "# Surge\n\nThe storm surge reached the upper mark.\n")
    stages.write("visits.md", "# Visits\n\nThe station has open days for visitors in June.\n")
    (tmp_path / "sourcebook.yaml").write_text("collections: {handbook: {files: [{root: ./docs}]}}\n")
    return stages


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("weekly_digest", CHECKOUT / "examples" / "weekly_digest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tick(defs: dg.Definitions, sensor: str, instance: dg.DagsterInstance) -> dg.SensorResult:
    """Evaluate a sensor of the team's code location, and make the partitions that it asks for."""
    with dg.build_sensor_context(instance, resources={"sourcebook_knowledge": Knowledge()}) as context:
        result = defs.resolve_sensor_def(sensor)(context)
    assert isinstance(result, dg.SensorResult)
    for request in result.dynamic_partitions_requests or ():
        assert isinstance(request, dg.AddDynamicPartitionsRequest), "the partitions of the team are not deleted"
        instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
    return result


def test_a_digest_of_the_team_reads_what_the_pipeline_beside_it_has_made(
    handbook: Stages, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    """The example: sensors request runs of the job in the team's location, and its asset searches; runs of others stay.

    A run of the team whose process is unknown, an old one, partitions of the same kind with another name: nothing of
    that is Sourcebook's.
    """
    defs = example().defs
    instance.add_dynamic_partitions("collection", ["theirs"])
    started = instance.add_run(dg.DagsterRun("theirs", status=dg.DagsterRunStatus.STARTED))
    same_key = instance.add_run(
        dg.DagsterRun("theirs", status=dg.DagsterRunStatus.NOT_STARTED, tags={PARTITION: "handbook"})
    )
    with psycopg.connect(handbook.database.url) as connection:  # so old that a run of Sourcebook's would be given up
        connection.execute("UPDATE runs SET create_timestamp = now() - interval '1 day', start_time = 1")

    first = tick(defs, "sourcebook_collections", instance)
    assert [(event.asset_key.to_user_string()) for event in first.asset_events] == ["sourcebook/configuration"]
    assert instance.get_dynamic_partitions(PARTITIONS) == ["handbook"]
    assert sorted(instance.get_dynamic_partitions("collection")) == ["handbook", "theirs"]

    tick(defs, "sourcebook_due_pages", instance)
    changed = tick(defs, "sourcebook_changed_files", instance)
    for run in (started, same_key):
        left = instance.get_run_by_id(run.run_id)
        assert left is not None
        assert left.status == run.status
    assert not changed.run_requests, "files must rest for some seconds"

    schedule = defs.resolve_schedule_def("sourcebook_nightly")
    with dg.build_schedule_context(
        instance, scheduled_execution_time=NIGHT, resources={"sourcebook_knowledge": Knowledge()}
    ) as context:
        (wanted,) = schedule(context)
    assert {key.path[0] for key in wanted.asset_selection} == {"sourcebook"}
    job = defs.resolve_job_def("sourcebook_ingest")
    done = job.execute_in_process(
        instance=instance, partition_key=wanted.partition_key, tags=wanted.tags, run_config=wanted.run_config
    )
    assert done.success
    assert handbook.search("storm surge")[0].title == "Surge"
    checks = {event.check_name for event in done.get_asset_check_evaluations()}
    assert "every_live_document_is_searchable" in checks

    def digest() -> str:
        made = defs.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey("weekly_digest")]
        )
        assert made.success
        return (tmp_path / "digests" / "digest.md").read_text()

    assert "- [Surge](file://" in digest()
    assert "[Surge]" not in digest(), "the second digest has what is new since the first"

    upkeep = defs.resolve_schedule_def("sourcebook_nightly_retention")
    with dg.build_schedule_context(instance, scheduled_execution_time=NIGHT) as context:
        night = upkeep(context)
    assert isinstance(night, dg.RunRequest)
    kept = {run.run_id for run in instance.get_runs()}
    assert defs.resolve_job_def("sourcebook_retention").execute_in_process(
        instance=instance, run_config=night.run_config
    ).success  # fmt: skip
    assert kept < {run.run_id for run in instance.get_runs()}, "the runs of an instance of others are theirs"


def test_an_abandoned_run_of_its_own_is_ended(handbook: Stages, instance: dg.DagsterInstance) -> None:
    """The view of the instance shows runs of the job, and those by which a person materializes assets."""
    defs = sourcebook_definitions(handbook.root.parent / "sourcebook.yaml")
    tick(defs, "sourcebook_collections", instance)
    runs = [
        instance.add_run(dg.DagsterRun("sourcebook_ingest", tags={PARTITION: "handbook"})),
        instance.add_run(
            dg.DagsterRun(
                "__ASSET_JOB",
                tags={PARTITION: "handbook"},
                asset_selection=frozenset({dg.AssetKey(["sourcebook", "documents"])}),
            )
        ),
    ]
    with psycopg.connect(handbook.database.url) as connection:
        connection.execute("UPDATE runs SET create_timestamp = now() - interval '1 day'")
    tick(defs, "sourcebook_changed_files", instance)
    for run in runs:
        ended = instance.get_run_by_id(run.run_id)
        assert ended is not None
        assert ended.status == dg.DagsterRunStatus.FAILURE
