"""Asset checks of a collection, run after every ingest."""

import warnings
from collections.abc import Iterator

import dagster as dg

from assets import evaluation_check
from orchestration.partitions import collection_partitions
from resources.knowledge import Knowledge
from resources.selection import RunSelection
from sourcebook.admin.checks import CheckOutcome, run_checks

_SEVERITY = {"no_failed_items": dg.AssetCheckSeverity.WARN}


def _spec(name: str, asset: str, description: str, *, blocking: bool = False) -> dg.AssetCheckSpec:
    with warnings.catch_warnings():
        # Checks by partition are a preview in this Dagster, which warns at every import.
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return dg.AssetCheckSpec(
            name, asset=asset, partitions_def=collection_partitions, description=description, blocking=blocking
        )


_SPECS = [
    _spec("no_failed_items", "documents", "No file, document or source is in a failed state."),
    _spec(
        "every_character_is_in_a_passage",
        "chunks",
        "The passages of every document together hold all of its content.",
    ),
    _spec(
        "every_live_document_is_searchable",
        "search_index",
        "Every document that has content is published in its newest version, with all its chunks.",
        blocking=True,
    ),
    _spec(
        "no_orphan_or_null_vector",
        "search_index",
        "Every entry belongs to a chunk of a live document and has a non-zero vector of the right dimension.",
        blocking=True,
    ),
    _spec(evaluation_check.NAME, "search_index", evaluation_check.DESCRIPTION),
]


@dg.multi_asset_check(name="collection_checks", specs=_SPECS, can_subset=True)
def collection_checks(
    context: dg.AssetCheckExecutionContext, knowledge: Knowledge, selection: RunSelection
) -> Iterator[dg.AssetCheckResult]:
    """Run the selected checks of the collection, over what changed since the last ones or, at night, over everything.

    A run of checks alone, without an asset, looks at everything, too.
    """
    collection = context.partition_key
    selected = {key.name: key.asset_key for key in context.selected_asset_check_keys}
    is_alone = context.run.asset_selection is not None and not context.run.asset_selection
    with knowledge.database.connection() as connection:
        for outcome in run_checks(connection, collection, thorough=selection.thorough or is_alone):
            if outcome.name in selected:
                yield _result(outcome, selected[outcome.name])
    if evaluation_check.NAME in selected:
        yield evaluation_check.check_search(context, knowledge)


def _result(outcome: CheckOutcome, asset_key: dg.AssetKey) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=not outcome.violations,
        asset_key=asset_key,
        check_name=outcome.name,
        severity=_SEVERITY.get(outcome.name, dg.AssetCheckSeverity.ERROR),
        metadata={"violations": outcome.violations, "examples": list(outcome.examples)},
    )
