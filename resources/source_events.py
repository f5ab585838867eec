"""The keys of the source assets, and the events by which sensors report on them."""

import dagster as dg

CONFIGURATION = dg.AssetKey("configuration")
FOLDERS = dg.AssetKey("source_folders")
SITES = dg.AssetKey("source_sites")
VALID = "configuration_is_valid"
"""Name of the check of the configuration."""


def configuration_evaluation(mistake: str | None) -> dg.AssetCheckEvaluation:
    """Return the outcome of the check of the configuration, for a sensor to report.

    Args:
        mistake: The mistake in the file with line and column, or None.
    """
    return dg.AssetCheckEvaluation(
        asset_key=CONFIGURATION,
        check_name=VALID,
        passed=mistake is None,
        metadata={},
        severity=dg.AssetCheckSeverity.ERROR,
        description=mistake,
    )
