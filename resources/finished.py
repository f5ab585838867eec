"""Reports of stages that are finished before their run is recorded: the assets of such a run only report."""

from collections.abc import Mapping

from sourcebook.model.report import StageReport

_reports: dict[str, StageReport] = {}


def hand_over(reports: Mapping[str, StageReport]) -> None:
    """Set the reports of the stages that the next run of this process records.

    Args:
        reports: by the name of the asset; empty: the next run does the work itself.
    """
    _reports.clear()
    _reports.update(reports)


def finished(asset: str) -> StageReport | None:
    """Return the report of an asset whose work is done; None where the run does it."""
    return _reports.get(asset)
