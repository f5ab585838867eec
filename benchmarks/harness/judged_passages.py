"""Passages that a search finds for judged questions, with what is known of each and whether it answers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from psycopg import Connection

from benchmarks.corpora.asked_questions import ANSWERABLE, Asked, Kind, is_reported
from benchmarks.harness.calibration import Numbers, fit_logistic
from sourcebook.contract.fusion import Fusion
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.ranking.diversity import read_vectors
from sourcebook.search.ranking.evidence import bounded_order
from sourcebook.search.ranking.fusion import Candidate, RankedList
from sourcebook.search.ranking.keyword_leg import KeywordLeg
from sourcebook.search.ranking.leg import LegResult
from sourcebook.search.ranking.passages import matched_words
from sourcebook.search.ranking.relevance import (
    DECIDING,
    Background,
    Coefficients,
    Evidence,
    RelevanceModel,
    VectorCoefficients,
    name_of,
)
from sourcebook.search.ranking.vector_leg import VectorLeg
from sourcebook.search.scope import SearchScope, find_scope

_CANDIDATES = 10
_DOCUMENTS = """
SELECT entry.chunk_id, regexp_replace(document.uri, '^.*/|[.]md$', '', 'g')
FROM search_entry entry JOIN document ON document.id = entry.document_id
WHERE entry.generation_id = ANY(%s) AND entry.chunk_id = ANY(%s)
"""
_FITTED_ON = 5
"""First passages of a search that coefficients are fitted on."""
_QUANTITIES = {
    "both": ("cosine", "matched", "together", "language"),
    "words": ("matched",),
    "vectors": ("cosine", "language"),
    "other_both": ("standing", "matched"),
    "other_vectors": ("standing",),
}
LEGS = tuple(_QUANTITIES)
"""Combinations of legs; `other`: under a model that is not calibrated."""


@dataclass(frozen=True)
class JudgedPassage:
    """The best passage of a document."""

    evidence: Mapping[str, Evidence]
    """Evidence for each of `LEGS`."""
    answers: bool
    """Whether its document is judged relevant."""


@dataclass(frozen=True)
class JudgedSearch:
    """Passages that a search for one question found."""

    model: str
    """Name of the embedding model."""
    collection: str
    source: str
    kind: Kind
    is_reported: bool
    """Whether figures are reported on it; the coefficients are fitted on the others."""
    passages: Sequence[JudgedPassage]
    """The best passages of the first documents."""
    deciding: Sequence[Mapping[str, Evidence]]
    """Evidence of the first passages for each of `LEGS`."""

    def is_refused(self, model: RelevanceModel, legs: str, least: float) -> bool:
        """Whether no passage is relevant."""
        return max((model.relevance(each[legs]) for each in self.deciding), default=0.0) < least

    def has_rise(self, model: RelevanceModel) -> bool:
        """Whether the relevance rises by more than .1 down the first passages in the order of the fusion."""
        relevances = [model.relevance(each["both"]) for each in self.deciding]
        return bounded_order(relevances) != list(range(len(relevances)))


def judged_searches(connection: Connection, vectors: QueryVectors, asked: Asked) -> Iterator[JudgedSearch]:
    """Ask the questions, and yield what each found."""
    scope = find_scope(connection, [asked.collection])
    for question, text in asked.questions.items():
        legs = {
            "vector": VectorLeg(vectors, scope, text, None).find(connection, Fusion().depth),
            "keyword": KeywordLeg(scope, text, None).find(connection, Fusion().depth),
        }
        ranked = RankedList(lambda _, found=legs: found, Fusion())  # type: ignore[misc]
        ranked.extend()
        first = ranked.candidates[:_CANDIDATES]
        evidence = _evidence(connection, scope, legs, first)
        documents: dict[int, str] = dict(
            connection.execute(_DOCUMENTS, [scope.ids, [each.chunk_id for each in first]]).fetchall()
        )
        best: dict[str, Mapping[str, Evidence]] = {}
        for candidate, known in zip(first, evidence, strict=True):
            best.setdefault(documents[candidate.chunk_id], known)
        judged = asked.relevant.get(question, {})
        passages = [JudgedPassage(known, document in judged) for document, known in best.items()]
        yield JudgedSearch(
            name_of(scope.generations[0].model),
            asked.collection,
            asked.source,
            asked.kind,
            is_reported(question),
            passages[:_FITTED_ON],
            evidence[:DECIDING],
        )


def _evidence(
    connection: Connection, scope: SearchScope, legs: Mapping[str, LegResult], candidates: Sequence[Candidate]
) -> list[dict[str, Evidence]]:
    """Return the evidence of each candidate for each of `LEGS`."""
    both = Background.of(legs)
    backgrounds = {
        "both": both,
        "words": replace(both, cosines=()),
        "vectors": replace(both, weights={}),
        "other_both": both,
        "other_vectors": replace(both, weights={}),
    }
    chunks = [each.chunk_id for each in candidates]
    held = matched_words(connection, scope.ids, both.weights, chunks)
    matched = {chunk: each.words for chunk, each in held.items()}
    vectors = read_vectors(connection, {each.id: each.model for each in scope.generations}, chunks)
    return [
        {
            name: each.evidence(
                candidate,
                matched.get(candidate.chunk_id, ()),
                None if name.startswith("other") else vectors[candidate.chunk_id].model,
                vectors[candidate.chunk_id].vector,
            )
            for name, each in backgrounds.items()
        }
        for candidate in candidates
    ]


def weights_of(searches: Sequence[JudgedSearch]) -> list[float]:
    """Return a weight for each search: sources weigh alike, and in each the answerable and the other questions."""
    groups = [(each.model, each.source, each.kind in ANSWERABLE) for each in searches]
    counts = Counter(groups)
    return [len(groups) / (len(counts) * counts[group]) for group in groups]


def fit_model(searches: Sequence[JudgedSearch]) -> RelevanceModel:
    """Return the coefficients that explain best which passages answer, under each model of the searches.

    Those of words, and of a model that is not calibrated, are fitted on the searches of the default model.
    """
    found = {
        model: _coefficients([each for each in searches if each.model == model])
        for model in dict.fromkeys(each.model for each in searches)
    }
    default = found.get(BUNDLED_NAME) or next(iter(found.values()))
    return RelevanceModel(
        words=default["words"],
        calibrated={model: VectorCoefficients(each["both"], each["vectors"]) for model, each in found.items()},
        other=VectorCoefficients(default["other_both"], default["other_vectors"]),
    )


def coefficients_of(model: RelevanceModel, name: str) -> dict[str, Coefficients]:
    """Return the coefficients for each of `LEGS` under an embedding model."""
    calibrated = model.calibrated[name]
    return {
        "both": calibrated.both,
        "words": model.words,
        "vectors": calibrated.alone,
        "other_both": model.other.both,
        "other_vectors": model.other.alone,
    }


def _coefficients(searches: Sequence[JudgedSearch]) -> dict[str, Coefficients]:
    rows = [
        (passage, weight)
        for each, weight in zip(searches, weights_of(searches), strict=True)
        for passage in each.passages
    ]
    answers = np.array([float(passage.answers) for passage, _ in rows])
    return {legs: _fit(legs, [row[0].evidence[legs] for row in rows], answers, rows) for legs in LEGS}


def _fit(
    legs: str, evidence: Sequence[Evidence], answers: Numbers, rows: Sequence[tuple[JudgedPassage, float]]
) -> Coefficients:
    names = _QUANTITIES[legs]
    alone = [Coefficients(0.0, **{name: 1.0}) for name in names]
    quantities = np.array([[one.log_odds(each) for one in alone] for each in evidence])
    uses_cosine = legs != "words"
    weights = np.array(
        [
            weight * (each.language_weight if uses_cosine else 1.0)
            for each, (_, weight) in zip(evidence, rows, strict=True)
        ]
    )
    intercept, *others = (round(float(value), 2) for value in fit_logistic(quantities, answers, weights))
    return Coefficients(intercept, **dict(zip(names, others, strict=True)))
