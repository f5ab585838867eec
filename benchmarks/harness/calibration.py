"""Logistic regression, and how well probabilities agree with what happened."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

BINS = 10
_RIDGE = 1e-3
_STEPS = 50
_LEAST_STEP = 1e-8


@dataclass(frozen=True)
class Bin:
    """Predictions of one tenth of the scale."""

    weight: float
    """Share of all predictions, 0..1."""
    predicted: float
    """Mean probability."""
    observed: float
    """Share that came true."""


def fit_logistic(quantities: Numbers, outcomes: Numbers, weights: Numbers) -> Numbers:
    """Return the coefficients of a logistic regression by Newton's method, the intercept first.

    Args:
        quantities: shape (observations, quantities).
        outcomes: 0 or 1, shape (observations,).
        weights: of the observations, shape (observations,).
    """
    rows = np.column_stack([np.ones(len(quantities)), quantities])
    ridge = _RIDGE * np.eye(rows.shape[1])
    ridge[0, 0] = 0.0
    found = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        predicted = 1 / (1 + np.exp(-np.clip(rows @ found, -30, 30)))
        gradient = rows.T @ (weights * (outcomes - predicted)) - ridge @ found
        curvature = (rows * (weights * predicted * (1 - predicted))[:, None]).T @ rows + ridge
        step = np.linalg.solve(curvature + 1e-9 * np.eye(len(found)), gradient)
        found = found + step
        if np.abs(step).max() < _LEAST_STEP:
            break
    return found


def reliability(predicted: Sequence[float], outcomes: Sequence[float], weights: Sequence[float]) -> list[Bin]:
    """Return the tenths of the scale that have predictions."""
    values, came_true, shares = (np.asarray(each, float) for each in (predicted, outcomes, weights))
    shares = shares / shares.sum()
    tenths = np.minimum((values * BINS).astype(int), BINS - 1)
    return [
        Bin(
            float(shares[inside].sum()),
            float(np.average(values[inside], weights=shares[inside])),
            float(np.average(came_true[inside], weights=shares[inside])),
        )
        for inside in (tenths == number for number in range(BINS))
        if inside.any() and shares[inside].sum() > 0
    ]


def expected_calibration_error(bins: Sequence[Bin]) -> float:
    """Return the mean difference between predicted and observed shares (Naeini et al., AAAI 2015)."""
    return sum(each.weight * abs(each.predicted - each.observed) for each in bins)
