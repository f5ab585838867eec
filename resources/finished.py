"""Work that is done before its run is recorded: the assets and checks of such a run only report."""

from sourcebook.admin.checks import CheckOutcome
from sourcebook.admin.finished_runs import FinishedRun
from sourcebook.model.report import StageReport

_runs: dict[str, FinishedRun] = {}


def hand_over(run: FinishedRun) -> None:
    """Set the finished work that the run of its id reports."""
    _runs.clear()
    _runs[run.run_id] = run


def finished(run_id: str, asset: str) -> StageReport | None:
    """Return the report of an asset whose work is done; None where the run does it."""
    run = _runs.get(run_id)
    return run.reports.get(asset) if run else None


def finished_checks(run_id: str) -> list[CheckOutcome] | None:
    """Return the outcomes of the checks; None where the run makes them."""
    run = _runs.get(run_id)
    return list(run.outcomes) if run else None
