"""Fusion of both legs into one ranked list, from which pages are cut that neither repeat nor skip a passage.

A fused score depends on the depth, the number of entries that each leg is asked for: a passage that is second in one
leg and 150th in the other has a higher score at depth 200 than at depth 100, and an approximate index that is asked for
more entries finds some that it missed before. If each page chose its own depth, later pages would be cut from another
order than earlier ones. So `RankedList` extends depth after depth: first the entries that the legs give at depth 100,
in the order of their fusion; behind them, the new entries that the legs give at depth 400; and so on. An extension
appends candidates and changes nothing before them.

This relies on two properties of a leg: it gives the same entries for the same depth, and it has no more entries where
it gives fewer than the depth. Pages of one query with the same settings over an unchanged index are then slices of one
list. Where a document is published or removed between two pages, each page is cut from the list of its moment, and a
passage near their border may appear twice or not at all. A reader who needs one consistent list asks for one long page.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from sourcebook.contract.fusion import Fusion
from sourcebook.search.ranking.leg import LegRanking, LegResult

DEEPEST = 10_000
"""Largest number of entries that a leg is asked for; passages behind them are not ranked."""
_STEP = 4
"""Factor from one depth to the next."""
_COMPARED: Final = 10
"""Rank of the entry that a leg's first one is compared with; a leg with fewer entries counts whole."""
_NOT_FOUND = (None, None)


class Candidate(NamedTuple):
    """A passage on its way from the legs to the page of results.

    A search makes some 200: a named tuple is made in a fifth of the time of a frozen dataclass.
    """

    chunk_id: int
    score: float
    """The fused score."""
    depth: int
    """Depth at which the ranked list took it in."""
    rerank_score: float | None = None
    """Score of the reranking model; None where it was not reranked."""
    vector_rank: int | None = None
    """Rank in the vector leg at this depth, counted from 1; None where the leg did not find it."""
    vector_score: float | None = None
    """Cosine similarity, -1..1."""
    keyword_rank: int | None = None
    """Rank in the keyword leg at this depth, counted from 1; None where the leg did not find it."""
    keyword_score: float | None = None
    """BM25 score."""
    relevance: float = 0.0
    """Probability 0..1 that it answers; set on the candidates of a page."""
    also: tuple["Candidate", ...] = ()
    """Grouped by document: the document's other candidates, best first."""
    copies: tuple["Candidate", ...] = ()
    """Duplicates in other documents, best first."""


class LegWeight(NamedTuple):
    """Weight of a leg in the fusion."""

    value: float
    behind: float | None = None
    """Share by which the score of its tenth entry is behind that of its first; None where the weight does not depend on
    it."""


class RankedList:
    """Candidates of one search in their final order, each once, extended depth after depth."""

    merged_weight = 1.0
    """Weight of the list where it is merged with others."""

    def __init__(
        self,
        find: Callable[[int], Mapping[str, LegResult]],
        fusion: Fusion,
        *,
        first: int | None = None,
        deepest: int = DEEPEST,
    ) -> None:
        """Make an empty list; nothing is searched yet.

        Args:
            find: asks each leg, `vector` or `keyword`, for so many entries. The beginning of a deeper answer does not
                do: it may hold entries that a search of a smaller depth does not find.
            fusion: settings of the fusion.
            first: the first depth; the fusion's where None. Another first depth gives another order.
            deepest: the last depth.
        """
        self._find = find
        self._fusion = fusion
        self._first = fusion.depth if first is None else first
        self._deepest = deepest
        self._known: set[int] = set()
        self.candidates: list[Candidate] = []
        self.legs: Mapping[str, LegResult] = {}
        """Results of the legs at the present depth."""
        self.first_legs: Mapping[str, LegResult] = {}
        """Results of the legs at the first depth, which is the same for every page."""
        self.weights: Mapping[str, LegWeight] = {}
        """Weights of the legs, by what they give at the first depth."""
        self.depth = 0
        """Entries that each leg was last asked for."""

    @property
    def has_everything(self) -> bool:
        """Whether every leg gave fewer entries than it was asked for: no extension brings more."""
        return all(len(leg.ranking) < self.depth for leg in self.legs.values())

    @property
    def is_final(self) -> bool:
        """Whether the list cannot be extended: it has everything, or has reached the last depth."""
        return self.has_everything or self.depth >= self._deepest

    @property
    def has_named_files(self) -> bool:
        """Whether it has passages of files that the query names; false where these are not searched for."""
        return False

    def legs_of(self, candidate: Candidate) -> Mapping[str, LegResult]:
        """Return the results of the legs at the first depth, by which a candidate of this list is judged."""
        return self.first_legs

    def extend(self) -> None:
        """Ask both legs at the next depth, and append the candidates that are new.

        Scores never rise along the list: a new candidate has at most the score of the one before it.
        """
        self.depth = min(self.depth * _STEP or self._first, self._deepest)
        self.legs = self._find(self.depth)
        self.first_legs = self.first_legs or self.legs
        heard = {name: leg for name, leg in self.legs.items() if leg.dropped is None}
        vector, keyword = (_places(heard.get(name)) for name in ("vector", "keyword"))
        self.weights = self.weights or leg_weights(self.legs, self._fusion)
        ceiling = self.candidates[-1].score if self.candidates else float("inf")
        self.candidates += [
            Candidate(
                chunk,
                min(score, ceiling),
                self.depth,
                None,
                *vector.get(chunk, _NOT_FOUND),
                *keyword.get(chunk, _NOT_FOUND),
            )
            for chunk, score in fuse(heard, self._fusion, self.depth, self.weights)
            if chunk not in self._known
        ]
        self._known.update(candidate.chunk_id for candidate in self.candidates[len(self._known) :])


