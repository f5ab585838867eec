"""`sourcebook_definitions`: the whole pipeline as a part of somebody else's code location."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import dagster as dg
from pydantic import ValidationError

from assets.checks import collection_checks
from assets.sources import SOURCES, configuration_is_valid, record_assets, sources_are_fresh
from orchestration.embedding.names import Names
from orchestration.embedding.renamed import (
    renamed_asset,
    renamed_checks,
    renamed_op,
    renamed_schedule,
    renamed_sensor,
)
from orchestration.jobs import ASSETS, ingest
from orchestration.retention import delete_removed_rows, nightly_retention
from orchestration.schedules import nightly, weekly
from resources.embedder import embedder_resource
from resources.knowledge import Knowledge
from resources.knowledge_base import knowledge_base_resource
from resources.progress import ProgressLog
from resources.selection import RunSelection
from resources.source_events import CONFIGURATION
from sensors.changed_files import changed_files_sensor
from sensors.changed_records import changed_records_sensor
from sensors.collections import collections_sensor
from sensors.due_pages import due_pages_sensor
from sensors.moved_repositories import moved_repositories_sensor
from sensors.requested_work import requested_work_sensor
from sourcebook.config.explain import problems_without_values
from sourcebook.config.loading import Configuration, ConfigurationFile, configuration_path, configured_time_zone
from sourcebook.errors import ConfigurationError

PREFIX: Final = "sourcebook"
SENSORS: Final = (
    collections_sensor,
    changed_files_sensor,
    changed_records_sensor,
    due_pages_sensor,
    moved_repositories_sensor,
    requested_work_sensor,
)
"""The sensors of the code location."""


def sourcebook_definitions(
    config: str | os.PathLike[str] | Mapping[str, Any] | Configuration | None = None,
    *,
    prefix: str = PREFIX,
    group: str | None = None,
) -> dg.Definitions:
    """Return assets, checks, jobs, schedules, sensors and resources of a knowledge base, for `Definitions.merge`.

    Everything has the prefix in its name: the asset `sourcebook/search_index`, the job `sourcebook_ingest`, the
    resource `sourcebook_knowledge_base`, the partitions `sourcebook_collection`. No executor and no IO manager is set.
    Runs and events of the instance are never deleted.

    Args:
        config: path of a `sourcebook.yaml`, read again by every run; or its content, with paths from the current
            folder. None: the file that SOURCEBOOK_CONFIG names, or the one in the current folder.
        prefix: letters, digits and `_`.
        group: one group for all assets; by default `sourcebook_sources`, `sourcebook_documents`, `sourcebook_index`.

    Raises:
        ConfigurationError: the content has a mistake, or a name has other characters.
    """
    knowledge, time_zone = _knowledge(config)
    records = record_assets(knowledge.configuration)
    names = Names(
        prefix, group, frozenset([*(spec.key for spec in (*SOURCES, *records)), *(asset.key for asset in ASSETS)])
    )
    assets = [renamed_asset(asset, names) for asset in ASSETS]
    job = dg.define_asset_job(
        names.name(ingest.name),
        selection=dg.AssetSelection.assets(*assets),
        executor_def=dg.in_process_executor,
        tags=ingest.tags,
        description=ingest.description,
    )
    upkeep, nightly_upkeep = _upkeep(names, time_zone)
    plain = {
        "knowledge": knowledge,
        "selection": RunSelection(),
        "progress": ProgressLog(),
        "embedder": embedder_resource(),
        "knowledge_base": knowledge_base_resource(knowledge),
    }
    return dg.Definitions(
        assets=[*(names.spec(spec) for spec in SOURCES), *(_record_asset(spec, names) for spec in records), *assets],
        asset_checks=[
            renamed_checks(checks, names) for checks in (collection_checks, configuration_is_valid, sources_are_fresh)
        ],
        jobs=[job, upkeep],
        schedules=[*(renamed_schedule(each, names, job, time_zone) for each in (nightly, weekly)), nightly_upkeep],
        sensors=[renamed_sensor(sensor, names, job.name) for sensor in SENSORS],
        resources=names.resources(plain),
    )


def _record_asset(spec: dg.AssetSpec, names: Names) -> dg.AssetSpec:
    """Return the tables and programs under the prefix; `depends_on` names assets as the team does."""
    deps = [names.key(dep.asset_key) if dep.asset_key == CONFIGURATION else dep for dep in spec.deps]
    return names.spec(spec).replace_attributes(deps=deps)


def given_configuration(content: Mapping[str, Any], path: Path, *, folder: Path | None = None) -> Configuration:
    """Return the configuration that a program or a component has given.

    Args:
        content: what a `sourcebook.yaml` has.
        path: where such a file would be: the state folder is beside it.
        folder: folder that relative paths begin at; by default that of the path.

    Raises:
        ConfigurationError: the content has a mistake.
    """
    try:
        file = ConfigurationFile.model_validate(dict(content), context={"folder": folder or path.parent})
    except ValidationError as error:
        raise ConfigurationError("; ".join(problems_without_values(error, ConfigurationFile))) from None
    return Configuration(path=path, collections=file.collections, time_zone=file.time_zone, groups=file.groups)


def _knowledge(config: str | os.PathLike[str] | Mapping[str, Any] | Configuration | None) -> tuple[Knowledge, str]:
    """Return the resource for a configuration, and the time zone of schedules."""
    if config is None or isinstance(config, str | os.PathLike):
        path = configuration_path(None if config is None else Path(config))
        zone = configured_time_zone(path)
        return Knowledge(config_path=str(path), time_zone=zone), zone
    found = config if isinstance(config, Configuration) else given_configuration(config, configuration_path())

    class Given(Knowledge):
        """The database and a configuration that stands in no file."""

        given: ClassVar[Configuration | None] = found

    return Given(time_zone=found.time_zone), found.time_zone


def _upkeep(names: Names, time_zone: str) -> tuple[dg.JobDefinition, dg.ScheduleDefinition]:
    """Return the job that deletes rows removed long ago, and its schedule; Dagster's runs and events stay."""
    op = renamed_op(delete_removed_rows, names)

    @dg.job(name=names.name("retention"), executor_def=dg.in_process_executor, description=op.description)
    def upkeep() -> None:
        op()

    def evaluate(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        found = _plain(nightly_retention)(context)
        if isinstance(found, dg.SkipReason):
            return found
        ages = found.run_config["ops"][delete_removed_rows.name]["config"]
        configuration = {"ops": {op.name: {"config": {**ages, "run_days": 0}}}}
        return dg.RunRequest(run_key=found.run_key, run_config=configuration)

    schedule = dg.schedule(
        name=names.name(nightly_retention.name),
        job=upkeep,
        cron_schedule=nightly_retention.cron_schedule,
        execution_timezone=time_zone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Deletes rows of the knowledge base that were removed long ago, at 03:30 of the time zone.",
    )(evaluate)
    return upkeep, schedule


def _plain(definition: Any) -> Any:
    return definition.__wrapped__


__all__ = ["PREFIX", "given_configuration", "sourcebook_definitions"]
