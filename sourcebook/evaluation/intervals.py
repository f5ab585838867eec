"""Intervals of means by the bootstrap over queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from sourcebook.config.evaluation import Measure
from sourcebook.contract.search import Mode
from sourcebook.evaluation.scores import Difference, Estimate, ModeScores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLES: Final = 10_000
"""Samples of the bootstrap."""
SEED: Final = 6
"""Seed of the random generator, fixed so that equal values give equal intervals."""
CONFIDENCE: Final = 0.95
"""Confidence level of the intervals."""
_CELLS_AT_ONCE = 2_000_000
"""Random numbers per step, which bound the memory."""


def estimate_means(
    values: NDArray[np.float64] | Sequence[Sequence[float]],
    *,
    samples: int = SAMPLES,
    seed: int = SEED,
    confidence: float = CONFIDENCE,
) -> list[Estimate]:
    """Return each column's mean with its interval: the percentile bootstrap over rows.

    All columns are resampled together, so that the interval of a column of differences is one of a paired comparison.
    Equal values give equal intervals. Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993),
    chapter 13; for retrieval: Sakai, SIGIR 2006.

    Args:
        values: shape (queries, columns), at least one query.
        samples: number of samples; each draws as many queries as there are, with replacement.
        seed: seed of the random generator.
        confidence: confidence level of the intervals, 0..1.
    """
    import numpy as np

    matrix = np.asarray(values, dtype=np.float64)
    queries, columns = matrix.shape
    generator = np.random.default_rng(seed)
    means = np.empty((samples, columns))
    step = max(1, _CELLS_AT_ONCE // queries)
    for start in range(0, samples, step):
        batch = min(step, samples - start)
        drawn = generator.integers(0, queries, (batch, queries)) + np.arange(batch)[:, None] * queries
        times_drawn = np.bincount(drawn.ravel(), minlength=batch * queries).reshape(batch, queries)
        means[start : start + batch] = times_drawn @ matrix / queries
    low, high = np.quantile(means, ((1 - confidence) / 2, (1 + confidence) / 2), axis=0)
    return [
        Estimate(float(mean), float(below), float(above))
        for mean, below, above in zip(matrix.mean(axis=0), low, high, strict=True)
    ]


def summarise(
    values: Mapping[Mode, Mapping[str, Mapping[Measure, float]]],
    medians: Mapping[Mode, float],
    measures: Sequence[Measure],
) -> tuple[tuple[ModeScores, ...], tuple[Difference, ...]]:
    """Return the scores of each mode, and the differences of the first from each other one, from the same samples.

    Args:
        values: mode → query → measure → value, the same queries in each mode.
        medians: mode → milliseconds per query.
        measures: the measures of the values.
    """
    import numpy as np

    tables = {
        mode: np.array([[row[measure] for measure in measures] for row in scores.values()])
        for mode, scores in values.items()
    }
    first, *others = values
    columns = [*tables.values(), *(tables[first] - tables[other] for other in others)]
    estimates = iter(estimate_means(np.hstack(columns)))
    named = [dict(zip(measures, estimates, strict=False)) for _ in columns]
    scores = tuple(
        ModeScores(mode, estimate, medians[mode], values[mode]) for mode, estimate in zip(values, named, strict=False)
    )
    differences = tuple(
        Difference(first, other, len(tables[first]), estimate)
        for other, estimate in zip(others, named[len(values) :], strict=True)
    )
    return scores, differences