def fuse(
    legs: Mapping[str, LegResult], fusion: Fusion, depth: int, weights: Mapping[str, LegWeight] | None = None
) -> LegRanking:
    """Return (chunk id, fused score) of every entry that a leg found, best first; equal scores in the order of ids.

    One leg alone keeps its order. Entries that only a leg of weight 0 by language found stand at the end.

    Args:
        legs: results by the name of the leg, `vector` or `keyword`.
        fusion: settings.
        depth: entries that each leg was asked for; a keyword leg with fewer has every entry with a word of the query.
        weights: from `leg_weights`, at the first depth; those of these legs where None.
    """
    weights = leg_weights(legs, fusion) if weights is None else weights
    scores: dict[int, float] = {}
    for name, leg in legs.items():
        weight = 1.0 if len(legs) == 1 else weights[name].value
        if len(legs) > 1 and fusion.weight(name) == 0:
            continue
        lowest = 0.0 if name == "keyword" and len(leg.ranking) < depth else None
        gains = _reciprocal_ranks(leg.ranking, fusion.k) if fusion.method == "rrf" else _scaled(leg.ranking, lowest)
        for (chunk, _), gain in zip(leg.ranking, gains, strict=True):
            scores[chunk] = scores.get(chunk, 0.0) + weight * gain
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def leg_weights(legs: Mapping[str, LegResult], fusion: Fusion) -> dict[str, LegWeight]:
    """Return the weight of each leg: the given one, by language and model, and by how far its first entry stands out.

    A leg that knows the answer has entries far before the others; one that guesses has many that are nearly alike
    (after Shtok et al., Predicting Query Performance by Query-Drift Estimation, TOIS 2012, who judge a ranking by the
    spread of its first scores). Decision 0089 has the figures. Weights that the request sets stay as they are; so do
    those of reciprocal rank fusion, which uses no scores, and of models whose cosines were not measured.

    Args:
        legs: results by the name of the leg, at the first depth.
        fusion: settings.
    """
    by_scores = len(legs) > 1 and fusion.by_scores and fusion.method == "weighted"
    judged = legs["vector"].stands_out if by_scores and fusion.vector == fusion.keyword == 1 else {}
    weights = {}
    for name, leg in legs.items():
        given = fusion.weight(name) * (leg.language_weight * leg.model_weight if fusion.by_language else 1.0)
        standing = judged.get(name)
        if standing is None or len(leg.ranking) < _COMPARED:
            weights[name] = LegWeight(given)
        else:
            first, tenth = leg.ranking[0][1], leg.ranking[_COMPARED - 1][1]
            behind = (first - tenth) / first if first > 0 else 0.0
            weights[name] = LegWeight(given * standing.factor(behind), behind)
    return weights


def described(fusion: Fusion, weights: Mapping[str, LegWeight]) -> str:
    """Return the method of a fusion, and what the weights of its legs depend on."""
    behind = {name: weight.behind for name, weight in weights.items() if weight.behind is not None}
    said = " and ".join(f"{share:.0%} in the {name} leg" for name, share in behind.items())
    return fusion.describe() + (f"; the tenth is behind the first by {said}" if said else "")


def _places(leg: LegResult | None) -> dict[int, tuple[int, float]]:
    """Return (rank, score) by chunk id."""
    if leg is None:
        return {}
    return {chunk: (rank, score) for rank, (chunk, score) in enumerate(leg.ranking, start=1)}


def _reciprocal_ranks(ranking: LegRanking, k: int) -> list[float]:
    """Return 1 / (k + rank) for each entry (Cormack, Clarke and Buettcher, SIGIR 2009)."""
    return [1 / (k + rank) for rank in range(1, len(ranking) + 1)]


def _scaled(ranking: LegRanking, lowest: float | None = None) -> list[float]:
    """Return (score - lowest) / (highest - lowest) for each entry; 1 where all scores are equal.

    Args:
        ranking: entries with their scores, best first.
        lowest: score of entries that the leg did not find; the last one's where None.
    """
    if not ranking:
        return []
    highest, lowest = ranking[0][1], ranking[-1][1] if lowest is None else lowest
    if highest <= lowest:
        return [1.0] * len(ranking)
    return [(score - lowest) / (highest - lowest) for _, score in ranking]
