"""Asset checks in SQL: what must hold of a collection after every run."""

import dagster as dg

from resources.collection_partitions import collection_partitions
from resources.knowledge import Knowledge
from sourcebook.checks import CheckOutcome, run_checks

_SEVERITY = {"no_failed_items": dg.AssetCheckSeverity.WARN}
_SPECS = [
    dg.AssetCheckSpec(
        "no_failed_items",
        asset="documents",
        partitions_def=collection_partitions,
        description="No file, document or source is in a failed state.",
    ),
    dg.AssetCheckSpec(
        "every_live_document_is_searchable",
        asset="search_index",
        partitions_def=collection_partitions,
        description="Every document that has content is published in its newest version, with all its chunks.",
    ),
    dg.AssetCheckSpec(
        "no_orphan_or_null_vector",
        asset="search_index",
        partitions_def=collection_partitions,
        description="Every entry belongs to a live document's chunk and has a finite vector of the right length.",
    ),
]


@dg.multi_asset_check(name="collection_checks", specs=_SPECS)
def collection_checks(context: dg.AssetCheckExecutionContext, knowledge: Knowledge) -> list[dg.AssetCheckResult]:
    """Run every check over the collection at once."""
    collection = context.partition_key
    assets = {spec.name: spec.asset_key for spec in _SPECS}
    with knowledge.database.connection() as connection:
        return [_result(outcome, assets[outcome.name]) for outcome in run_checks(connection, collection)]


def _result(outcome: CheckOutcome, asset_key: dg.AssetKey) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=not outcome.violations,
        asset_key=asset_key,
        check_name=outcome.name,
        severity=_SEVERITY.get(outcome.name, dg.AssetCheckSeverity.ERROR),
        metadata={"violations": outcome.violations, "examples": list(outcome.examples)},
    )
