"""Documents in great number whose permissions change: their words are those of a filled collection, without vectors."""

import time
from collections.abc import Mapping

from psycopg import Connection
from psycopg.types.json import Jsonb

from benchmarks.corpora.text_collection import CHUNKS_OF_A_DOCUMENT, TextShelf
from benchmarks.harness.report import say
from sourcebook.config.collection import ChunkingSettings, EmbeddingSettings
from sourcebook.indexing.generations import create_generation

_BATCH = 10_000
_SOURCE = """
INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes)
VALUES (%s, 'files', '/srv/many', '{}', '{}', '{}', 1) RETURNING id
"""
_DOCUMENTS = """
INSERT INTO document (id, collection, source_id, uri, kind, media_type, tags, language, input_hash, config_hash,
                      version)
OVERRIDING SYSTEM VALUE
SELECT 10000000 + number, %s, %s, lpad(number::text, 6, '0') || '.md', 'file', 'text/markdown', '{}', 'en', '', '', 1
FROM generate_series(0, %s::integer - 1) AS number
"""
_CHUNKS = """
INSERT INTO chunk (id, generation_id, document_id, ordinal, text, context, heading_path, start_char, end_char,
                   token_count, hash, embedding_hash)
OVERRIDING SYSTEM VALUE
SELECT 10000000 + number, %(generation)s, 10000000 + number / %(each)s, number %% %(each)s,
       '', '', '{}', 0, 1, 1, '', ''
FROM generate_series(%(first)s::integer, %(last)s::integer) AS number
"""
_ENTRIES = """
INSERT INTO search_entry (generation_id, chunk_id, document_id, lexemes, configuration)
SELECT %(generation)s, 10000000 + number, 10000000 + number / %(each)s, known.lexemes, 'english'
FROM generate_series(%(first)s::integer, %(last)s::integer) AS number
JOIN search_entry known
    ON known.generation_id = %(from)s AND known.chunk_id = %(from_chunk)s + (number * 7::bigint) %% %(from_entries)s
"""


def write_documents(connection: Connection, name: str, number: int, words: TextShelf) -> None:
    """Publish a collection of so many documents of five passages, with the words of another collection's passages."""
    connection.execute("INSERT INTO collection (name, settings) VALUES (%s, '{}')", [name])
    generation = create_generation(
        connection, name, ChunkingSettings(), EmbeddingSettings(), model="given", dimensions=384
    )
    (source,) = connection.execute(_SOURCE, [name]).fetchone() or (0,)
    connection.execute(_DOCUMENTS, [name, source, number])
    entries = number * CHUNKS_OF_A_DOCUMENT
    values = {
        "generation": generation.id,
        "each": CHUNKS_OF_A_DOCUMENT,
        "from": words.generation.id,
        "from_chunk": words.first_chunk,
        "from_entries": words.entries,
    }
    for first in range(0, entries, _BATCH):
        part = {**values, "first": first, "last": min(first + _BATCH, entries) - 1}
        connection.execute(_CHUNKS, part)
        connection.execute(_ENTRIES, part)
        if (first + _BATCH) % (5 * _BATCH) == 0:
            say(f"    {first + _BATCH:,}/{entries:,} passages")
    connection.execute("VACUUM ANALYZE search_entry, chunk, document")


def give_permissions(connection: Connection, name: str, rules: Mapping[str, list[str]]) -> float:
    """Let the rules of a collection's source be these: principals by regular expression of the path.

    Returns:
        Seconds until that is in force, and every count follows.
    """
    permissions = {"rules": [{"path": path, "allowed": allowed} for path, allowed in rules.items()], "denied": []}
    started = time.perf_counter()
    connection.execute("UPDATE source SET permissions = %s WHERE collection = %s", [Jsonb(permissions), name])
    return time.perf_counter() - started
