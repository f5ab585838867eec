"""Comparison of an evaluation with an earlier one, query by query, to see whether a change harmed search."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from pydantic import BaseModel, ValidationError

from sourcebook.config.evaluation import MEASURES, Measure
from sourcebook.contract.search import Mode
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.evaluation.intervals import estimate_means
from sourcebook.evaluation.scores import Difference, Evaluation


@dataclass(frozen=True, slots=True)
class Baseline:
    """An earlier evaluation."""

    path: Path
    per_query: dict[Mode, dict[str, dict[Measure, float]]]


class _Printed(BaseModel):
    """The part of the output of `sourcebook evaluate --json` that a comparison needs."""

    per_query: dict[Mode, dict[str, dict[Measure, float]]]


def read_baseline(path: str | PathLike[str]) -> Baseline:
    """Read the output of an earlier `sourcebook evaluate --json`, of this collection or another.

    Raises:
        EvaluationError: the file cannot be read, or is not such output.
    """
    file = Path(path)
    try:
        return Baseline(file, _Printed.model_validate_json(file.read_bytes()).per_query)
    except OSError as error:
        raise EvaluationError(f"{file} cannot be read: {error.strerror or error}") from error
    except ValidationError:
        raise EvaluationError(f"{file} is not what `sourcebook evaluate --json` prints") from None


def compare_with_baseline(found: Evaluation, baseline: Baseline) -> tuple[Difference, ...]:
    """Return the difference of each mode from the baseline's, on the queries that both evaluations asked.

    Raises:
        EvaluationError: they have no mode or no query in common.
    """
    differences = _differences(found, baseline.per_query, baseline.path.name)
    if not differences:
        raise EvaluationError(
            f"{baseline.path} has no query and mode in common with this evaluation: compare the same questions"
        )
    return differences


def compare_generations(found: Evaluation, other: Evaluation) -> tuple[Difference, ...]:
    """Return the difference of each mode in one generation from the same mode in another one, on equal questions."""
    per_query = {scores.mode: scores.per_query for scores in other.modes}
    return _differences(found, per_query, f"generation {other.generation}")


def _differences(
    found: Evaluation, earlier: Mapping[Mode, Mapping[str, Mapping[Measure, float]]], name: str
) -> tuple[Difference, ...]:
    differences = []
    for scores in found.modes:
        before = earlier.get(scores.mode, {})
        pairs = [(values, before[query]) for query, values in scores.per_query.items() if query in before]
        measures = [name for name in MEASURES if all(name in values for pair in pairs for values in pair)]
        if not pairs or not measures:
            continue
        gains = [[later[name] - sooner[name] for name in measures] for later, sooner in pairs]
        estimates = dict(zip(measures, estimate_means(gains), strict=True))
        differences.append(Difference(scores.mode, name, len(pairs), estimates))
    return tuple(differences)
