"""Floors: how good search has to be at least."""

from collections.abc import Iterable
from dataclasses import dataclass

from sourcebook.config.evaluation import MEASURES, Measure
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.evaluation.measures import measures_within
from sourcebook.evaluation.scores import ModeScores


@dataclass(frozen=True, slots=True)
class Floor:
    """The least that the mean of a measure may be."""

    measure: Measure
    value: float

    @classmethod
    def parse(cls, text: str) -> "Floor":
        """Read `ndcg@10=0.6`.

        Raises:
            ValueError: it is none; the message says what one is.
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
    """A floor that search fell below."""

    floor: Floor
    mode: str
    mean: float

    def __str__(self) -> str:
        """Say what was missed."""
        return (
            f"{self.mode}: {self.floor.measure} is {self.mean:.4f}, "
            f"{self.floor.value - self.mean:.4f} below the floor of {self.floor.value:g}"
        )


def check_floors(floors: Iterable[Floor], depth: int) -> None:
    """Refuse floors on measures that look further than `depth` documents.

    Raises:
        EvaluationError: naming the measure.
    """
    known = measures_within(depth)
    for floor in floors:
        if floor.measure not in known:
            raise EvaluationError(f"there is a floor on {floor.measure}, and only {depth} documents are looked at")


def missed_floors(scores: ModeScores, floors: Iterable[Floor]) -> tuple[MissedFloor, ...]:
    """Return the floors that lie above the mean of their measure."""
    means = {measure: estimate.mean for measure, estimate in scores.estimates.items()}
    return tuple(
        MissedFloor(floor, scores.mode, means[floor.measure]) for floor in floors if means[floor.measure] < floor.value
    )
