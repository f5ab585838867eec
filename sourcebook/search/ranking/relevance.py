"""Relevance of a passage: the probability that it answers the query, by logistic regression on what the legs found.

The score of a leg ranks the passages of one search and says nothing across searches: the best passage has a score also
where none answers. The relevance rests on quantities that compare between queries and collections.

`python -m benchmarks relevance` fits the coefficients: on one half of the questions of SciFact, Cranfield and XQuAD
(English, German, Spanish, Russian), asked of their own collections, of an eighth of these, and of the other sets'
collections, where nothing answers. Each of the three sources weighs as much, and so do answerable and other questions.
A passage counts as answering where its document is judged relevant. `docs/searching.md` has the calibration on the
other half.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final, Self

from sourcebook.contract.fusion import FIRST_DEPTH
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.leg import LegResult

RELEVANT_FROM: Final = 0.06
"""Relevance from which a passage is relevant. Among the questions that were fitted on, 96 % of those of other sets and
.6 % of the answerable ones find no such passage."""
DECIDING: Final = 5
"""First candidates of a ranked list, which decide whether anything relevant was found."""
_LARGEST_STANDING: Final = 8.0
"""Largest `standing`: among few entries one may stand out by any number of deviations."""
_LEAST_DEVIATION: Final = 1e-3
"""Standard deviation of cosines, at least: passages that are alike have none."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Quantities by which a passage is judged; those of a leg that found nothing, or was not asked, are None."""

    cosine: float | None = None
    """Cosine similarity, -1..1, under a model whose cosines the coefficients were fitted on."""
    standing: float | None = None
    """Cosine similarity under another model: standard deviations above the mean of the leg's first 100 entries."""
    cosine_margin: float | None = None
    """Cosine similarity less that of the best other passage; above 0 for the nearest passage alone."""
    matched: float | None = None
    """Share of the query's idf, 0..1, that the passage's words have."""
    keyword_margin: float | None = None
    """BM25 score less that of the best other passage, divided by the query's idf, -1..1; None where no passage holds a
    word of the query."""
    language_weight: float = 1.0
    """Weight 0..1 of the cosine; see `query_vectors.language_weight`."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Coefficients of a logistic regression; a quantity without one is not used."""

    intercept: float
    cosine: float = 0.0
    standing: float = 0.0
    cosine_margin: float = 0.0
    matched: float = 0.0
    keyword_margin: float = 0.0

    def terms(self, evidence: Evidence) -> dict[str, float]:
        """Return what each quantity that is used adds to the log-odds, the intercept first."""
        added = {
            "cosine": self.cosine * (evidence.cosine or 0.0),
            "standing": self.standing * (evidence.standing or 0.0),
            "cosine_margin": self.cosine_margin * (evidence.cosine_margin or 0.0),
            "matched": self.matched * (evidence.matched or 0.0),
            "keyword_margin": self.keyword_margin * (evidence.keyword_margin or 0.0),
        }
        return {"intercept": self.intercept} | {name: value for name, value in added.items() if getattr(self, name)}

    def log_odds(self, evidence: Evidence) -> float:
        """Return the natural logarithm of the odds."""
        return sum(self.terms(evidence).values())


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """Coefficients for each combination of legs."""

    both: Coefficients
    """Words, and cosines of all-MiniLM-L6-v2."""
    words: Coefficients
    """Words alone."""
    vectors: Coefficients
    """Cosines of all-MiniLM-L6-v2 alone."""
    other_both: Coefficients
    """Words, and cosines of a model on which nothing was fitted."""
    other_vectors: Coefficients
    """Cosines of a model on which nothing was fitted."""

    def relevance(self, evidence: Evidence) -> float:
        """Return the probability 0..1 that a passage answers.

        In languages that the embedding model has learnt in part, the log-odds with and without the cosine are weighted
        by the language weight. Where no passage holds a word of the query, its words tell the passages not apart, and
        count where the model has not learnt the language alone.
        """
        parts = self._parts(evidence)
        if not parts:
            return 0.0
        log_odds = sum(weight * coefficients.log_odds(evidence) for weight, coefficients in parts)
        return 1 / (1 + math.exp(-log_odds))

    def explain(self, evidence: Evidence) -> str:
        """Return the relevance with what each quantity adds to the log-odds."""
        added: dict[str, float] = {}
        for weight, coefficients in self._parts(evidence):
            for name, value in coefficients.terms(evidence).items():
                added[name] = added.get(name, 0.0) + weight * value
        quantities = [(name, getattr(evidence, name, None), value) for name, value in added.items()]
        terms = [
            f"{name.replace('_', ' ')}{'' if known is None else f' {known:.2f}'} adds {value:+.2f}"
            for name, known, value in quantities
        ]
        return f"{self.relevance(evidence):.2f}: {', '.join(terms) or 'no leg found the passage'}"

    def _parts(self, evidence: Evidence) -> list[tuple[float, Coefficients]]:
        """Return the coefficients that apply, each with its weight."""
        has_words = evidence.matched is not None
        is_known = evidence.cosine is not None
        if not is_known and evidence.standing is None:
            return [(1.0, self.words)] if has_words else []
        if not has_words:
            return [(1.0, self.vectors if is_known else self.other_vectors)]
        if evidence.keyword_margin is None:
            with_cosine = self.vectors if is_known else self.other_vectors
        else:
            with_cosine = self.both if is_known else self.other_both
        return [(evidence.language_weight, with_cosine), (1 - evidence.language_weight, self.words)]


