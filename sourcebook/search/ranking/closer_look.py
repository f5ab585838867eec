"""A closer look at the first passages before a search says that nothing is relevant: at their sentences.

The vector of a passage is about all that it says. Where it speaks of several things, as a short transcript, a notice or
a list of rules does, the answer to a question is one or two of its sentences, and the cosine of the whole is low.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from sourcebook.embedding.weights import MULTILINGUAL_NAME
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.ranking.evidence import evidence_for
from sourcebook.search.ranking.language_free import can_compare, similarity
from sourcebook.search.ranking.leg import LegResult
from sourcebook.search.ranking.passages import read_texts
from sourcebook.search.ranking.relevance import DECIDING, FITTED, RELEVANT_FROM, Background, name_of
from sourcebook.search.ranking.state import SearchState
from sourcebook.search.scope import ScopedGeneration
from sourcebook.search.sentences import joined, sentence_spans, sentence_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOOKED_AT: Final = 3
"""First passages whose sentences are embedded, at most."""
_LEAST: Final = 0.015
"""Relevance of a passage as a whole from which its sentences are embedded: below, none of them answers."""
_NEARER: Final = 0.1
"""Difference by which the nearest of many sentences is nearer than a passage that answers as well."""


def can_refuse(state: SearchState) -> bool:
    """Return whether a search may say that nothing is relevant.

    A passage of a named file, or one that fulfils a required phrase or title, is what was asked for, whatever its
    relevance; passages without vectors have less to show.
    """
    ranked = state.found.ranked
    is_demanded = bool(state.query.phrases or state.query.titles) or ranked.has_named_files
    has_less = any(each.awaits_vectors for each in state.scope.generations)
    return Background.of(ranked.first_legs).can_refuse and not has_less and not is_demanded


def look_closer(state: SearchState) -> None:
    """Judge the first passages by their nearest sentences, where none of the deciding ones is relevant as a whole."""
    ranked = state.found.ranked
    deciding = ranked.candidates[:DECIDING]
    if not can_refuse(state):
        return
    evidence = evidence_for(state, deciding)
    if any(FITTED.relevance(known) >= RELEVANT_FROM for known in evidence.values()):
        return
    looked_at = deciding[:LOOKED_AT]
    first = {each.chunk_id: each for each in looked_at if FITTED.relevance(evidence[each.chunk_id]) >= _LEAST}
    if not first:
        return
    for model, generations in state.scope.by_model().items():
        texts = read_texts(state.held.connection, [each.id for each in generations], list(first))
        legs = {chunk: ranked.legs_of(first[chunk]).get("vector", LegResult()) for chunk in texts}
        queries = {chunk: leg.vectors[model] for chunk, leg in legs.items() if model in leg.vectors}
        for chunk, cosine in nearest_cosines(state.resources.vectors, generations[0], queries, texts).items():
            known = evidence[chunk]
            if known.cosine is not None and known.model in FITTED.calibrated:
                state.evidence[chunk] = replace(known, cosine=max(known.cosine, cosine))


def nearest_cosines(
    vectors: QueryVectors,
    generation: ScopedGeneration,
    queries: Mapping[int, "NDArray[np.float32]"],
    texts: Mapping[int, str],
) -> dict[int, float]:
    """Return by chunk id how near two neighbouring sentences of a passage are to the query, as a passage would be.

    Args:
        vectors: embeds the sentences.
        generation: with the model.
        queries: vector of the query by chunk id.
        texts: passage by chunk id, from `read_texts`; one of two sentences or fewer is judged as a whole.
    """
    pairs = {chunk: list(pairwise(joined(sentence_spans(texts[chunk])))) for chunk in queries}
    pairs = {chunk: here for chunk, here in pairs.items() if len(here) > 1}
    windows = [(chunk, texts[chunk][start:end]) for chunk, here in pairs.items() for (start, _), (_, end) in here]
    rows = sentence_vectors(vectors, generation, [text for _, text in windows])
    found: dict[int, float] = {}
    for (chunk, _), row in zip(windows, () if rows is None else rows, strict=rows is not None):
        query = queries[chunk]
        is_multilingual = name_of(generation.model) == MULTILINGUAL_NAME and can_compare(query, row)
        cosine = similarity(query, row).cosine if is_multilingual else float(query @ row)
        found[chunk] = max(found.get(chunk, -1.0), cosine - _NEARER)
    return found
