"""Floors: lower limits on the measures of search."""

from collections.abc import Iterable
from dataclasses import dataclass

from sourcebook.config.evaluation import MEASURES, Measure
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.evaluation.measures import measures_within
from sourcebook.evaluation.scores import ModeScores


@dataclass(frozen=True, slots=True)
class Floor:
    """Lower limit on the mean of a measure."""

    measure: Measure
    value: float

    @classmethod
    def parse(cls, text: str) -> "Floor":
        """Return the floor of a text such as `ndcg@10=0.6`.

        Raises:
            ValueError: the text is not a floor; the message describes one.
        """
        name, _, number = text.partition("=")
        measure = name.strip().lower()
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if measure not in MEASURES or not 0 <= value <= 1:
            message = f"{text!r} is no floor: write a measure, =, and a number from 0 to 1, such as ndcg@10=0.6; "
            raise ValueError(message + f"the measures are {', '.join(MEASURES)}")
        return cls(measure, value)


@dataclass(frozen=True, slots=True)
class MissedFloor:
    """A floor above the mean of its measure."""

    floor: Floor
    mode: str
    mean: float

    def __str__(self) -> str:
        """Return the mode, the mean and its distance from the floor."""
        return (
            f"{self.mode}: {self.floor.measure} is {self.mean:.4f}, "
            f"{self.floor.value - self.mean:.4f} below the floor of {self.floor.value:g}"
        )


def check_floors(floors: Iterable[Floor], depth: int) -> None:
    """Check that every floor is on a measure of at most `depth` documents.

    Raises:
        EvaluationError: a floor is on another measure; the message names it.
    """
    known = measures_within(depth)
    for floor in floors:
        if floor.measure not in known:
            raise EvaluationError(f"there is a floor on {floor.measure}, and only {depth} documents are looked at")


def missed_floors(scores: ModeScores, floors: Iterable[Floor]) -> tuple[MissedFloor, ...]:
    """Return the floors above the mean of their measure."""
    means = {measure: estimate.mean for measure, estimate in scores.estimates.items()}
    return tuple(
        MissedFloor(floor, scores.mode, means[floor.measure]) for floor in floors if means[floor.measure] < floor.value
    )
