"""From the values of single queries to means with intervals, and to what sets modes apart."""

from collections.abc import Mapping, Sequence

from sourcebook.config.evaluation import Measure
from sourcebook.evaluation.intervals import estimate_means
from sourcebook.evaluation.results import Difference, ModeScores
from sourcebook.search.request import Mode


def summarise(
    values: Mapping[Mode, Mapping[str, Mapping[Measure, float]]],
    medians: Mapping[Mode, float],
    measures: Sequence[Measure],
) -> tuple[tuple[ModeScores, ...], tuple[Difference, ...]]:
    """Return the scores of each mode, and how the first one differs from each other one, from the same samples.

    Args:
        values: mode → query → measure → value, the same queries in each mode.
        medians: mode → milliseconds a query.
        measures: those that the values hold.
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
