"""Scores of an evaluation."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from sourcebook.config.evaluation import Measure
from sourcebook.contract.search import Mode

FEW_QUERIES: Final = 30
"""Queries below which the bootstrap's intervals are too narrow: few queries do not show how much queries differ."""
_EXAMPLES = 10
"""Unmatched ids in the JSON output, at most."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean over the queries with its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return `0.713 (0.668 to 0.757)`."""
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True, slots=True)
class ModeScores:
    """Scores of one mode of search."""

    mode: Mode
    estimates: Mapping[Measure, Estimate]
    ms_per_query: float
    """Median milliseconds per query, query embedding included, loading the model not."""
    per_query: Mapping[str, Mapping[Measure, float]]
    """Query → measure → value."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of the differences between two modes, or two evaluations, query by query."""

    mode: Mode
    against: str
    """Another mode, or the file name of an earlier evaluation, whose equal mode is compared."""
    queries: int
    """Number of queries that were compared."""
    estimates: Mapping[Measure, Estimate]
    """Above 0: `mode` is better. With 0 in the interval, either may be better."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Result of an evaluation, with the queries and judgments that it could not use."""

    collection: str
    queries: int
    """Number of queries that were asked."""
    depth: int
    """Number of documents of each ranking that were scored."""
    samples: int
    """Samples of the bootstrap."""
    modes: tuple[ModeScores, ...]
    differences: tuple[Difference, ...]
    """Differences of the first mode from each other one."""
    unjudged: int
    """Number of queries without a judgment, which were not asked."""
    without_relevant: int
    """Number of queries without a grade above 0, which were not asked."""
    unmatched: tuple[str, ...]
    """Ids in the judgments without a document in the collection; relevant ones count as not found."""
    generation: int | None = None
    """Id of the generation that was asked; None for the active one."""
    unfinished: tuple[str, ...] = ()
    """Sentences on the documents that an asked generation lacks."""

    def of(self, mode: str) -> ModeScores:
        """Return the scores of one mode.

        Raises:
            KeyError: the mode was not evaluated.
        """
        for scores in self.modes:
            if scores.mode == mode:
                return scores
        raise KeyError(mode)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of the figures needs."""
        said = [*self.unfinished]
        if self.queries < FEW_QUERIES:
            said.append(f"few queries: with {self.queries} of them the intervals are narrower than they ought to be")
        if self.unjudged:
            said.append(f"queries without a judgment, which were not asked: {self.unjudged:,}")
        if self.without_relevant:
            said.append(f"queries without a relevant document, which were not asked: {self.without_relevant:,}")
        if self.unmatched:
            some = ", ".join(self.unmatched[:3]) + (", …" if len(self.unmatched) > 3 else "")
            said.append(
                f"judged documents that are not in the collection: {len(self.unmatched):,} ({some}); "
                "relevant ones count as not found"
            )
        return tuple(said)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `sourcebook evaluate --json` prints them."""
        return {
            "collection": self.collection,
            "generation": self.generation,
            "queries": self.queries,
            "depth": self.depth,
            "samples": self.samples,
            "modes": {
                scores.mode: {**_plain(scores.estimates), "ms_per_query": scores.ms_per_query} for scores in self.modes
            },
            "differences": [
                {"mode": each.mode, "against": each.against, "queries": each.queries, **_plain(each.estimates)}
                for each in self.differences
            ],
            "unjudged": self.unjudged,
            "without_relevant": self.without_relevant,
            "unmatched": {"count": len(self.unmatched), "examples": list(self.unmatched[:_EXAMPLES])},
            "per_query": {
                scores.mode: {query: dict(values) for query, values in scores.per_query.items()}
                for scores in self.modes
            },
            "notes": list(self.notes),
        }


def _plain(estimates: Mapping[Measure, Estimate]) -> dict[str, dict[str, float]]:
    return {measure: asdict(estimate) for measure, estimate in estimates.items()}
