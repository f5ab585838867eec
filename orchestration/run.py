"""Execution of one run of the job `ingest` in this process."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg
import psycopg

from assets.materialization import TOTALS
from orchestration.definitions import defs
from orchestration.instance import without_storage_errors
from resources.embedder import embedder_resource
from resources.finished import hand_over
from resources.knowledge import Knowledge
from resources.partition import COLLECTIONS, extent_tags
from resources.run_uses import PLAN, Use, use_tags
from resources.selection import RunSelection
from sensors.abandoned_runs import IN_PROCESS, RECORDER, active_runs
from sensors.run_failures import show_as_cancelled
from sourcebook.admin.claimed_work import WorkStoppedError
from sourcebook.admin.finished_runs import FinishedRun
from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseConnectionLostError, DatabaseUnavailableError, SourcebookError
from sourcebook.model.selection import EVERYTHING, Selection

if TYPE_CHECKING:
    from pathlib import Path

    from sourcebook.embedding.embedder_pool import EmbedderPool

_CONNECT_SECONDS = 10
_INTERRUPTS = {KeyboardInterrupt.__name__, "DagsterExecutionInterruptedError"}
"""Names of the errors with which Dagster ends the step that Ctrl-C reached."""
_LOST = {DatabaseConnectionLostError.__name__, DatabaseUnavailableError.__name__}
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Run configuration that keeps Dagster's log off the terminal."""


class RunError(SourcebookError):
    """A run failed; the message has the reason and the id of the run.

    Args:
        message: the sentence.
        lost_database: whether the database was out of reach, so that the run can succeed when that is back.
    """

    def __init__(self, message: str, *, lost_database: bool = False) -> None:
        super().__init__(message)
        self.lost_database = lost_database


def record_run(instance: dg.DagsterInstance, database: Database, run: FinishedRun, *, configuration: "Path") -> None:
    """Record a small change that is done as a run; the assets and checks of the job report what they are handed.

    Where the process that recorded it was killed, the remains of the run are deleted first; they may have been recorded
    as a failed run meanwhile.

    Args:
        instance: the Dagster instance.
        database: the database of the knowledge base; this process holds the recorder's lock.
        run: the finished run.
        configuration: path of the configuration file.

    Raises:
        RunError: the run is recorded as failed.
    """
    active_runs(instance, database, run.partition)  # records killed runs as failed
    before = instance.get_run_by_id(run.run_id)
    if before is not None and before.is_success:
        return
    if before is not None:
        with psycopg.connect(database.dagster_url(), connect_timeout=_CONNECT_SECONDS) as connection:
            connection.execute(queries["forget_check_executions"], {"run_id": run.run_id})
        instance.delete_run(run.run_id)
    hand_over(run)
    plan = run.reports["raw_files"].plan if "raw_files" in run.reports else ""
    _execute(
        instance,
        run.partition,
        tuple(run.reports),
        tags={IN_PROCESS: RECORDER, **({PLAN: plan} if plan else {})},
        resources={"embedder": embedder_resource(), "knowledge": Knowledge(config_path=str(configuration), lock=False)},
        run_id=run.run_id,
    )


def execute_run(
    instance: dg.DagsterInstance,
    database: Database,
    partition: str,
    assets: Sequence[str],
    *,
    configuration: "Path",
    selection: Selection = EVERYTHING,
    embedders: "EmbedderPool | None" = None,
    plan: str = "",
    uses: Collection[Use] = (),
) -> dg.ExecuteInProcessResult:
    """Execute the job for one collection or shard.

    Args:
        instance: the Dagster instance.
        database: the database of the knowledge base.
        partition: the key of the partition; the caller holds its lock.
        assets: names of the assets.
        configuration: path of the configuration file.
        selection: part of the partition.
        embedders: pool that outlives the run.
        plan: text of the run's tag `sourcebook/plan`.
        uses: what the run uses, by which Dagster's queue counts it beside its own runs.

    Raises:
        RunError: the run failed.
    """
    active_runs(instance, database, partition, holding_lock=True)  # records killed runs as failed
    return _execute(
        instance,
        partition,
        assets,
        tags={
            IN_PROCESS: "ingest",
            **({PLAN: plan} if plan else {}),
            **extent_tags(selection),
            **use_tags(uses),
        },
        resources={
            "embedder": embedder_resource(embedders),
            "knowledge": Knowledge(config_path=str(configuration), lock=False),
            "selection": RunSelection(
                documents=list(selection.documents),
                sources=list(selection.sources),
                only_failed=selection.only_failed,
                force=selection.force,
                accept=selection.accept,
                thorough=selection.thorough,
                deep=selection.deep,
                at_rest=selection.at_rest,
            ),
        },
    )


def _execute(
    instance: dg.DagsterInstance,
    partition: str,
    assets: Sequence[str],
    *,
    tags: dict[str, str],
    resources: dict[str, Any],
    run_id: str | None = None,
) -> dg.ExecuteInProcessResult:
    instance.add_dynamic_partitions(COLLECTIONS, [partition])
    job = defs.resolve_job_def("ingest").get_subset(asset_selection={dg.AssetKey(asset) for asset in assets})
    with without_storage_errors():
        result = job.execute_in_process(
            instance=instance,
            partition_key=partition,
            raise_on_error=False,
            run_config=_QUIET,
            tags={**tags, "dagster/max_retries": "0"},
            resources=resources,
            run_id=run_id,
        )
    if not result.success:
        reason, kinds = _why(result)
        if WorkStoppedError.__name__ in kinds:
            show_as_cancelled(instance, result.run_id)
        elif kinds & _INTERRUPTS:
            show_as_cancelled(instance, result.run_id, "The command was interrupted.")
            raise KeyboardInterrupt
        raise RunError(f"{reason} (run {result.run_id})", lost_database=bool(kinds & _LOST))
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


def _why(result: dg.ExecuteInProcessResult) -> tuple[str, set[str]]:
    """Return the innermost error of a failed run as one sentence, and the classes of the errors around it."""
    for event in result.all_events:
        error = getattr(event.event_specific_data, "error", None)
        if event.is_failure and error is not None:
            kinds = {str(error.cls_name)}
            while error.cause is not None and not (error.cls_name or "").startswith("Database"):
                error = error.cause
                kinds.add(str(error.cls_name))
            return str(error.message).strip().rpartition("Error: ")[2] or str(error.message).strip(), kinds
    return "the run failed; see the run in the UI", set()
