"""Evidence for the relevance of candidates: the words of the query that they hold, and their vectors."""

from collections.abc import Mapping, Sequence
from typing import Final

from sourcebook.embedding.weights import MULTILINGUAL_NAME
from sourcebook.search.query_terms import QueryTerm, with_expanded
from sourcebook.search.ranking.diversity import read_vectors
from sourcebook.search.ranking.fusion import Candidate, RankedList
from sourcebook.search.ranking.passages import HeldWords, matched_words
from sourcebook.search.ranking.relevance import DECIDING, FITTED, Background, Evidence, name_of
from sourcebook.search.ranking.state import SearchState

LARGEST_RISE: Final = 0.1
"""Difference by which the relevance of a passage may be above that of one that stands before it."""


def evidence_for(state: SearchState, candidates: Sequence[Candidate]) -> dict[int, Evidence]:
    """Return the evidence for each candidate by chunk id; what is read stays in the state.

    Each is judged by the results of the legs in which its list has it.
    """
    new = [each for each in candidates if each.chunk_id not in state.evidence]
    if new:
        state.evidence |= judged(state, state.found.ranked, new, state.terms)
    return {each.chunk_id: state.evidence[each.chunk_id] for each in candidates}


def judged(
    state: SearchState,
    ranked: RankedList,
    candidates: Sequence[Candidate],
    terms: Sequence[QueryTerm] = (),
    held: Mapping[int, HeldWords] | None = None,
) -> dict[int, Evidence]:
    """Return the evidence for candidates of a list by chunk id, each by the results of the legs in which it stands.

    Args:
        state: with the words that are known of passages.
        ranked: the list.
        candidates: some of it.
        terms: of the query with those that expand it, for a search without a keyword leg.
        held: words of the query that the candidates hold, where they are known; one without an entry holds none.
    """
    connection = state.held.connection
    legs = {each.chunk_id: ranked.legs_of(each) for each in candidates}
    different = {id(found): found for found in (ranked.first_legs, *legs.values())}
    made = {number: Background.of(found, terms) for number, found in different.items()}
    if held is None:
        missing = [each.chunk_id for each in candidates if each.chunk_id not in state.held_words]
        words = {*made[id(ranked.first_legs)].weights, *(term.token for term in terms if term.expands)}
        held = {**state.held_words, **matched_words(connection, state.scope.ids, words, missing)}
    models = {each.id: each.model for each in state.scope.generations}
    only = models[state.scope.ids[0]] if len(set(models.values())) == 1 else None
    needs_all = only is None or name_of(only) == MULTILINGUAL_NAME
    unknown = [each.chunk_id for each in candidates if needs_all or each.vector_score is None]
    vectors = read_vectors(connection, models, unknown) if unknown and ranked.first_legs.get("vector") else {}
    evidence = {}
    for each in candidates:
        stored = vectors.get(each.chunk_id)
        evidence[each.chunk_id] = made[id(legs[each.chunk_id])].evidence(
            each,
            with_expanded(held[each.chunk_id].words, terms) if each.chunk_id in held else (),
            stored.model if stored else only,
            stored.vector if stored else None,
        )
    return evidence


def by_relevance(state: SearchState, candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates, the first ones in an order in which the relevance rises by .1 at most.

    They are the same for each page. A candidate moves before the first one that is that much less relevant.
    """
    first = [each for each in candidates[:DECIDING] if each.depth == candidates[0].depth]
    evidence = evidence_for(state, first)
    relevances = [FITTED.relevance(evidence[each.chunk_id]) for each in first]
    return [first[place] for place in bounded_order(relevances)] + candidates[len(first) :]


def bounded_order(relevances: Sequence[float], rise: float = LARGEST_RISE) -> list[int]:
    """Return the places of passages in an order in which no relevance is more than `rise` above an earlier one.

    Args:
        relevances: in the order of the ranking.
        rise: the largest difference.
    """
    order: list[int] = []
    for place, relevance in enumerate(relevances):
        worse = (at for at, other in enumerate(order) if relevances[other] < relevance - rise)
        order.insert(next(worse, len(order)), place)
    return order
