"""A mistake in the configuration: the last good one goes on working, and the mistake is shown with its place."""

import json
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from typer.testing import CliRunner

from assets.sources import configuration_is_valid
from orchestration.commands import mistake_beside_last_good
from orchestration.instance import STORAGE_VARIABLE, open_instance
from resources.knowledge import Knowledge
from resources.partition import COLLECTIONS
from sensors.changed_files import changed_files_sensor
from sensors.collections import collections_sensor
from sourcebook.cli.context import CommandContext
from sourcebook.cli.errors import WRONG_USE
from sourcebook.command.app import app
from sourcebook.database.database import Database
from sourcebook.errors import ConfigurationError

GOOD = "collections:\n  handbook:\n    files:\n      - root: ./docs\n"
MISTAKE = "collections:\n  handbook:\n    files:\n      - rot: ./docs\n"
PLACE = "sourcebook.yaml, line 4, column 9: collections.handbook.files[0].rot: there is no such key"


@pytest.fixture
def configuration(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration of one collection with one file, which the environment names."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tides.md").write_text("# Tides\n\nThe tide gauge stands in the harbour.\n")
    file = tmp_path / "sourcebook.yaml"
    file.write_text(GOOD)
    monkeypatch.setenv("SOURCEBOOK_CONFIG", str(file))
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    return file


@pytest.fixture
def instance(
    dagster_tables: str, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dg.DagsterInstance]:
    """Dagster's instance, whose tables lie in this test's database."""
    monkeypatch.setenv(STORAGE_VARIABLE, database.url)
    monkeypatch.setenv("DAGSTER_HOME", "")
    instance = open_instance(tmp_path / "home", database)
    yield instance
    instance.dispose()


def tick(sensor: dg.SensorDefinition, instance: dg.DagsterInstance, cursor: str | None = None) -> dg.SensorResult:
    """Evaluate a sensor, and add and remove the partitions that it asks for."""
    with dg.build_sensor_context(instance, cursor=cursor, resources={"knowledge": Knowledge()}) as context:
        result = sensor(context)
    assert isinstance(result, dg.SensorResult)
    for request in result.dynamic_partitions_requests or ():
        if isinstance(request, dg.AddDynamicPartitionsRequest):
            instance.add_dynamic_partitions(COLLECTIONS, list(request.partition_keys))
        else:
            instance.delete_dynamic_partition(COLLECTIONS, request.partition_keys[0])
    return result


def evaluation(result: dg.SensorResult) -> dg.AssetCheckEvaluation | None:
    """Return the evaluation of the configuration's check that a tick reported."""
    (event,) = result.asset_events or (None,)
    assert event is None or isinstance(event, dg.AssetCheckEvaluation)
    return event


def test_a_mistake_stops_no_collection(configuration: Path, instance: dg.DagsterInstance) -> None:
    """After a mistake the partitions stay, and a changed file is still ingested."""
    tick(collections_sensor, instance)
    configuration.write_text(MISTAKE)
    tick(collections_sensor, instance)
    assert list(instance.get_dynamic_partitions(COLLECTIONS)) == ["handbook"]
    first = tick(changed_files_sensor, instance)
    second = tick(changed_files_sensor, instance, first.cursor)
    assert [request.partition_key for request in second.run_requests or ()] == ["handbook"]


def test_an_asset_of_a_run_reads_the_last_good_configuration(
    configuration: Path, database: Database, instance: dg.DagsterInstance
) -> None:
    """A run that a mistake precedes lists its files and logs the mistake as a warning."""
    from orchestration.definitions import defs

    tick(collections_sensor, instance)
    configuration.write_text(MISTAKE)
    job = defs.resolve_job_def("ingest").get_subset(asset_selection={dg.AssetKey("raw_files")})
    done = job.execute_in_process(instance=instance, partition_key="handbook", raise_on_error=False)
    assert done.success
    (materialization,) = done.asset_materializations_for_node("raw_files")
    assert materialization.metadata["added"].value == 1
    warnings = [log.user_message for log in instance.all_logs(done.run_id) if log.level == 30]
    assert any(PLACE in warning for warning in warnings), warnings


def test_the_sensor_names_line_and_column_and_the_check_fails_once(
    configuration: Path, instance: dg.DagsterInstance
) -> None:
    """The mistake is in the skip reason of every tick; the check is evaluated on a change only."""
    good = tick(collections_sensor, instance)
    outcome = evaluation(good)
    assert outcome is not None
    assert outcome.passed
    configuration.write_text(MISTAKE)
    wrong = tick(collections_sensor, instance, good.cursor)
    assert PLACE in str(wrong.skip_reason)
    outcome = evaluation(wrong)
    assert outcome is not None
    assert not outcome.passed
    assert PLACE in str(outcome.description)
    again = tick(collections_sensor, instance, wrong.cursor)
    assert PLACE in str(again.skip_reason)
    assert evaluation(again) is None
    configuration.write_text(GOOD)
    mended = evaluation(tick(collections_sensor, instance, again.cursor))
    assert mended is not None
    assert mended.passed


def test_a_person_may_evaluate_the_check(configuration: Path, instance: dg.DagsterInstance) -> None:
    """The check of the configuration can be run by hand, too."""
    from orchestration.definitions import defs

    configuration.write_text(MISTAKE)
    job = dg.define_asset_job("check", selection=dg.AssetSelection.checks(configuration_is_valid))
    resolved = dg.Definitions.merge(defs, dg.Definitions(jobs=[job])).resolve_job_def("check")
    done = resolved.execute_in_process(instance=instance, raise_on_error=False)
    (outcome,) = done.get_asset_check_evaluations()
    assert not outcome.passed
    assert PLACE in str(outcome.description)


def test_status_shows_the_mistake_and_ingest_refuses_it(configuration: Path, instance: dg.DagsterInstance) -> None:
    """`status` shows the last good state and the mistake, as text and as JSON; `ingest` ends with its exit code."""
    tick(collections_sensor, instance)
    configuration.write_text(MISTAKE)
    shown = CliRunner().invoke(app, ["status"])
    assert shown.exit_code == 0
    assert PLACE in shown.stdout.replace("\n", "")
    assert "handbook" in shown.stdout
    told = json.loads(CliRunner().invoke(app, ["status", "--json"]).stdout)
    assert PLACE in told["configuration_error"]
    assert [collection["name"] for collection in told["collections"]] == ["handbook"]
    refused = CliRunner().invoke(app, ["ingest"])
    assert refused.exit_code == WRONG_USE


def test_a_good_configuration_is_no_mistake(configuration: Path, instance: dg.DagsterInstance) -> None:
    tick(collections_sensor, instance)
    assert json.loads(CliRunner().invoke(app, ["status", "--json"]).stdout)["configuration_error"] is None


def test_up_starts_with_the_last_good_configuration(configuration: Path, instance: dg.DagsterInstance) -> None:
    """A restart with a mistake in the file serves the known collections; without any, the file is refused."""
    context = CommandContext(configuration)
    assert mistake_beside_last_good(context) is None
    configuration.write_text(MISTAKE)
    with pytest.raises(ConfigurationError, match="there is no such key"):
        mistake_beside_last_good(CommandContext(configuration))
    configuration.write_text(GOOD)
    tick(collections_sensor, instance)
    configuration.write_text(MISTAKE)
    assert PLACE in str(mistake_beside_last_good(CommandContext(configuration)))
