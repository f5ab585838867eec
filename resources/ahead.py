"""Counts of what a run has published ahead of the assets that report it, handed from one asset to the next."""

from sourcebook.stages.words_first import Ahead

_runs: dict[str, Ahead] = {}


def ahead_in(run_id: str) -> Ahead:
    """Return what the run has done ahead in this process, which executes one run at a time."""
    if run_id not in _runs:
        _runs.clear()
        _runs[run_id] = Ahead()
    return _runs[run_id]
