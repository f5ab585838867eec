"""Fifth step of a search: the passages of its page, with snippets, redacted, related, and what is said beside them."""

import time
from typing import Final

from psycopg import Connection

from sourcebook.contract.search_results import Facets
from sourcebook.database.queries import queries
from sourcebook.search.page.best_part import with_snippet
from sourcebook.search.page.nearest_sentence import nearest_sentences
from sourcebook.search.page.read_results import read_results
from sourcebook.search.page.relations import known_of, with_relations, with_versions
from sourcebook.search.ranking.filter_conditions import condition_of
from sourcebook.search.ranking.highlights import find_highlights
from sourcebook.search.ranking.passages import read_documents
from sourcebook.search.ranking.state import SearchState
from sourcebook.search.ranking.suggestion import suggested_query
from sourcebook.search.scope import check_generations
from sourcebook.search.versions import possible_versions

_FACETS: Final = ("collection", "kind", "type", "media_type", "language", "tag", "year")
"""Names of the facets."""
_MOST_VALUES: Final = 100
"""Values of a facet, at most: the most frequent ones."""


def dress_page(state: SearchState) -> None:
    """Read the passages of the page, mark, redact and relate them, and fill what the results say beside them."""
    started = time.perf_counter()
    connection, request, scope = state.held.connection, state.request, state.scope
    state.results = read_results(connection, scope.ids, state.page.candidates, state.neighbours, state.rows)
    _add_snippets(state)
    state.suggestion = _suggestion(state)
    redactions = {} if request.unredacted else scope.redactions
    if redactions:
        from sourcebook.search.page.redaction import redact_results, redact_suggestion

        state.results = redact_results(connection, state.results, redactions)
        state.suggestion = redact_suggestion(state.suggestion, redactions)
    possible = possible_versions(connection, known_of(state.results))
    supersedes = any(row["is_explicit"] for row in possible)
    state.results, state.linked = with_relations(
        connection, state.results, request.expand, redactions, supersedes=supersedes
    )
    state.linked = tuple(each for each in state.linked if each.document_id not in scope.hidden)
    filtered = condition_of(request.filters, scope)
    state.results = with_versions(connection, state.results, scope.ids, filtered, redactions, possible)
    check_generations(connection, request.generation)  # none was deleted meanwhile
    if request.facets:
        chunks = [candidate.chunk_id for candidate in state.counted]
        state.facets = _facets(connection, set(read_documents(connection, scope.ids, chunks).values()))
    state.reading_ms = (time.perf_counter() - started) * 1000
    state.observation.part("reading", state.reading_ms)


def _add_snippets(state: SearchState) -> None:
    """Give the results their highlights and snippets."""
    results, request, text = state.results, state.request, state.query.text
    known = {state.rows[chunk]["text"]: marked for chunk, marked in state.highlights.items()}
    missing = [result.text for result in results if result.text not in known]
    known |= zip(missing, find_highlights(state.held.connection, state.scope, state.terms, missing), strict=True)
    wordless = {number: result for number, result in enumerate(results) if not known[result.text]}
    nearest = {}
    if wordless and request.snippets == "meaning" and state.embeds_query:
        nearest = nearest_sentences(state.resources.vectors, state.scope, text, wordless)
    state.results = tuple(
        with_snippet(result, known[result.text], nearest.get(number)) for number, result in enumerate(results)
    )


def _suggestion(state: SearchState) -> str | None:
    """Return the query with known words in place of unknown ones; the keyword leg has looked it up already."""
    legs = state.found.ranked.first_legs
    if "keyword" in legs:
        return legs["keyword"].suggestion
    if state.request.typos:
        return None
    return suggested_query(state.held.connection, state.scope, state.query.text, state.terms)


def _facets(connection: Connection, documents: set[int]) -> Facets:
    """Return documents counted by collection, kind, type, media type, language, tag and year."""
    counted: dict[str, dict[str, int]] = {name: {} for name in _FACETS}
    rows = connection.execute(queries["facets"], {"documents": list(documents), "most": _MOST_VALUES})
    for name, value, number in rows:
        counted[name][value] = number
    return counted
