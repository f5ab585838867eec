"""The questions that one evaluation answers better or worse than another."""

from dataclasses import dataclass

from sourcebook.config.evaluation import Measure
from sourcebook.evaluation.scores import Evaluation
from sourcebook.model.plain_values import PlainValues


@dataclass(frozen=True, slots=True)
class QuestionChange(PlainValues):
    """One question in two evaluations."""

    query: str
    """Id of the question."""
    before: float
    """Value of the measure in the other evaluation."""
    after: float

    @property
    def gain(self) -> float:
        """Difference of the values; below 0 where the question is answered worse."""
        return self.after - self.before

    def __str__(self) -> str:
        """Return `thaw 1.000 → 0.631`."""
        return f"{self.query} {self.before:.3f} → {self.after:.3f}"


def question_changes(found: Evaluation, other: Evaluation, measure: Measure = "ndcg@10") -> list[QuestionChange]:
    """Return the questions whose value differs between two evaluations, the greatest loss first.

    Args:
        found: the evaluation that is looked at, in its first mode.
        other: the one that it is compared with; it has the same mode.
        measure: the measure.
    """
    scores = found.modes[0]
    before = other.of(scores.mode).per_query
    changes = [
        QuestionChange(query, before[query][measure], values[measure])
        for query, values in scores.per_query.items()
        if query in before and before[query][measure] != values[measure]
    ]
    return sorted(changes, key=lambda change: (change.gain, change.query))
