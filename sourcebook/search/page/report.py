"""Last step of a search: its results, what is explained of them, and the entry of the query log."""

import time

from sourcebook.contract.explanation import Explanation
from sourcebook.contract.search_results import SearchResults
from sourcebook.indexing.filling import find_filling
from sourcebook.search.expansion import explained
from sourcebook.search.query_redaction import redacted
from sourcebook.search.ranking.fusion import described
from sourcebook.search.ranking.state import SearchState


def report(state: SearchState) -> SearchResults:
    """Return the results of a search that has read its page."""
    request, scope, page = state.request, state.scope, state.page
    is_told = scope.filling and scope.audiences is None  # its numbers are of documents that principals may not see
    filling = tuple(find_filling(state.held.connection, scope.filling).values()) if is_told else ()
    took_ms = round((time.perf_counter() - state.started) * 1000, 3)
    if scope.logged and request.log and not (request.offset or request.generation):
        best = max((each.relevance for each in state.results), default=None)
        state.resources.query_log.add(scope.logged, redacted(request.query), len(state.results), best)
    return SearchResults(
        state.results,
        took_ms,
        {name: leg.dropped for name, leg in state.found.ranked.legs.items() if leg.dropped is not None},
        len(state.counted),
        request.offset,
        page.next_offset,
        tuple(note.removesuffix(".") for note in (*state.notes, *map(str, filling))),
        _explanation(state) if request.explain else None,
        tuple(scope.ids),
        state.suggestion,
        page.nothing_relevant,
        page.withheld,
        state.facets,
        state.linked,
        filling=filling,
    )


def _explanation(state: SearchState) -> Explanation:
    """Return input, output and time of each part, with the plans of the legs' statements."""
    legs, weights, fusion = state.found.ranked.legs, state.found.ranked.weights, state.found.fusion
    return Explanation(
        query=str(state.query),
        legs=tuple(leg.explain(state.held.connection, name) for name, leg in legs.items()),
        fusion=described(fusion, weights) if len(legs) > 1 else "none: one leg alone",
        weights={name: round(weight.value, 3) for name, weight in weights.items()},
        depth=state.found.ranked.depth,
        embedding_ms=legs["vector"].embedding_ms if "vector" in legs else None,
        rerank_ms=state.rerank_ms,
        reading_ms=round(state.reading_ms, 3),
        relevance=state.page.explanations,
        strategy=str(state.strategy) if state.request.strategy == "auto" else None,
        expansions=tuple(explained(state.held.connection, state.expansions)),
        defaults=state.defaults,
    )
