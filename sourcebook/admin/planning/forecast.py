"""Forecasts of seconds from the past runs of this machine."""

import math
from collections.abc import Mapping, Sequence

from sourcebook.model.work import SMALL_START_SECONDS, START_SECONDS

_MOST_COMPARED = 12
"""Past runs that a forecast compares with: those whose work is nearest to the expected one."""
_PRIOR = 0.02
"""Weight of the built-in figures against that of one past run."""
_ROUNDS = 4
"""Fits, each with the built-in figures weighed by the result of the one before."""


def forecast_seconds(stage: str, work: float, past: Sequence[tuple[float, float]], *, is_small: bool = False) -> float:
    """Return the seconds that a stage will take: a constant, and a rate for its work.

    Constant and rate minimise the squared relative errors over past runs of like size (ridge regression towards the
    built-in figures, which give way as far as the past runs differ from them).

    Args:
        stage: name of its asset, or `run`.
        work: expected work in seconds at built-in rates.
        past: work and seconds of past runs.
        is_small: whether it is part of a small change, which starts no processes.
    """
    start = SMALL_START_SECONDS.get(stage, START_SECONDS[stage]) if is_small else START_SECONDS[stage]
    near = sorted(past, key=lambda run: abs(math.log((run[0] + 0.01) / (work + 0.01))))[:_MOST_COMPARED]
    rows = [(start / seconds, done / seconds) for done, seconds in near if seconds > 0]
    constant = rate = 1.0
    for _ in range(_ROUNDS):
        constant, rate = _fit(rows, _PRIOR / max(constant, 1.0) ** 2, _PRIOR / max(rate, 1.0) ** 2)
    return constant * start + rate * work


def _fit(rows: Sequence[tuple[float, float]], prior_of_constant: float, prior_of_rate: float) -> tuple[float, float]:
    """Return constant and rate, as multiples of the built-in ones, for which each row's sum is nearest to 1."""
    aa = prior_of_constant + sum(a * a for a, _ in rows)
    bb = prior_of_rate + sum(b * b for _, b in rows)
    ab = sum(a * b for a, b in rows)
    at = prior_of_constant + sum(a for a, _ in rows)
    bt = prior_of_rate + sum(b for _, b in rows)
    determinant = aa * bb - ab * ab
    constant, rate = (at * bb - bt * ab) / determinant, (bt * aa - at * ab) / determinant
    if constant < 0:
        return 0.0, bt / bb
    if rate < 0:
        return at / aa, 0.0
    return constant, rate


def forecast_run(
    work: Mapping[str, float], past: Mapping[tuple[str, str], Sequence[tuple[float, float]]], *, model: str, path: str
) -> float:
    """Return the seconds that a run will take as a whole.

    Args:
        work: expected work by stage; stages without any are left out.
        past: past runs by stage and kind.
        model: identity of the embedding model.
        path: how the run will be executed: `small` or `job`.
    """
    kinds = {"embeddings": model, "run": path}
    return sum(
        forecast_seconds(stage, amount, past.get((stage, kinds.get(stage, "")), ()), is_small=path == "small")
        for stage, amount in {**work, "run": 0.0}.items()
        if amount or stage == "run"
    )
