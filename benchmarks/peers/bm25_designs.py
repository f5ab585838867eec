"""Designs of BM25 in PostgreSQL: the one in use, and its alternatives."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from psycopg import Connection, sql

from benchmarks.corpora.text_collection import TextShelf
from benchmarks.peers.sql_rankings import any_of, every_entry_scored, rank_by_full_text, sparse_vector
from sourcebook.search.query_terms import QueryTerm
from sourcebook.search.ranking.keyword_leg import keyword_ranking
from sourcebook.search.ranking.leg import LegRanking

DEPTH = 100
_POSTINGS_OF_AN_ARRAY = 128

_MAKE_POSTINGS = """
CREATE TABLE {table} (lexeme_id integer, chunk_id bigint, weight real);
INSERT INTO {table}
SELECT lexeme_id, chunk_id, weight
FROM keyword_postings({generation}, ARRAY(SELECT chunk_id FROM search_entry WHERE generation_id = {generation}))
ORDER BY lexeme_id, chunk_id;
CREATE UNIQUE INDEX ON {table} (lexeme_id, chunk_id) INCLUDE (weight);
"""
_RANK_BY_POSTINGS = """
SELECT chunk_id, sum(weight * idf) AS score
FROM unnest(%(lexemes)s::integer[], %(idfs)s::real[]) AS term (lexeme_id, idf) JOIN {table} USING (lexeme_id)
GROUP BY chunk_id ORDER BY score DESC, chunk_id LIMIT %(depth)s
"""
_MAKE_ARRAYS = """
CREATE TABLE {table} (lexeme_id integer, block bigint, chunk_ids bigint[], weights real[]);
ALTER TABLE {table} ALTER chunk_ids SET STORAGE EXTERNAL, ALTER weights SET STORAGE EXTERNAL;
INSERT INTO {table}
SELECT lexeme_id, block, array_agg(chunk_id ORDER BY chunk_id), array_agg(weight ORDER BY chunk_id)
FROM (
    SELECT *, (row_number() OVER (PARTITION BY lexeme_id ORDER BY chunk_id) - 1) / {length} AS block
    FROM keyword_postings({generation}, ARRAY(SELECT chunk_id FROM search_entry WHERE generation_id = {generation}))
) posting
GROUP BY lexeme_id, block ORDER BY lexeme_id, block;
CREATE UNIQUE INDEX ON {table} (lexeme_id, block);
"""
_RANK_BY_ARRAYS = """
SELECT chunk_id, sum(score) AS score
FROM (
    SELECT unnest(chunk_ids) AS chunk_id, unnest(weights) * idf AS score
    FROM unnest(%(lexemes)s::integer[], %(idfs)s::real[]) AS term (lexeme_id, idf) JOIN {table} USING (lexeme_id)
) posting
GROUP BY chunk_id ORDER BY score DESC, chunk_id LIMIT %(depth)s
"""
_RANK_CANDIDATES_OF_GIN = """
SELECT chunk_id, -(weights <#> %(query)s::sparsevec) AS score
FROM keyword_entry
WHERE generation_id = %(generation)s AND chunk_id IN (
    SELECT chunk_id FROM search_entry WHERE generation_id = %(generation)s AND lexemes @@ %(words)s::tsquery)
ORDER BY weights <#> %(query)s::sparsevec, chunk_id
LIMIT %(depth)s
"""


@dataclass(frozen=True)
class Design:
    """A design with its tables built."""

    name: str
    rank: Callable[[Sequence[QueryTerm]], LegRanking]
    """Function that returns the best 100 (chunk id, score)."""
    bytes: float
    """Bytes a passage, indexes included."""
    seconds: float | None = None
    """Seconds of building; None where it was not measured alone."""
    is_bm25: bool = True


def designs(connection: Connection, shelf: TextShelf) -> Iterator[Design]:
    """Yield the design in use, then its alternatives; each is built when the iterator reaches it."""
    number, scope, of = shelf.generation.id, shelf.scope(connection), shelf.bytes
    tsvectors = _bytes_of(connection, f"search_entry_{number}_lexemes", shelf)
    yield Design(
        "blocks of 8,000 entries, added up as dense vectors (ours)",
        lambda terms: keyword_ranking(connection, scope, terms, DEPTH),
        of["keyword_entry"] + of["keyword_block"] + of["lexeme"],
        shelf.seconds["keyword blocks"],
    )
    yield Design(
        "sparsevec, every entry scored",
        lambda terms: every_entry_scored(connection, number, terms, DEPTH),
        of["keyword_entry"] + of["lexeme"],
    )
    yield Design(
        "sparsevec, candidates from GIN",
        partial(_rank_candidates_of_gin, connection, number),
        of["keyword_entry"] + of["lexeme"] + tsvectors,
    )
    yield _stored(connection, shelf, "postings table", "posting", _MAKE_POSTINGS, _RANK_BY_POSTINGS)
    arrays = f"arrays of {_POSTINGS_OF_AN_ARRAY} postings"
    yield _stored(connection, shelf, arrays, "posting_array", _MAKE_ARRAYS, _RANK_BY_ARRAYS)
    yield Design(
        "tsvector, ts_rank", lambda terms: rank_by_full_text(connection, number, terms, DEPTH), tsvectors, is_bm25=False
    )


def _stored(connection: Connection, shelf: TextShelf, name: str, table: str, make: str, ask: str) -> Design:
    """Build a table of postings."""
    started = time.perf_counter()
    table = f"{table}_{shelf.generation.id}"
    parts = {
        "table": sql.Identifier(table),
        "generation": sql.Literal(shelf.generation.id),
        "length": sql.Literal(_POSTINGS_OF_AN_ARRAY),
    }
    connection.execute(sql.SQL(make).format(**parts))
    connection.execute(sql.SQL("VACUUM ANALYZE {table}").format(**parts))
    seconds = time.perf_counter() - started
    rank = partial(_rank_by_postings, connection, shelf.generation.id, sql.SQL(ask).format(**parts))
    return Design(name, rank, _bytes_of(connection, table, shelf) + shelf.bytes["lexeme"], seconds)


def _rank_by_postings(
    connection: Connection, generation: int, statement: sql.Composed, terms: Sequence[QueryTerm]
) -> LegRanking:
    known = [term for term in terms if generation in term.ids]
    parameters = {
        "lexemes": [term.ids[generation] for term in known],
        "idfs": [term.weight for term in known],
        "depth": DEPTH,
    }
    return connection.execute(statement, parameters).fetchall()


def _rank_candidates_of_gin(connection: Connection, generation: int, terms: Sequence[QueryTerm]) -> LegRanking:
    parameters = {
        "query": sparse_vector(generation, terms),
        "words": any_of(terms),
        "generation": generation,
        "depth": DEPTH,
    }
    return connection.execute(_RANK_CANDIDATES_OF_GIN, parameters).fetchall()


def _bytes_of(connection: Connection, name: str, shelf: TextShelf) -> float:
    row = connection.execute("SELECT pg_total_relation_size(%s::regclass)", [name]).fetchone()
    return float(row[0]) / shelf.entries if row else 0.0
