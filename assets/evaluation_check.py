"""The asset check `search_is_good_enough`: the published index against judged questions."""

import time
from typing import Any

import dagster as dg
from dagster._core.event_api import PartitionKeyFilter  # no public API returns the history of a check
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus

from resources.knowledge import Knowledge
from sourcebook.cli.output import counted
from sourcebook.errors import SourcebookError
from sourcebook.evaluation import Evaluation, evaluate, missed_floors
from sourcebook.evaluation.configured import configured_evaluation, configured_floors, evaluation_version
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.progress import Progress, announce

NAME = "search_is_good_enough"
DESCRIPTION = "Search reaches the floors of the collection's settings `evaluation` on its judged questions."
_KEY = dg.AssetCheckKey(dg.AssetKey("search_index"), NAME)
_VERSION = "evaluated_version"
_SECONDS_BETWEEN_LINES = 5.0
"""Seconds between two lines of progress in the log of a run."""
_SEVERITIES = {"error": dg.AssetCheckSeverity.ERROR, "warn": dg.AssetCheckSeverity.WARN}


def check_search(context: dg.AssetCheckExecutionContext, knowledge: Knowledge) -> dg.AssetCheckResult:
    """Evaluate the collection by its settings; an unchanged collection keeps the result of its last evaluation."""
    collection = context.partition_key
    with knowledge.database.connection() as connection:
        settings = configured_evaluation(connection, collection)
        if settings.queries is None or settings.qrels is None:
            return _result(passed=True, description="No questions are configured: see `evaluation` in sourcebook.yaml.")
        severity = _SEVERITIES[settings.severity]
        try:
            version = evaluation_version(connection, collection, settings)
        except SourcebookError as error:
            return _result(passed=False, severity=severity, description=str(error))
    before = _last_time(context)
    if before is not None and before.metadata.get(_VERSION) == dg.MetadataValue.text(version):
        context.log.info(f"{NAME}: neither the index nor the questions have changed")
        return _result(
            passed=before.passed, severity=severity, description=before.description, metadata=dict(before.metadata)
        )
    floors = configured_floors(settings)
    try:
        with KnowledgeBase.connect(home=knowledge.home) as base:
            found = evaluate(
                base,
                collection,
                settings.queries,
                settings.qrels,
                modes=[settings.mode],
                progress=_reporter(context),
            )
    except SourcebookError as error:
        return _result(passed=False, severity=severity, description=str(error))
    missed = missed_floors(found.modes[0], floors)
    return _result(
        passed=not missed,
        severity=severity,
        description="; ".join(map(str, missed)) or _reached(len(floors)),
        metadata=_metadata(found) | {_VERSION: dg.MetadataValue.text(version)},
    )


def _reached(floors: int) -> str:
    return "No floor is set." if not floors else f"Reached: {counted(floors, 'floor')}."


def _result(
    *,
    passed: bool,
    description: str | None,
    severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR,
    metadata: dict[str, Any] | None = None,
) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=passed,
        asset_key=_KEY.asset_key,
        check_name=NAME,
        severity=severity,
        description=description,
        metadata=metadata,
    )


def _last_time(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckEvaluation | None:
    """Return the last finished evaluation of the collection, or None."""
    finished = {AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED}
    records = context.instance.event_log_storage.get_asset_check_execution_history(
        _KEY, limit=1, status=finished, partition_filter=PartitionKeyFilter(key=context.partition_key)
    )
    if not records or records[0].event is None or records[0].event.dagster_event is None:
        return None
    evaluation: dg.AssetCheckEvaluation = records[0].event.dagster_event.asset_check_evaluation_data
    return evaluation


def _metadata(found: Evaluation) -> dict[str, Any]:
    scores = found.modes[0]
    rows = [f"| {measure} | {estimate} |" for measure, estimate in scores.estimates.items()]
    means: dict[str, Any] = {
        measure: dg.MetadataValue.float(estimate.mean) for measure, estimate in scores.estimates.items()
    }
    return {
        **means,
        "mode": scores.mode,
        "queries": found.queries,
        "ms_per_query": scores.ms_per_query,
        "figures": dg.MetadataValue.md("\n".join(["| measure | mean (95 % interval) |", "|---|---|", *rows])),
        **({"notes": list(found.notes)} if found.notes else {}),
    }


def _reporter(context: dg.AssetCheckExecutionContext) -> Progress:
    started = last = time.perf_counter()

    def report(done: int, total: int, failed: int = 0) -> None:
        nonlocal last
        now = time.perf_counter()
        announce("evaluation", context.partition_key, done, total, failed)
        if now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            context.log.info(f"{done:,} of {total:,} queries, {done / (now - started):,.1f} a second")

    return report
