"""Third step of a search: candidates word for word first, reranked, grouped by document, diversified, by relations."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sourcebook.contract.reranking import Reranking
from sourcebook.search.query_terms import query_terms, with_expansions, with_stand_ins
from sourcebook.search.ranking.closer_look import look_closer
from sourcebook.search.ranking.curation import REORDERED, by_boost
from sourcebook.search.ranking.diversity import diversify, read_vectors
from sourcebook.search.ranking.duplicates import fold
from sourcebook.search.ranking.evidence import by_relevance
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.merged_list import MergedList
from sourcebook.search.ranking.passages import read_documents, read_texts
from sourcebook.search.ranking.reranking.reranker import Reranker
from sourcebook.search.ranking.state import SearchState
from sourcebook.search.ranking.superseding import behind_successors
from sourcebook.search.ranking.verbatim_order import read_first, verbatim_first


def order_candidates(state: SearchState) -> None:
    """Put the candidates in the order of the pages, as far as the request asks for it."""
    started = time.perf_counter()
    request, legs = state.request, state.found.ranked.legs
    candidates, state.strategy = state.found.candidates, state.found.strategy
    if state.found.identities:
        candidates = fold(candidates, state.found.identities, by_document=bool(request.group_by))
    if request.rerank and request.strategy == "auto":
        state.strategy = state.strategy.with_reranking(candidates)
    reranking = request.rerank if state.strategy.reranks else None
    terms = legs["keyword"].terms if "keyword" in legs else None
    if terms is None:
        words = query_terms(state.held.connection, state.scope, state.query.text)
        words = with_expansions(state.held.connection, state.scope, words, state.expansions)
        terms = tuple(with_stand_ins(state.held.connection, state.scope, words, typos=request.typos))
    state.terms = terms
    is_by_words = "keyword" in legs and not (reranking or request.diversity)  # a search by vectors keeps its order
    if is_by_words:
        read_first(state, candidates)
    look_closer(state)
    if is_by_words:
        # Parts, named files and frames of a trace take turns; in a language that the model has not learnt the fusion
        # knows more.
        is_merged = isinstance(state.found.ranked, MergedList)
        if candidates and "vector" in legs and legs["vector"].language_weight == 1 and not is_merged:
            candidates = by_relevance(state, candidates)
        candidates = verbatim_first(state, candidates)
    if reranking and candidates:
        candidates = _reranked(state, reranking, candidates)
    if request.group_by:
        candidates = group_by_document(candidates, state.found.documents)
    if request.diversity and candidates:
        models = {generation.id: generation.model for generation in state.scope.generations}
        vectors = read_vectors(state.held.connection, models, [candidate.chunk_id for candidate in candidates])
        candidates = diversify(candidates, vectors, request.diversity, request.offset + state.limit + 1)
    if state.scope.boosts and candidates:
        chunks = [candidate.chunk_id for candidate in candidates[:REORDERED]]
        documents = read_documents(state.held.connection, state.scope.ids, chunks)
        candidates, moved = by_boost(candidates, documents, state.scope.boosts)
        if moved:
            state.notes.append(f"documents that stand elsewhere, as somebody has boosted them: {moved}")
    if request.superseded == "behind":
        candidates = behind_successors(state.held.connection, state.scope, candidates)
    state.candidates = candidates
    state.observation.part("ordering", (time.perf_counter() - started) * 1000)


def _reranked(state: SearchState, reranking: Reranking, candidates: list[Candidate]) -> list[Candidate]:
    chunks = [candidate.chunk_id for candidate in candidates[: reranking.top]]
    texts = read_texts(state.held.connection, state.scope.ids, chunks)
    with state.held.given_back():
        collection = state.scope.generations[0].collection  # of several the first, as with the embedding of a query
        reranked = rerank(state.resources.reranker, reranking, state.query.text, candidates, texts, collection)
    state.rerank_ms = reranked.ms
    state.notes += [reranked.note] if reranked.note else []
    return reranked.candidates


@dataclass(frozen=True, slots=True)
class Reranked:
    """Candidates in the order of a reranking model: the reranked ones stand before the others."""

    candidates: list[Candidate]
    ms: float
    """Milliseconds that reranking took."""
    note: str | None = None
    """Reason why the candidates are not reranked."""


def rerank(
    reranker: Reranker,
    reranking: Reranking,
    query: str,
    candidates: Sequence[Candidate],
    texts: Mapping[int, str],
    collection: str = "",
) -> Reranked:
    """Return the first `reranking.top` candidates by the scores of a cross encoder, then the others.

    Args:
        reranker: keeps the model.
        reranking: model, number of candidates and time limit.
        query: the query's text.
        candidates: best first; at least `reranking.top` where there are so many, whatever page is wanted: otherwise
            pages are cut from different orders.
        texts: by chunk id, from `read_texts`. A candidate without a text has left the index, and is left out.
        collection: the collection that the use of the model counts for.

    Raises:
        ModelError: as `Reranker.score`. A timeout is no error.
    """
    first = [candidate for candidate in candidates[: reranking.top] if candidate.chunk_id in texts]
    if not first:
        return Reranked(list(candidates), 0.0)
    scored = reranker.score(reranking, query, [texts[candidate.chunk_id] for candidate in first], collection)
    if scored.scores is None:
        return Reranked(
            list(candidates),
            scored.ms,
            f"reranking {len(first)} passages with {reranking.model} timed out after {reranking.timeout:g} seconds: "
            "they stand in the order of the fusion",
        )
    by_score = sorted(zip(first, scored.scores, strict=True), key=lambda pair: -pair[1])
    reranked = [candidate._replace(rerank_score=score) for candidate, score in by_score]
    return Reranked(reranked + list(candidates[reranking.top :]), scored.ms)


def group_by_document(candidates: Sequence[Candidate], documents: Mapping[int, int]) -> list[Candidate]:
    """Return the best candidate of each document with the document's others in `also`, documents in their order.

    `also` has the candidates of the same or a smaller depth than the best one: an extension of the ranked list, which a
    later page may need, changes no group of an earlier page.

    Args:
        candidates: best first.
        documents: document id by chunk id; a candidate without one has left the index, and is left out.
    """
    groups: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        document = documents.get(candidate.chunk_id)
        if document is not None:
            groups.setdefault(document, []).append(candidate)
    return [
        best._replace(also=tuple(other for other in others if other.depth <= best.depth))
        for best, *others in groups.values()
    ]