FITTED: Final = RelevanceModel(
    both=Coefficients(-5.54, cosine=6.85, matched=3.05, cosine_margin=3.41, keyword_margin=1.92),
    words=Coefficients(-3.9, matched=7.2, keyword_margin=2.49),
    vectors=Coefficients(-5.56, cosine=8.89, cosine_margin=6.39),
    other_both=Coefficients(-5.37, standing=0.7, matched=6.17, keyword_margin=1.11),
    other_vectors=Coefficients(-3.73, standing=0.8, cosine_margin=1.69),
)


@dataclass(frozen=True, slots=True)
class Background:
    """Findings of the legs of one search, by which each of its passages is judged."""

    cosines: tuple[float, ...] = ()
    """Cosine similarities of the first 100 entries of the vector leg, best first; empty without the leg."""
    is_known: bool = False
    """Whether the coefficients were fitted on the cosines of the embedding model."""
    language_weight: float = 1.0
    weights: Mapping[str, float] = field(default_factory=dict)
    """idf times occurrences of each word of the query, its stand-ins in place of one that has some; empty without the
    keyword leg."""
    scores: tuple[float, ...] = ()
    """BM25 scores of the two best entries of the keyword leg."""

    @classmethod
    def of(cls, legs: Mapping[str, LegResult], models: Collection[str]) -> Self:
        """Return the background of a search.

        Args:
            legs: results by the name of the leg, `vector` or `keyword`.
            models: identities of the embedding models that the search covers.
        """
        vector, keyword = legs.get("vector", LegResult()), legs.get("keyword", LegResult())
        terms = [term for term in keyword.terms or () if term.expands is None]
        stood_for = {term.stands_for for term in terms}
        return cls(
            tuple(cosine for _, cosine in vector.ranking[:FIRST_DEPTH]),
            all(model.partition(":")[0] == BUNDLED_NAME for model in models),
            vector.language_weight,
            {term.token: term.weight for term in terms if term.token not in stood_for},
            tuple(score for _, score in keyword.ranking[:2]),
        )

    @property
    def can_refuse(self) -> bool:
        """Whether it tells a search that found nothing relevant.

        Cosines of an unknown model alone do not, nor words alone: a passage with a word of a keyword search is what was
        asked for. Where no passage holds a word of the query, as with a question in another language, the cosines of an
        unknown model are alone.
        """
        return bool(self.cosines) and (self.is_known or bool(self.scores))

    @property
    def idf(self) -> float:
        """Sum of the query's idf."""
        return sum(self.weights.values())

    def evidence(self, candidate: Candidate, matched: Collection[str] = ()) -> Evidence:
        """Return what is known of a candidate of the search.

        Args:
            candidate: with its scores in both legs.
            matched: words of the query that it holds.
        """
        cosine = standing = cosine_margin = share = keyword_margin = None
        if self.cosines:
            # A passage outside of the leg's entries is at most as near as the last of them.
            near = self.cosines[-1] if candidate.vector_score is None else candidate.vector_score
            cosine_margin = _margin(near, self.cosines, alone=near)
            if self.is_known:
                cosine = near
            else:
                mean = fmean(self.cosines)
                deviation = math.sqrt(fmean((each - mean) ** 2 for each in self.cosines))
                standing = min((near - mean) / max(deviation, _LEAST_DEVIATION), _LARGEST_STANDING)
        idf = self.idf
        if idf > 0:
            share = sum(self.weights.get(token, 0.0) for token in matched) / idf
            if self.scores:
                margin = _margin(candidate.keyword_score or 0.0, self.scores, alone=0.0) / idf
                keyword_margin = max(-1.0, min(margin, 1.0))
        return Evidence(cosine, standing, cosine_margin, share, keyword_margin, self.language_weight)


def _margin(score: float, best: tuple[float, ...], *, alone: float) -> float:
    """Return a score less the best other one, which is `alone` where the leg has no other entry."""
    if score < best[0]:
        return score - best[0]
    return score - (best[1] if len(best) > 1 else alone)
