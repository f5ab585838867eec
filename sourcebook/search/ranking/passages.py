"""Rows of passages by chunk id, as far as a step needs them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.database.queries import queries
from sourcebook.model.passage_part import embedding_text
from sourcebook.search.scope import array_of

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class HeldWords:
    """Words of the query that a passage holds."""

    words: Sequence[str]
    """Their lexemes."""
    document_id: int
    ordinal: int | None = None
    """Number of the passage in its document; None where it was not read."""


def read_documents(connection: Connection, generations: Sequence[int], chunks: Sequence[int]) -> dict[int, int]:
    """Return the document id of each chunk that is published in one of the generations."""
    parameters = {"generations": list(generations), "chunks": array_of(chunks)}
    return dict(connection.execute(queries["candidate_documents"], parameters).fetchall())


def read_texts(connection: Connection, generations: Sequence[int], chunks: Sequence[int]) -> dict[int, str]:
    """Return the text of each published chunk as the embedding model reads it: title, headings, empty line, passage."""
    parameters = {"generations": list(generations), "chunks": array_of(chunks)}
    rows = connection.execute(queries["passages_to_rerank"], parameters)
    return {chunk: embedding_text(context, text) for chunk, context, text in rows}


def read_rows(
    connection: Connection, statement: str, generations: Sequence[int], chunks: Sequence[int], **values: object
) -> dict[int, Row]:
    """Return the row that a named statement has for each published chunk, by its id."""
    parameters = {"generations": list(generations), "chunks": array_of(chunks), **values}
    with connection.cursor(row_factory=dict_row) as cursor:
        return {row["chunk_id"]: row for row in cursor.execute(queries[statement], parameters).fetchall()}


def matched_words(
    connection: Connection, generations: Sequence[int], tokens: Iterable[str], chunks: Sequence[int]
) -> dict[int, HeldWords]:
    """Return the words of the query that each passage holds, by chunk id; nothing for a query without words.

    Args:
        connection: in autocommit mode.
        generations: ids of the generations that are searched.
        tokens: lexemes of the query.
        chunks: ids of the passages.
    """
    known = list(tokens)
    if not known or not chunks:
        return {}
    parameters = {"tokens": known, "generations": list(generations), "chunks": array_of(chunks)}
    rows = connection.execute(queries["matched_words"], parameters)
    return {chunk: HeldWords(words, document) for chunk, words, document in rows}


def holders_of_words(
    connection: Connection, generations: Sequence[int], tokens: Iterable[str], chunks: Sequence[int]
) -> set[int]:
    """Return the ids of those passages that hold any word of the query; see `matched_words`."""
    known = list(tokens)
    if not known or not chunks:
        return set()
    parameters = {"tokens": known, "generations": list(generations), "chunks": array_of(chunks)}
    return {chunk for (chunk,) in connection.execute(queries["holders_of_words"], parameters).fetchall()}
