"""The result of a bakeoff: a line for each candidate, and its plan before."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

from sourcebook.evaluation.bakeoff.candidates import Indexing, Ranking
from sourcebook.evaluation.scores import FEW_QUERIES, Estimate

Column = Literal["ndcg@10", "hit@1", "recall@10", "in 1,000 tokens"]
COLUMNS: Final[tuple[Column, ...]] = get_args(Column)
"""Measures of a line. `hit@1` is the share of questions whose first document is relevant; `in 1,000 tokens` that of
those whose answer is reached by one who reads so many tokens of the results, passage by passage."""
TOKENS_READ: Final = 1_000


@dataclass(frozen=True, slots=True)
class PlannedIndex:
    """The expected work of one candidate's index."""

    indexing: Indexing
    texts: int
    """Texts to embed."""
    cached: int
    """Texts that have a vector."""
    tokens: int
    """Tokens of the texts to embed."""
    seconds: float
    cost: float | None
    """US dollars: 0 for a model of this machine, None where a provider's price is unknown."""


@dataclass(frozen=True, slots=True)
class BakeoffPlan:
    """The candidates of a bakeoff, with the expected time."""

    collection: str
    questions: Mapping[str, int]
    """Number of questions by kind: `judged`, `pair` (question and answer) and `heading`."""
    documents: int
    """Documents of the sample."""
    live_documents: int
    """Documents of the collection that have a text."""
    indexes: tuple[PlannedIndex, ...]
    rankings: tuple[Ranking, ...]
    left_out: tuple[str, ...] = ()
    """Candidates that cannot be built, with the reason."""

    @property
    def seconds(self) -> float:
        """Expected seconds of the whole bakeoff."""
        asked = sum(self.questions.values()) * len(self.rankings) * len(self.indexes)
        return sum(index.seconds for index in self.indexes) + asked * _SECONDS_PER_SEARCH + _SECONDS_AROUND

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `sourcebook bakeoff --json` prints them without `--yes`."""
        indexes = [
            {**asdict(each), "indexing": each.indexing.as_dict(), "candidate": each.indexing.describe()}
            for each in self.indexes
        ]
        return {**asdict(self), "indexes": indexes, "seconds": round(self.seconds, 1)}


_SECONDS_PER_SEARCH: Final = 0.03
_SECONDS_AROUND: Final = 4.0
"""Seconds for the scratch database and the first searches."""


@dataclass(frozen=True, slots=True)
class Line:
    """One candidate: an index and a ranking."""

    indexing: Indexing
    ranking: Ranking
    is_present: bool
    """Whether it is the collection's active generation with the default ranking."""
    estimates: Mapping[Column, Estimate]
    """Means with their 95 % intervals."""
    differences: Mapping[Column, Estimate]
    """Differences from the present settings, question by question; the intervals hold for all lines at once."""
    passages: int
    vector_bytes: int
    text_bytes: int
    seconds: float
    """Seconds to embed the passages of the sample, by the speed that was measured."""
    computed: int
    """Texts that were embedded for it now."""
    ms_per_query: float
    """Median milliseconds of a search, query embedding included."""
    yaml: str
    """Lines of sourcebook.yaml; empty where they are the present ones."""

    @property
    def is_better(self) -> bool:
        """Whether its nDCG@10 is above that of the present settings by more than chance."""
        return not self.is_present and self.differences["ndcg@10"].low > 0

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            **asdict(self),
            "indexing": self.indexing.as_dict(),
            "candidate": self.indexing.describe(),
            "is_better": self.is_better,
        }


@dataclass(frozen=True, slots=True)
class Bakeoff:
    """The result of a bakeoff."""

    plan: BakeoffPlan
    lines: tuple[Line, ...]
    """The present settings first."""
    failed: tuple[str, ...] = ()
    """Candidates that failed, with the reason."""

    @property
    def best(self) -> Line | None:
        """The line with the highest nDCG@10 among those that are better than the present one by more than chance."""
        better = [line for line in self.lines if line.is_better]
        return max(better, key=lambda line: line.estimates["ndcg@10"].mean, default=None)

    @property
    def share(self) -> float:
        """Documents of the collection for each document of the sample."""
        return self.plan.live_documents / self.plan.documents

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of the figures needs."""
        asked = sum(self.plan.questions.values())
        said = [f"not compared: {reason}" for reason in (*self.plan.left_out, *self.failed)]
        if asked < FEW_QUERIES:
            said.append(f"few questions: with {asked} of them the intervals are narrower than they ought to be")
        if any(kind in self.plan.questions for kind in ("pair", "heading")):
            said.append(
                "questions made from headings and pairs are in the documents' own words: they favour keywords, and "
                "show headings as a context at less than their worth, since their own heading is taken out"
            )
        if self.plan.documents < self.plan.live_documents:
            said.append("among the documents of the sample an answer is found more easily than among all")
        return tuple(said)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `sourcebook bakeoff --json` prints them."""
        best = self.best
        return {
            "plan": self.plan.as_dict(),
            "lines": [line.as_dict() for line in self.lines],
            "best": None if best is None else self.lines.index(best),
            "notes": list(self.notes),
        }
