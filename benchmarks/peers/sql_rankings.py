"""Other rankings in SQL: `ts_rank` over the same words, and BM25 of every entry without an index."""

from collections.abc import Sequence

from psycopg import Connection

from sourcebook.search.query_terms import QueryTerm
from sourcebook.search.ranking.leg import LegRanking

_BY_FULL_TEXT_RANK = """
SELECT chunk_id, ts_rank('{1, 1, 1, 1}', lexemes, %(query)s::tsquery, 1) AS score
FROM search_entry
WHERE generation_id = %(generation)s AND lexemes @@ %(query)s::tsquery
ORDER BY score DESC, chunk_id
LIMIT %(depth)s
"""


def rank_by_full_text(connection: Connection, generation: int, terms: Sequence[QueryTerm], depth: int) -> LegRanking:
    """Return (chunk id, ts_rank) of the entries with any of the words, best first."""
    parameters = {"generation": generation, "query": any_of(terms), "depth": depth}
    return connection.execute(_BY_FULL_TEXT_RANK, parameters).fetchall()


def any_of(terms: Sequence[QueryTerm]) -> str:
    """Return the text of a tsquery for any of the words that are indexed."""
    tokens = (term.token.replace("\\", "\\\\").replace("'", "''") for term in terms if term.ids)
    return " | ".join(f"'{token}'" for token in tokens)


_EVERY_ENTRY = """
SELECT chunk_id, -(weights <#> %(query)s::sparsevec) AS score
FROM keyword_entry
WHERE generation_id = %(generation)s AND (weights <#> %(query)s::sparsevec) < 0
ORDER BY weights <#> %(query)s::sparsevec, chunk_id
LIMIT %(depth)s
"""


def every_entry_scored(connection: Connection, generation: int, terms: Sequence[QueryTerm], depth: int) -> LegRanking:
    """Return (chunk id, score), best first; equal scores in the order of their ids."""
    parameters = {"generation": generation, "query": sparse_vector(generation, terms), "depth": depth}
    return connection.execute(_EVERY_ENTRY, parameters).fetchall()


def sparse_vector(generation: int, terms: Sequence[QueryTerm]) -> str:
    """Return a query as the text of a sparsevec: the weight of each lexeme that the generation has."""
    weights = {term.ids[generation]: term.weight for term in terms if generation in term.ids}
    return "{" + ",".join(f"{number}:{weight:.7g}" for number, weight in weights.items()) + "}/1000000000"
