"""The index of a collection against what its folder says, without the product's own code."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

_MARK = re.compile(r"\bm\d+n\d+x\b")
_ENTRIES = """
    SELECT document.uri, array_agg(chunk.ordinal ORDER BY chunk.ordinal),
           string_agg(chunk.text, E'\n' ORDER BY chunk.ordinal),
           count(*) FILTER (WHERE embedding.vector IS NULL OR entry.vector::text <> embedding.vector::text)
    FROM search_entry entry
    JOIN generation ON generation.id = entry.generation_id
    JOIN collection ON collection.active_generation_id = generation.id
    LEFT JOIN chunk ON chunk.id = entry.chunk_id
    LEFT JOIN document ON document.id = entry.document_id AND document.id = chunk.document_id
    LEFT JOIN embedding ON embedding.model = generation.model AND embedding.text_hash = chunk.embedding_hash
    WHERE collection.name = %s GROUP BY document.uri
"""
# An entry is of its document's published version when its text stands where the chunk says in that version's text.
_TORN = """
    SELECT document.uri
    FROM indexed_document indexed
    JOIN document ON document.id = indexed.document_id
    LEFT JOIN search_entry entry USING (generation_id, document_id)
    LEFT JOIN chunk ON chunk.id = entry.chunk_id
    LEFT JOIN LATERAL (
        SELECT markdown FROM parsed_content WHERE content_hash = indexed.published_hash LIMIT 1) parsed ON true
    GROUP BY document.uri, indexed.generation_id, indexed.document_id
    HAVING NOT coalesce(
               bool_and(substr(parsed.markdown, chunk.start_char + 1, chunk.end_char - chunk.start_char)
                        = right(chunk.text, chunk.end_char - chunk.start_char))
               FILTER (WHERE entry.chunk_id IS NOT NULL), true)
        OR coalesce(max(chunk.ordinal) FILTER (WHERE entry.chunk_id IS NOT NULL), -1) + 1 <> count(entry.chunk_id)
        OR (indexed.published_hash IS NULL AND count(entry.chunk_id) > 0)
        OR (indexed.published_hash = indexed.input_hash AND indexed.published_config = indexed.config_hash
            AND count(entry.chunk_id) <> indexed.chunk_count)
"""
_FREQUENCIES = """
    SELECT lexeme, count(*) FROM search_entry CROSS JOIN LATERAL unnest(lexemes)
    WHERE generation_id = %s GROUP BY lexeme
"""
_NUMBERS = """
    SELECT generation.entry_count, generation.total_length,
           (SELECT count(*) FROM search_entry WHERE generation_id = generation.id),
           (SELECT coalesce(sum(cardinality(positions)), 0)
            FROM search_entry CROSS JOIN LATERAL unnest(lexemes) WHERE generation_id = generation.id),
           (SELECT count(*) FROM chunk JOIN document ON document.id = chunk.document_id AND document.removed_at IS NULL
            WHERE chunk.generation_id = generation.id),
           (SELECT count(*) FROM keyword_entry WHERE generation_id = generation.id),
           (SELECT coalesce(sum(entries), 0) FROM text_configuration WHERE generation_id = generation.id)
    FROM generation WHERE id = %s
"""

Connection = psycopg.Connection[tuple[Any, ...]]


def torn_documents(connection: Connection) -> list[str]:
    """Return the documents that are searchable in part, or in parts of two versions; none at any moment."""
    return [f"{uri} is torn" for (uri,) in connection.execute(_TORN)]


def differences(connection: Connection, collection: str, folder: Path) -> Iterator[str]:
    """Yield each difference between the files of a folder and the index, as a sentence.

    Args:
        connection: to the knowledge base.
        collection: name of the collection of the folder.
        folder: the folder, without other folders in it.
    """
    files = {path.as_uri(): path.read_bytes() for path in folder.iterdir()}
    live: dict[str, bytes] = dict(
        connection.execute(
            "SELECT uri, content_sha256 FROM document WHERE collection = %s AND removed_at IS NULL", [collection]
        ).fetchall()
    )
    yield from (f"{uri} is no document" for uri in files.keys() - live.keys())
    yield from (f"{uri} is a document without a file" for uri in live.keys() - files.keys())
    for uri in files.keys() & live.keys():
        if live[uri] != hashlib.sha256(files[uri]).digest():
            yield f"{uri} is a document of other bytes"
    yield from _differing_texts(connection, collection, {uri: content.decode() for uri, content in files.items()})
    (generation,) = connection.execute(
        "SELECT active_generation_id FROM collection WHERE name = %s", [collection]
    ).fetchone() or (None,)
    yield from _differing_numbers(connection, generation) if generation is not None else ("there is no generation",)


def _differing_texts(connection: Connection, collection: str, files: dict[str, str]) -> Iterator[str]:
    """Yield the files whose passages lack a paragraph, or have words of another version."""
    found = {uri: row for uri, *row in connection.execute(_ENTRIES, [collection])}
    yield from (f"{uri} has entries, and is no file" for uri in found.keys() - files.keys())
    for uri, content in files.items():
        ordinals, text, wrong_vectors = found.get(uri, ([], "", 0))
        lacking = [line for line in content.splitlines() if line and not line.startswith("#") and line not in text]
        if lacking:
            yield f"{uri} lacks {lacking[0]!r} in its entries"
        if set(_MARK.findall(text)) != set(_MARK.findall(content)):
            yield f"{uri} has entries of another version"
        if ordinals != list(range(len(ordinals))):
            yield f"{uri} has the passages {ordinals}"
        if wrong_vectors:
            yield f"{uri} has {wrong_vectors} vectors of other texts"


def _differing_numbers(connection: Connection, generation: int) -> Iterator[str]:
    """Yield the kept numbers of the keyword leg that differ from those of the entries."""
    row = connection.execute(_NUMBERS, [generation]).fetchone()
    entry_count, total_length, entries, length, chunks, keyword_entries, by_configuration = row or (None,) * 7
    numbers = {"entry_count": entry_count, "chunks": chunks, "keyword entries": keyword_entries,
               "entries by configuration": by_configuration}  # fmt: skip
    yield from (f"{name} is {number}, of {entries} entries" for name, number in numbers.items() if number != entries)
    if total_length != length:
        yield f"the total length is {total_length}, of {length} lexemes"
    counted: Counter[str] = Counter(dict(connection.execute(_FREQUENCIES, [generation]).fetchall()))
    kept: Counter[str] = Counter(
        dict(connection.execute("SELECT token, entries FROM lexeme WHERE generation_id = %s", [generation]))
    )
    wrong = {token for token in counted.keys() | kept.keys() if counted[token] != kept[token]}
    if wrong:
        yield f"the document frequencies of {len(wrong)} lexemes are wrong, such as that of {min(wrong)!r}"
