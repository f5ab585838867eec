"""The asset check `search_is_good_enough`: the published index against judged questions."""

import time
from typing import TYPE_CHECKING, Any

import dagster as dg

from resources.knowledge import Knowledge
from resources.partition import collection_of
from sourcebook.errors import SourcebookError
from sourcebook.indexing.evaluation_settings import configured_evaluation
from sourcebook.model.counted import counted
from sourcebook.model.progress import Progress, announce

if TYPE_CHECKING:
    from sourcebook.evaluation import Evaluation
    from sourcebook.evaluation.configured import EvaluationOutcome

NAME = "search_is_good_enough"
DESCRIPTION = "Search reaches the floors of the collection's settings `evaluation` on its judged questions."
_KEY = dg.AssetCheckKey(dg.AssetKey("search_index"), NAME)
_SECONDS_BETWEEN_LINES = 5.0
"""Seconds between two lines of progress in the log of a run."""


def check_search(context: dg.AssetCheckExecutionContext, knowledge: Knowledge) -> dg.AssetCheckResult:
    """Evaluate the collection by its settings; an unchanged collection keeps the result of its last evaluation."""
    collection = collection_of(context.partition_key)
    with knowledge.database.connection() as connection:
        settings = configured_evaluation(connection, collection)
        if settings.queries is None or settings.qrels is None:
            return _result(passed=True, description="No questions are configured: see `evaluation` in sourcebook.yaml.")
        from sourcebook.evaluation import configured, evaluate, missed_floors
        from sourcebook.knowledge_base import KnowledgeBase

        try:
            version = configured.evaluation_version(connection, collection, settings)
        except SourcebookError as error:
            return _result(passed=False, description=str(error))
        before = configured.last_outcome(connection, collection)
    if before is not None and before.version == version:
        context.log.info(f"{NAME}: neither the index nor the questions have changed")
        return _outcome_result(before)
    floors = configured.configured_floors(settings)
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
        return _result(passed=False, description=str(error))
    missed = missed_floors(found.modes[0], floors)
    outcome = configured.EvaluationOutcome(
        version, not missed, "; ".join(map(str, missed)) or _reached(len(floors)), _figures(found)
    )
    with knowledge.database.connection() as connection:
        configured.record_outcome(connection, collection, outcome)
    return _outcome_result(outcome)


def _reached(floors: int) -> str:
    return "No floor is set." if not floors else f"Reached: {counted(floors, 'floor')}."


def _result(
    *,
    passed: bool,
    description: str | None,
    metadata: dict[str, Any] | None = None,
) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=passed,
        asset_key=_KEY.asset_key,
        check_name=NAME,
        severity=dg.AssetCheckSeverity.ERROR,
        description=description,
        metadata=metadata,
    )


def _outcome_result(outcome: "EvaluationOutcome") -> dg.AssetCheckResult:
    metadata = {**outcome.figures, "figures": dg.MetadataValue.md(outcome.figures["figures"])}
    return _result(passed=outcome.passed, description=outcome.description, metadata=metadata)


def _figures(found: "Evaluation") -> dict[str, Any]:
    """Return the measures as JSON values, and a table of them as Markdown under `figures`."""
    scores = found.modes[0]
    rows = [f"| {measure} | {estimate} |" for measure, estimate in scores.estimates.items()]
    return {
        **{measure: float(estimate.mean) for measure, estimate in scores.estimates.items()},
        "mode": scores.mode,
        "queries": found.queries,
        "ms_per_query": scores.ms_per_query,
        "figures": "\n".join(["| measure | mean (95 % interval) |", "|---|---|", *rows]),
        **({"notes": list(found.notes)} if found.notes else {}),
    }


def _reporter(context: dg.AssetCheckExecutionContext) -> Progress:
    started = last = time.perf_counter()

    def report(done: int, total: int, failed: int = 0) -> None:
        nonlocal last
        now = time.perf_counter()
        announce("evaluation", collection_of(context.partition_key), done, total, failed)
        if now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            context.log.info(f"{done:,} of {total:,} queries, {done / (now - started):,.1f} a second")

    return report
