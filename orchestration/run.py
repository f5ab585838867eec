"""Execution of one run of the job `ingest` in this process."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg

from assets.materialization import TOTALS
from orchestration.definitions import defs
from orchestration.instance import open_instance, without_storage_errors
from orchestration.partitions import COLLECTIONS
from orchestration.recorder import Recording
from resources.embedder import embedder_resource
from resources.finished import hand_over
from resources.knowledge import Knowledge
from resources.selection import RunSelection
from sensors.abandoned_runs import IN_PROCESS, active_runs
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import SourcebookError
from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection

if TYPE_CHECKING:
    from pathlib import Path

    from sourcebook.embedding.embedder_pool import EmbedderPool

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Run configuration that keeps Dagster's log off the terminal."""


class RunError(SourcebookError):
    """A run failed; the message has the reason and the id of the run."""


class RecordedRuns:
    """Runs whose work another process does: the assets report what is done, and the checks are made here."""

    def __init__(self) -> None:
        self._opened: tuple[dg.DagsterInstance, Database] | None = None

    def open(self, recording: Recording) -> tuple[dg.DagsterInstance, Database]:
        """Open the database and Dagster's storage, once for all runs."""
        if self._opened is None:
            database = Database(
                DatabaseLocation(recording.home, url=recording.database_url, dagster_url=recording.dagster_url)
            )
            self._opened = open_instance(recording.home, database), database
        return self._opened

    def execute(self, recording: Recording, reports: Mapping[str, StageReport]) -> str:
        """Record a run and return its id.

        Args:
            recording: the run; the process that did the work holds the lock of its collection.
            reports: reports of the stages, by asset.

        Raises:
            RunError: the run failed.
        """
        hand_over(reports)
        result = execute_run(
            *self.open(recording), recording.collection, recording.assets, configuration=recording.configuration
        )
        return str(result.run_id)


def execute_run(
    instance: dg.DagsterInstance,
    database: Database,
    collection: str,
    assets: Sequence[str],
    *,
    configuration: "Path",
    selection: Selection = EVERYTHING,
    embedders: "EmbedderPool | None" = None,
) -> dg.ExecuteInProcessResult:
    """Execute the job for one collection.

    Args:
        instance: the Dagster instance.
        database: the database of the knowledge base.
        collection: the partition; the caller holds its lock.
        assets: names of the assets.
        configuration: path of the configuration file.
        selection: part of the collection.
        embedders: pool that outlives the run.

    Raises:
        RunError: the run failed.
    """
    active_runs(instance, database, collection, holding_lock=True)  # records killed runs as failed
    instance.add_dynamic_partitions(COLLECTIONS, [collection])
    job = defs.resolve_job_def("ingest").get_subset(asset_selection={dg.AssetKey(asset) for asset in assets})
    with without_storage_errors():
        result = job.execute_in_process(
            instance=instance,
            partition_key=collection,
            raise_on_error=False,
            run_config=_QUIET,
            tags={IN_PROCESS: "ingest", "dagster/max_retries": "0"},
            resources={
                "embedder": embedder_resource(embedders),
                "knowledge": Knowledge(config_path=str(configuration), lock=False),
                "selection": RunSelection(
                    documents=list(selection.documents),
                    sources=list(selection.sources),
                    only_failed=selection.only_failed,
                    force=selection.force,
                    thorough=selection.thorough,
                ),
            },
        )
    if not result.success:
        raise RunError(f"{_why(result)} (run {result.run_id})")
    return result


def counts_of(result: dg.ExecuteInProcessResult, asset: str) -> dict[str, Any] | None:
    """Return the counts in the materialization of an asset; None where the run has none."""
    for materialization in result.asset_materializations_for_node(asset):
        return {
            name: value.value
            for name, value in materialization.metadata.items()
            if isinstance(value.value, int | float) and name not in TOTALS
        }
    return None


def _why(result: dg.ExecuteInProcessResult) -> str:
    """Return the innermost error of a failed run as one sentence."""
    for event in result.all_events:
        error = getattr(event.event_specific_data, "error", None)
        if event.is_failure and error is not None:
            while error.cause is not None and not (error.cls_name or "").startswith("Database"):
                error = error.cause
            return str(error.message).strip().rpartition("Error: ")[2] or str(error.message).strip()
    return "the run failed; see the run in the UI"
