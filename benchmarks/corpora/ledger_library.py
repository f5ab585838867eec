"""A library of many passages with every row that an ingest would have written, and its files."""

import hashlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice

from pgvector import HalfVector
from psycopg import Connection

from benchmarks.corpora.large_library import mixed_texts
from benchmarks.corpora.vectors import Rows, vectors
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION, Library
from sourcebook.admin.collections import apply
from sourcebook.chunking.config_hash import chunking_config_hash
from sourcebook.config.loading import load_configuration
from sourcebook.database.queries import marked, queries
from sourcebook.files.listing import file_uri
from sourcebook.indexing.first_entries import count_statistics
from sourcebook.indexing.generations import ensure_generation
from sourcebook.indexing.graphs import maintain_indexes
from sourcebook.model.generation import Generation
from sourcebook.stages.index_upkeep import maintain_index

PASSAGES_OF_A_DOCUMENT = 5
_FILES_OF_A_FOLDER = 500

_ROWS = """
INSERT INTO raw_file (source_id, uri, size, modified, sha256, media_type, hashed_at)
SELECT %(source)s, uri, size, '1', sha256, 'text/markdown', now() FROM given_file;

INSERT INTO parsed_content (sha256, parser, markdown, blocks, title, metadata, language, content_hash)
SELECT sha256, 'benchmark', markdown, '[]', NULL, '{}', 'en', sha256 FROM given_file ON CONFLICT DO NOTHING;

INSERT INTO document (collection, source_id, uri, kind, media_type, tags, title, language, input_hash, config_hash,
                      content_sha256, content_parser, content_hash, version)
SELECT %(collection)s, %(source)s, uri, 'file', 'text/markdown', '{}', 'Document ' || number, 'en', sha256, 'benchmark',
       sha256, 'benchmark', sha256, 1
FROM given_file ORDER BY number;

INSERT INTO indexed_document (generation_id, document_id, input_hash, config_hash, chunk_count, published_hash,
                              published_config, published_version, published_title, published_language, published_at)
SELECT %(generation)s, id, content_hash, %(config_hash)s, %(passages)s, content_hash, %(config_hash)s, version, title,
       language, now()
FROM document WHERE collection = %(collection)s;

INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, start_char, end_char, token_count,
                   hash, embedding_hash)
SELECT %(generation)s, document.id, given.number %% %(passages)s, given.text, document.title || E'\\n', '{}', 0,
       length(given.text), length(given.text) / 5, sha256(given.text::bytea), sha256(given.text::bytea)
FROM given JOIN given_file file ON file.number = given.number / %(passages)s JOIN document USING (uri)
ORDER BY given.number;

INSERT INTO embedding (model, text_hash, vector)
SELECT %(model)s, sha256(text::bytea), vector FROM given ON CONFLICT DO NOTHING;
"""


def fill_library(bench: Bench, name: str, passages: int) -> Library:
    """Return a library with this many passages, published and indexed, and its files."""
    library = bench.library(name)
    rows, _, _ = vectors(bench, passages)
    fill(library, mixed_texts(bench, passages), rows)
    return library


def fill(library: Library, texts: Iterable[str], vectors: Rows, *, with_files: bool = True) -> dict[str, float]:
    """Publish and index passages with every row that an ingest would have written; return the seconds of each step.

    Args:
        library: an empty one.
        texts: as many as vectors, read twice.
        vectors: unit vectors.
        with_files: whether the files are there, too.
    """
    texts = _Cleaned(texts)
    with library.database() as database, database.connection() as connection:
        apply(connection, load_configuration(library.configuration_path))
        generation = ensure_generation(connection, COLLECTION)
        connection.execute(
            "CREATE TEMPORARY TABLE given (number bigint, text text, vector halfvec); CREATE TEMPORARY TABLE "
            "given_file (number bigint, uri text, size bigint, sha256 bytea, markdown text)"
        )
        started = time.perf_counter()
        with connection.cursor().copy("COPY given FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int8", "text", "halfvec"])
            for number, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
                copy.write_row((number, text, HalfVector(vector)))
        _write_files(connection, library, texts, with_files=with_files)
        connection.execute("ANALYZE given; ANALYZE given_file")
        seconds = {"copying rows": time.perf_counter() - started, **_publish(connection, generation, len(vectors))}
        connection.execute("DROP TABLE given, given_file")
        connection.execute("VACUUM ANALYZE")
    return seconds


@dataclass(frozen=True)
class _Cleaned:
    texts: Iterable[str]

    def __iter__(self) -> Iterator[str]:
        return (text.replace("\\", "/") for text in self.texts)


def _write_files(connection: Connection, library: Library, texts: Iterable[str], *, with_files: bool) -> None:
    with connection.cursor().copy("COPY given_file FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["int8", "text", "int8", "bytea", "text"])
        each = iter(texts)
        for document in count():
            passages = list(islice(each, PASSAGES_OF_A_DOCUMENT))
            if not passages:
                break
            content = "\n\n".join([f"# Document {document}", *passages]).encode()
            path = library.files / f"{document // _FILES_OF_A_FOLDER:03}" / f"document-{document:06}.md"
            if with_files:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            uri = file_uri(str(path.absolute()))
            copy.write_row((document, uri, len(content), hashlib.sha256(content).digest(), content.decode()))


def _publish(connection: Connection, generation: Generation, passages: int) -> dict[str, float]:
    """Publish the given rows, and return the seconds of each step."""
    seconds, started = {}, time.perf_counter()
    (source,) = connection.execute("SELECT id FROM source").fetchone() or (0,)
    for statement in _ROWS.split(";\n"):
        if statement.strip():
            connection.execute(
                marked("benchmark", statement).encode(),
                {
                    "collection": generation.collection,
                    "source": source,
                    "generation": generation.id,
                    "config_hash": chunking_config_hash(generation),
                    "model": generation.model,
                    "passages": PASSAGES_OF_A_DOCUMENT,
                },
            )
    connection.execute("ANALYZE document, indexed_document, chunk, embedding")
    seconds["rows of the ledger"], started = time.perf_counter() - started, time.perf_counter()
    with connection.transaction():
        scope = {"generation": generation.id, "model": generation.model}
        connection.execute(queries["import_words"], scope)
        connection.execute(queries["import_entries"].format(partition=generation.partition), scope)
        count_statistics(connection, generation)
        for query in ("sum_import", "import_proof"):
            connection.execute(queries[query], {"generation": generation.id})
    seconds["entries and keyword index"], started = time.perf_counter() - started, time.perf_counter()
    maintain_indexes(connection, generation, entries=passages, moved=passages)
    seconds["GIN and HNSW"], started = time.perf_counter() - started, time.perf_counter()
    maintain_index(connection, generation)
    return {**seconds, "upkeep": time.perf_counter() - started}
