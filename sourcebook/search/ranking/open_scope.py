"""First step of a search: the generations that it covers, with their embedding models loaded."""

from sourcebook.search.ranking.state import SearchState
from sourcebook.search.scope import find_scope


def open_scope(state: SearchState) -> None:
    """Find the generations that a search covers, and load the models that it needs.

    Providers are asked for the vector of the query here, too: no connection is held while they answer.
    """
    vectors, request, text = state.resources.vectors, state.request, state.query.text
    while True:
        state.scope = find_scope(state.connection, request.collections, request.generation)
        models = state.scope.by_model().values() if state.embeds_query else ()
        missing = [each[0] for each in models if not vectors.is_ready(each[0], text)]
        if not missing:
            break
        with state.held.given_back():
            for generation in missing:
                vectors.prepare(generation, text)
        state.has_loaded = True  # another generation may have become active in the meantime
    if state.embeds_query:
        vectors.remember(request.collections, state.scope.generations)
