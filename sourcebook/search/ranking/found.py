"""Candidates that count as found: the one rule by which pages list, and totals and facets count.

A passage is found that holds a word of the query, in whichever form, or whose relevance reaches the bound. Vector
search has a nearest passage for any query, so that without this rule a word that no document holds would have found
the whole collection. The first five passages count in any case: they are shown, or withheld together. With
`min_relevance` the caller says what is found; where the relevance cannot tell, all that is ranked is.
"""

from collections.abc import Sequence
from typing import Final

from sourcebook.search.ranking.evidence import evidence_for, judged
from sourcebook.search.ranking.fusion import Candidate, RankedList
from sourcebook.search.ranking.passages import holders_of_words
from sourcebook.search.ranking.relevance import FITTED, RELEVANT_FROM, Background
from sourcebook.search.ranking.state import SearchState

_ALWAYS: Final = 5
"""Passages that count whatever their relevance is."""


class FoundRule:
    """The rule for the candidates of one ranked list, which extends."""

    def __init__(self, state: SearchState, ranked: RankedList) -> None:
        """Prepare; nothing is asked."""
        self._state = state
        self._ranked = ranked
        has_less = any(each.awaits_vectors for each in state.scope.generations)  # to show for passages without vectors
        self._may_apply = state.request.min_relevance is None and not has_less

    def found(self, known: int) -> list[Candidate]:
        """Return the found ones of the candidates that the latest extension appended.

        Args:
            known: number of candidates before it.
        """
        new = self._ranked.candidates[known:]
        if not self._applies:
            return new
        keyword = self._ranked.legs.get("keyword")
        holding = {chunk for chunk, _ in keyword.ranking} if keyword else set()
        others = [each for each in new[max(_ALWAYS - known, 0) :] if each.chunk_id not in holding]
        others = [each for each in others if each.keyword_rank is None]
        evidence = judged(self._state, self._ranked, others, held={}) if others else {}
        far = [each for each in others if FITTED.relevance(evidence[each.chunk_id]) < RELEVANT_FROM]
        holders = set() if self._knows_every_holder else self._holders(far)
        absent = {each.chunk_id for each in far} - holders
        return [each for each in new if each.chunk_id not in absent]

    @property
    def is_complete(self) -> bool:
        """Whether no extension of the list can find a passage."""
        if not (self._applies and self._knows_every_holder):
            return False
        vector = self._ranked.legs.get("vector")
        if vector is None or not vector.ranking:
            return False
        chunk, cosine = vector.ranking[-1]
        last = Candidate(chunk, 0.0, 0, vector_rank=len(vector.ranking), vector_score=cosine)
        keyword = self._ranked.legs.get("keyword")
        holds = keyword is not None and any(chunk == other for other, _ in keyword.ranking)
        evidence = judged(self._state, self._ranked, [last], held=None if holds else {})[chunk]
        return FITTED.relevance(evidence) < RELEVANT_FROM

    @property
    def _applies(self) -> bool:
        """Whether the relevance tells, as it does not by cosines of an unknown model alone."""
        ranked = self._ranked
        return self._may_apply and not ranked.has_named_files and Background.of(ranked.first_legs).can_refuse

    @property
    def _knows_every_holder(self) -> bool:
        """Whether the keyword leg has listed every passage with a word of the query."""
        keyword = self._ranked.legs.get("keyword")
        return keyword is None or len(keyword.ranking) < self._ranked.depth

    def _holders(self, candidates: Sequence[Candidate]) -> set[int]:
        """Return the ids of those candidates that hold a word of the query."""
        legs = {id(found): found for found in map(self._ranked.legs_of, candidates)}
        keyword = [found["keyword"] for found in legs.values() if "keyword" in found]
        tokens = dict.fromkeys(term.token for leg in keyword for term in leg.terms or ())
        chunks = [each.chunk_id for each in candidates]
        return holders_of_words(self._state.held.connection, self._state.scope.ids, tokens, chunks)


def counted(state: SearchState) -> Sequence[Candidate]:
    """Return the candidates that totals and facets count, after the page was judged."""
    least = state.request.min_relevance
    if least is None:
        return () if state.page.nothing_relevant else state.candidates
    if least == 0:
        return state.candidates
    evidence = evidence_for(state, state.candidates)
    return [each for each in state.candidates if FITTED.relevance(evidence[each.chunk_id]) >= least]
