"""The keys of the source assets, and the events by which sensors report on them."""

from collections.abc import Mapping

import dagster as dg

CONFIGURATION = dg.AssetKey("configuration")
FOLDERS = dg.AssetKey("source_folders")
RECORDS = dg.AssetKey("source_records")
SITES = dg.AssetKey("source_sites")
VALID = "configuration_is_valid"
"""Name of the check of the configuration."""
FRESH = {FOLDERS: "folders_are_fresh", SITES: "sites_are_fresh"}
"""Names of the checks of freshness by source asset."""


def configuration_evaluation(mistake: str | None) -> dg.AssetCheckEvaluation:
    """Return the outcome of the check of the configuration, for a sensor to report.

    Args:
        mistake: the mistake in the file with line and column, or None.
    """
    return dg.AssetCheckEvaluation(
        asset_key=CONFIGURATION,
        check_name=VALID,
        passed=mistake is None,
        metadata={},
        severity=dg.AssetCheckSeverity.ERROR,
        description=mistake,
    )


def freshness_evaluation(source: dg.AssetKey, overdue: Mapping[str, str]) -> dg.AssetCheckEvaluation:
    """Return the outcome of the check of freshness of all collections' sources, for a sensor to report.

    It has no partition: Dagster stores one evaluation without a run for each partition, and fails on the next.

    Args:
        source: key of the source asset.
        overdue: the sources that are not fresh, by collection.
    """
    return dg.AssetCheckEvaluation(
        asset_key=source,
        check_name=FRESH[source],
        passed=not overdue,
        metadata={},
        severity=dg.AssetCheckSeverity.WARN,
        description=describe_by_collection(overdue),
    )


def describe_by_collection(overdue: Mapping[str, str]) -> str | None:
    """Return the sources that are not fresh as one text; None where all are."""
    return "; ".join(f"{collection}: {text}" for collection, text in sorted(overdue.items())) or None


def observation(source: dg.AssetKey, collection: str, reading: str, counts: Mapping[str, int]) -> dg.AssetObservation:
    """Return the observation that the sources of a collection have changed.

    Args:
        source: key of the source asset.
        collection: the partition.
        reading: fingerprint of the changes, the data version of the source.
        counts: numbers of differing items by name.
    """
    return dg.AssetObservation(
        source, partition=collection, metadata=dict(counts), tags={"dagster/data_version": reading}
    )
