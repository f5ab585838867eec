"""Relevance of a passage: the probability that it answers the query, by logistic regression.

The score of a leg ranks the passages of one search and says nothing across searches: the best passage has a score also
where none answers. The relevance is a property of the query and the passage: the cosine similarity of their vectors,
and the share of the query's idf that the passage's words have, by the document frequencies of the whole collection.
What else was found, and what a filter leaves, does not change it.

`python -m benchmarks relevance` fits the coefficients, and reports on sources that nothing was fitted on; decision 0088
has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import fmean
from typing import TYPE_CHECKING, Final, Self

from sourcebook.contract.fusion import FIRST_DEPTH
from sourcebook.embedding.weights import BUNDLED_NAME, MULTILINGUAL_NAME
from sourcebook.search.query_terms import QueryTerm, idf
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.language_free import can_compare, similarity
from sourcebook.search.ranking.leg import LegResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RELEVANT_FROM: Final = 0.08
"""Relevance from which a passage is relevant."""
DECIDING: Final = 10
"""First candidates of a ranked list, which decide whether anything relevant was found."""
_LARGEST_STANDING: Final = 8.0
"""Largest `standing`: among few entries one may stand out by any number of deviations."""
_ONE_LANGUAGE: Final = 0.3
"""Similarity of languages below which those of query and passage differ: of 1,800 pairs of two languages 90 % are below
.29, of those of one language 90 % above .19."""
_LEAST_DEVIATION: Final = 1e-3
"""Standard deviation of cosines, at least: passages that are alike have none."""
_FURTHER, _HOLDING = 20, 0.2
"""Passages that are thought beside those of the collections, and how many of them hold a word, whichever it is: that
none of four passages holds a word says little."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Quantities by which a passage is judged; those of a leg that was not asked are None."""

    cosine: float | None = None
    """Cosine similarity of the vectors of query and passage, -1..1; under multilingual-e5-small without the directions
    of languages."""
    language: float | None = None
    """Similarity of the languages of query and passage, -1..1, under multilingual-e5-small."""
    standing: float | None = None
    """Under a model that is not calibrated: standard deviations above the mean of the leg's first 100 entries."""
    matched: float | None = None
    """Share of the query's idf, 0..1, that the passage's words have."""
    language_weight: float = 1.0
    """Weight 0..1 of the cosine; see `query_vectors.language_weight`."""
    has_known_words: bool = True
    """Whether any passage of the collections holds a word of the query, so that words tell passages apart."""
    model: str = BUNDLED_NAME
    """Name of the embedding model."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Coefficients of a logistic regression; a quantity without one is not used."""

    intercept: float
    cosine: float = 0.0
    standing: float = 0.0
    matched: float = 0.0
    together: float = 0.0
    """Coefficient of cosine times matched."""
    language: float = 0.0

    def terms(self, evidence: Evidence) -> dict[str, float]:
        """Return what each quantity that is used adds to the log-odds, the intercept first."""
        added = {
            "cosine": self.cosine * (evidence.cosine or 0.0),
            "standing": self.standing * (evidence.standing or 0.0),
            "matched": self.matched * (evidence.matched or 0.0),
            "together": self.together * (evidence.cosine or 0.0) * (evidence.matched or 0.0),
            "language": self.language * (evidence.language or 0.0),
        }
        return {"intercept": self.intercept} | {name: value for name, value in added.items() if getattr(self, name)}

    def log_odds(self, evidence: Evidence) -> float:
        """Return the natural logarithm of the odds, the sum of `terms`; a search asks for some 200."""
        cosine, matched = evidence.cosine or 0.0, evidence.matched or 0.0
        return (
            self.intercept
            + self.cosine * cosine
            + self.standing * (evidence.standing or 0.0)
            + self.matched * matched
            + self.together * cosine * matched
            + self.language * (evidence.language or 0.0)
        )


@dataclass(frozen=True, slots=True)
class VectorCoefficients:
    """Coefficients under one embedding model."""

    both: Coefficients
    """With words."""
    alone: Coefficients
    """Without words, or where no passage holds a word of the query."""


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """Coefficients for each combination of legs."""

    words: Coefficients
    """Words alone."""
    calibrated: Mapping[str, VectorCoefficients]
    """By the name of the embedding model: on its cosines they were fitted."""
    other: VectorCoefficients
    """Under any other model."""

    def relevance(self, evidence: Evidence) -> float:
        """Return the probability 0..1 that a passage answers.

        In languages that the embedding model has learnt in part, the log-odds with and without the cosine are weighted
        by the language weight. Of a passage in another language than the query's, words that it lacks count half. Where
        no passage holds a word of the query, its words tell the passages not apart, and count half, too, under a model
        that knows the languages; under another one they count where it has not learnt the language alone.
        """
        parts = self._parts(evidence)
        if not parts:
            return 0.0
        log_odds = 0.0
        for weight, coefficients in parts:
            if weight:
                log_odds += weight * coefficients.log_odds(evidence)
        return 1 / (1 + math.exp(-log_odds))

    def explain(self, evidence: Evidence) -> str:
        """Return the relevance with what each quantity adds to the log-odds."""
        added: dict[str, float] = {}
        for weight, coefficients in self._parts(evidence):
            for name, value in coefficients.terms(evidence).items():
                added[name] = added.get(name, 0.0) + weight * value
        quantities = [(name, getattr(evidence, name, None), value) for name, value in added.items()]
        terms = [
            f"{name}{'' if known is None else f' {known:.2f}'} adds {value:+.2f}" for name, known, value in quantities
        ]
        return f"{self.relevance(evidence):.2f}: {', '.join(terms) or 'no leg found the passage'}"

    def _parts(self, evidence: Evidence) -> list[tuple[float, Coefficients]]:
        """Return the coefficients that apply, each with its weight."""
        has_words = evidence.matched is not None
        if evidence.cosine is None:
            return [(1.0, self.words)] if has_words else []
        under = self.calibrated.get(evidence.model, self.other)
        if not has_words:
            return [(1.0, under.alone)]
        weight = evidence.language_weight
        counts_half = evidence.language is not None and (
            evidence.language < _ONE_LANGUAGE or not evidence.has_known_words
        )
        if counts_half and under.alone.log_odds(evidence) > under.both.log_odds(evidence):
            return [(weight / 2, under.both), (weight / 2, under.alone), (1 - weight, self.words)]
        if not evidence.has_known_words and evidence.language is None:
            return [(weight, under.alone), (1 - weight, self.words)]
        return [(weight, under.both), (1 - weight, self.words)]


