"""A search from the checked request to its page of results: six steps over one state."""

from dataclasses import replace

from sourcebook.contract.search import SearchRequest
from sourcebook.contract.search_results import SearchResults
from sourcebook.errors import DatabaseConnectionLostError, DatabaseDeadlockError
from sourcebook.search.expansion import find_expansions
from sourcebook.search.long_query import condensed, is_long
from sourcebook.search.observation import SearchObservation
from sourcebook.search.page.dress import dress_page
from sourcebook.search.page.report import report
from sourcebook.search.query_syntax import parse_query
from sourcebook.search.query_terms import expanded_text
from sourcebook.search.ranking.find_candidates import find_candidates
from sourcebook.search.ranking.found import counted
from sourcebook.search.ranking.judge import judge_page
from sourcebook.search.ranking.order import order_candidates
from sourcebook.search.ranking.required_terms import options_in_passages
from sourcebook.search.ranking.state import SearchResources, SearchState
from sourcebook.search.scope import find_scope


def run_search(resources: SearchResources, request: SearchRequest) -> SearchResults:
    """Return the page of results that a request asks for.

    A search checks out at most three connections: one that it holds, a second one for the keyword leg where one is
    free, and the first one again after reranking. A search that loads an embedding model checks out its own again
    afterwards, and no second one. It never waits for a connection or loads a model while it holds a connection.

    A search that loses its connection, or that the database ends because of a deadlock with a process that replaces or
    deletes tables, is run once more: it only reads.
    """
    with SearchObservation(request) as observation:
        try:
            results = _run(resources, request, observation)
        except (DatabaseConnectionLostError, DatabaseDeadlockError):
            results = _run(resources, request, observation)
        return observation.found(results)


def _run(resources: SearchResources, request: SearchRequest, observation: SearchObservation) -> SearchResults:
    state = SearchState(resources, request, observation, resources.connections.hold())
    if state.embeds_query and not is_long(state.query.text):
        resources.vectors.begin(resources.executor, request.collections, state.query.text)
    with state.held:
        _open_scope(state)
        find_candidates(state)
        order_candidates(state)
        judge_page(state)
        state.counted = counted(state)
        dress_page(state)
        return report(state)


def _open_scope(state: SearchState) -> None:
    """Find the generations that a search covers, and load the models that it needs.

    Providers are asked for the vector of the query here, too: no connection is held while they answer.
    """
    vectors, request = state.resources.vectors, state.request
    while True:
        state.scope = find_scope(state.held.connection, request.collections, request.generation)
        if state.query.excluded and request.literal is None and state.scope.generations:
            options = options_in_passages(state.held.connection, state.scope, state.query)
            state.query = parse_query(request.query, options=options)
        _condense(state)
        state.expansions = find_expansions(state.held.connection, state.scope, state.query)
        text = expanded_text(state.query.text, state.expansions)
        if state.embeds_query:
            state.scope = state.scope.without_vectors(vectors.awaits_export)
        models = state.scope.by_model().values() if state.embeds_query else ()
        missing = [each[0] for each in models if not vectors.is_ready(each[0], text)]
        if not missing:
            break
        with state.held.given_back():
            for generation in missing:
                vectors.prepare(generation, text)
        state.has_loaded = True  # another generation may have become active in the meantime
    state.take_defaults()
    if state.embeds_query:
        vectors.remember(request.collections, state.scope.generations)


def _condense(state: SearchState) -> None:
    """Replace the text of a long query by what is rare in it, which a note says; its operators stay."""
    query = state.query
    text = query.text if query.has_operators else state.request.query  # with its lines, which the parser joins
    if state.is_condensed or not is_long(text) or not state.scope.generations:
        return
    state.is_condensed = True
    found = condensed(state.held.connection, state.scope, text)
    state.query = replace(query, text=found.text)
    state.notes.append(found.note)
