"""Materializations of stage reports: counts, seconds, a table of failures and the data version."""

import dagster as dg

from sourcebook.model.report import StageReport

_MOST_FAILURES = 100
"""Rows of the table of failures in a materialization."""


def materialization(report: StageReport) -> dg.MaterializeResult[None]:
    """Return a stage's report as a materialization with metadata and data version."""
    metadata: dict[str, dg.MetadataValue] = {
        name: dg.MetadataValue.int(value) if isinstance(value, int) else dg.MetadataValue.float(value)
        for name, value in report.counts().items()
    }
    if report.failures:
        metadata["failures"] = dg.MetadataValue.md(_table(report))
    return dg.MaterializeResult(metadata=metadata, data_version=dg.DataVersion(report.version))


def _table(report: StageReport) -> str:
    rows = [f"| `{_cell(failure.uri)}` | {_cell(failure.reason)} |" for failure in report.failures[:_MOST_FAILURES]]
    more = len(report.failures) - len(rows)
    ending = [f"\n… and {more:,} more: `sourcebook documents --failed`"] if more > 0 else []
    return "\n".join(["| item | reason |", "|---|---|", *rows, *ending])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("`", "'")
