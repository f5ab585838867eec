"""A library of many passages with every row that an ingest would have written, and its files."""

import hashlib
from collections.abc import Sequence

from pgvector import HalfVector
from psycopg import Connection

from benchmarks.corpora.large_library import mixed_texts
from benchmarks.corpora.vectors import vectors
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION, Library
from sourcebook.admin.collections import apply
from sourcebook.chunking.config_hash import chunking_config_hash
from sourcebook.config.loading import load_configuration
from sourcebook.database.queries import queries
from sourcebook.files.listing import file_uri
from sourcebook.indexing.first_entries import count_statistics
from sourcebook.indexing.generations import ensure_generation
from sourcebook.indexing.indexes import maintain_indexes
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
    """Return a library with this many passages, published and indexed."""
    library = bench.library(name)
    rows, _, _ = vectors(bench, passages)
    texts = [text.replace("\\", "/") for text in mixed_texts(bench, passages)]
    with library.database() as database, database.connection() as connection:
        apply(connection, load_configuration(library.configuration_path))
        generation = ensure_generation(connection, COLLECTION)
        connection.execute(
            "CREATE TEMPORARY TABLE given (number bigint, text text, vector halfvec); CREATE TEMPORARY TABLE "
            "given_file (number bigint, uri text, size bigint, sha256 bytea, markdown text)"
        )
        with connection.cursor().copy("COPY given FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int8", "text", "halfvec"])
            for number, (text, vector) in enumerate(zip(texts, rows, strict=True)):
                copy.write_row((number, text, HalfVector(vector)))
        _write_files(connection, library, texts)
        connection.execute("ANALYZE given; ANALYZE given_file")
        _publish(connection, generation, passages)
        connection.execute("VACUUM ANALYZE")
    return library


def _write_files(connection: Connection, library: Library, texts: Sequence[str]) -> None:
    with connection.cursor().copy("COPY given_file FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["int8", "text", "int8", "bytea", "text"])
        for number in range(0, len(texts), PASSAGES_OF_A_DOCUMENT):
            document = number // PASSAGES_OF_A_DOCUMENT
            markdown = "\n\n".join([f"# Document {document}", *texts[number : number + PASSAGES_OF_A_DOCUMENT]])
            path = library.files / f"{document // _FILES_OF_A_FOLDER:03}" / f"document-{document:06}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            content = markdown.encode()
            path.write_bytes(content)
            row = document, file_uri(str(path.resolve())), len(content), hashlib.sha256(content).digest(), markdown
            copy.write_row(row)


def _publish(connection: Connection, generation: Generation, passages: int) -> None:
    (source,) = connection.execute("SELECT id FROM source").fetchone() or (0,)
    for statement in _ROWS.split(";\n"):
        if statement.strip():
            connection.execute(
                statement.encode(),
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
    with connection.transaction():
        scope = {"generation": generation.id, "model": generation.model}
        connection.execute(queries["import_words"], scope)
        connection.execute(queries["import_entries"].format(partition=generation.partition), scope)
        count_statistics(connection, generation)
        for query in ("sum_import", "import_proof"):
            connection.execute(queries[query], {"generation": generation.id})
    maintain_indexes(connection, generation, entries=passages, moved=passages)
    maintain_index(connection, generation)
