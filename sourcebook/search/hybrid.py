"""Run a search: both legs at once on two connections, one fusion, one look-up of what to show."""

import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from psycopg.rows import dict_row

from sourcebook.database.database import Database
from sourcebook.database.queries import queries
from sourcebook.search.fusion import reciprocal_rank_fusion
from sourcebook.search.legs import keyword_leg, vector_leg
from sourcebook.search.request import SearchRequest
from sourcebook.search.results import SearchResult, SearchResults
from sourcebook.search.scope import Scope, ScopedGeneration, find_scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EmbedQuery = Callable[[ScopedGeneration, str], "NDArray[np.float32]"]
"""Return the vector of a query, shape (dimensions,), by the model of a generation."""


def run_search(
    database: Database, executor: Executor, embed_query: EmbedQuery, request: SearchRequest
) -> SearchResults:
    """Search, and say which leg had nothing to say."""
    started = time.perf_counter()
    with database.connection() as connection:
        scope = find_scope(connection, request)
    dropped: dict[str, str] = {}
    rankings: dict[str, list[int]] = {}
    if scope.generations:
        keyword = None
        if request.mode != "vector":
            keyword = executor.submit(_keyword_ranking, database, scope, request)
        if request.mode != "keyword":
            rankings["vector"] = _vector_ranking(database, embed_query, scope, request)
        if keyword is not None:
            found = keyword.result()
            if found is None:
                dropped["keyword"] = "the query has no word to look for beside stop words"
            elif not found:
                dropped["keyword"] = "no passage holds a word of the query"
            rankings["keyword"] = found or []
    results = _results(database, scope, rankings, request)
    return SearchResults(results, round((time.perf_counter() - started) * 1000, 3), dropped)


def _vector_ranking(database: Database, embed_query: EmbedQuery, scope: Scope, request: SearchRequest) -> list[int]:
    nearest: list[tuple[int, float]] = []
    for generations in scope.by_model().values():
        vector = embed_query(generations[0], request.query)
        with database.connection() as connection:
            nearest += vector_leg(connection, generations, vector, request.depth)
    # Distances of different models are not of one scale, but each is a cosine: the order across is a fair guess.
    return [chunk for chunk, _ in sorted(nearest, key=lambda pair: (pair[1], pair[0]))[: request.depth]]


def _keyword_ranking(database: Database, scope: Scope, request: SearchRequest) -> list[int] | None:
    with database.connection() as connection:
        return keyword_leg(connection, scope, request.query, request.depth)


def _results(
    database: Database, scope: Scope, rankings: dict[str, list[int]], request: SearchRequest
) -> tuple[SearchResult, ...]:
    fused = reciprocal_rank_fusion(rankings)[: request.limit]
    if not fused:
        return ()
    ranks = {leg: {chunk: rank for rank, chunk in enumerate(chunks, start=1)} for leg, chunks in rankings.items()}
    with database.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(queries["results"], {"generations": scope.ids, "chunks": [chunk for chunk, _ in fused]})
        rows = {row.pop("chunk_id"): row for row in cursor}
    return tuple(
        SearchResult(
            **{**rows[chunk], "heading_path": tuple(rows[chunk]["heading_path"])},
            score=score,
            vector_rank=ranks.get("vector", {}).get(chunk),
            keyword_rank=ranks.get("keyword", {}).get(chunk),
        )
        for chunk, score in fused
        if chunk in rows  # a passage may be replaced between ranking and reading
    )