FITTED: Final = RelevanceModel(
    words=Coefficients(-2.94, matched=4.35),
    calibrated={
        BUNDLED_NAME: VectorCoefficients(
            both=Coefficients(-6.32, cosine=9.09, matched=4.49, together=-5.24),
            alone=Coefficients(-5.33, cosine=8.59),
        ),
        MULTILINGUAL_NAME: VectorCoefficients(
            both=Coefficients(-6.92, cosine=13.44, matched=5.65, together=-9.24, language=-0.96),
            alone=Coefficients(-4.87, cosine=9.85, language=-0.69),
        ),
    },
    other=VectorCoefficients(
        both=Coefficients(-4.61, standing=0.66, matched=3.65), alone=Coefficients(-3.46, standing=0.74)
    ),
)


@dataclass(frozen=True, slots=True)
class Background:
    """Findings of the legs of one search, by which each of its passages is judged."""

    cosines: tuple[float, ...] = ()
    """Cosine similarities of the first 100 entries of the vector leg, best first; empty without the leg."""
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    """The query's vector by the identity of the model."""
    language_weight: float = 1.0
    weights: Mapping[str, float] = field(default_factory=dict)
    """idf among further passages times occurrences of each word of the query, its stand-ins in place of one that has
    some; empty without the keyword leg."""
    has_known_words: bool = False
    """Whether any passage of the collections holds a word of the query."""
    idf: float = 0.0
    """Sum of the weights."""

    @classmethod
    def of(cls, legs: Mapping[str, LegResult], terms: Sequence[QueryTerm] = ()) -> Self:
        """Return the background of a search.

        Args:
            legs: results by the name of the leg, `vector` or `keyword`.
            terms: of the query, for a search without a keyword leg.
        """
        vector = legs.get("vector", LegResult())
        terms = (legs["keyword"].terms or ()) if "keyword" in legs else terms
        terms = [term for term in terms if term.expands is None]
        stood_for = {term.stands_for for term in terms}
        weights = {term.token: _telling(term) for term in terms if term.token not in stood_for}
        return cls(
            tuple(cosine for _, cosine in vector.ranking[:FIRST_DEPTH]),
            vector.vectors,
            vector.language_weight,
            weights,
            any(term.ids for term in terms),
            sum(weights.values()),
        )

    @property
    def can_refuse(self) -> bool:
        """Whether it tells a search that found nothing relevant.

        Cosines of a model that is not calibrated alone do not, nor words alone: a passage with a word of a keyword
        search is what was asked for. Where no passage holds a word of the query, as with a question in another
        language, the cosines of such a model are alone.
        """
        is_calibrated = all(name_of(model) in FITTED.calibrated for model in self.vectors)
        return bool(self.cosines) and (is_calibrated or self.has_known_words)

    def evidence(
        self,
        candidate: Candidate,
        matched: Collection[str] = (),
        model: str | None = None,
        vector: NDArray[np.float32] | None = None,
    ) -> Evidence:
        """Return what is known of a candidate of the search.

        Args:
            candidate: with its score in the vector leg.
            matched: words of the query that it holds.
            model: identity of the embedding model of its generation; None without a vector.
            vector: the passage's vector.
        """
        name = name_of(model or "")
        cosine = standing = language = share = None
        if self.cosines:
            asked = self.vectors.get(model or "")
            pair = None if asked is None or vector is None else (asked, vector)
            if pair and name == MULTILINGUAL_NAME and can_compare(*pair):
                cosine, language = similarity(*pair)
            else:
                # A passage outside of the leg's entries is at most as near as the last of them.
                cosine = candidate.vector_score
                if cosine is None:
                    cosine = float(pair[0] @ pair[1]) if pair else self.cosines[-1]
                name = name if name in FITTED.calibrated and name != MULTILINGUAL_NAME else ""
                standing = None if name else self._standing(cosine)
        if self.idf > 0:
            share = sum(self.weights.get(token, 0.0) for token in matched) / self.idf
        return Evidence(cosine, language, standing, share, self.language_weight, self.has_known_words, name)

    def _standing(self, cosine: float) -> float:
        mean, deviation = _mean_and_deviation(self.cosines)
        return min((cosine - mean) / max(deviation, _LEAST_DEVIATION), _LARGEST_STANDING)


def _telling(term: QueryTerm) -> float:
    """Return the weight of a word as among some further passages, so that few passages weigh it much as many do."""
    if not term.all_entries:
        return term.weight
    others = idf(term.entries + _HOLDING, term.all_entries + _FURTHER)
    return term.weight * others / idf(term.entries, term.all_entries)


@lru_cache(maxsize=64)
def _mean_and_deviation(cosines: tuple[float, ...]) -> tuple[float, float]:
    mean = fmean(cosines)
    return mean, math.sqrt(fmean((each - mean) ** 2 for each in cosines))


def name_of(model: str) -> str:
    """Return the name of a model by its identity, `name:digest`."""
    return model.partition(":")[0]
