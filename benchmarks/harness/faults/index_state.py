"""The state of an index by what it says of documents, independent of ids: equal for a mended index and a fresh one."""

from typing import Any

import psycopg

Connection = psycopg.Connection[tuple[Any, ...]]

_PARTS = {
    "documents": """
        SELECT document.uri, document.content_hash, document.title, document.language, document.tags, document.metadata,
               document.content_sha256, document.kind, document.media_type
        FROM document WHERE collection = %(collection)s AND removed_at IS NULL ORDER BY 1""",
    "contents": """
        SELECT parsed.sha256, parsed.parser, parsed.markdown, parsed.blocks, parsed.title, parsed.language,
               parsed.metadata
        FROM parsed_content parsed
        JOIN document ON document.content_sha256 = parsed.sha256 AND document.content_parser = parsed.parser
        WHERE document.collection = %(collection)s AND document.removed_at IS NULL ORDER BY 1, 2, 3""",
    "files": """
        SELECT uri, size, modified, sha256, media_type, skip_reason, failure FROM raw_file
        JOIN source ON source.id = source_id
        WHERE collection = %(collection)s AND raw_file.removed_at IS NULL ORDER BY 1""",
    "attachments": """
        SELECT attachment.container_sha256, number, path, attachment.media_type, size, attachment.sha256,
               attachment.skip_reason
        FROM attachment JOIN document ON document.content_sha256 = attachment.container_sha256
                                     AND document.content_parser = attachment.container_parser
        WHERE document.collection = %(collection)s AND document.removed_at IS NULL ORDER BY 1, 2""",
    "pages": """
        SELECT url, status, page.media_type, title, language, metadata, canonical_url, content, size, page.sha256,
               links, rendered, parser, cleaner <> '', page.removed_at IS NULL
        FROM crawled_page page JOIN source ON source.id = source_id
        WHERE collection = %(collection)s ORDER BY 1""",
    "transcripts": """
        SELECT transcribed.uri, transcribed.content_hash, transcribed.sound_sha256, transcribed.engine,
               transcribed.input_hash = transcribed.sha256, recording.duration, recording.title, recording.metadata,
               transcript.language, transcript.finished_at IS NOT NULL, part.starts_at, part.ends_at, part.segments
        FROM transcribed_file transcribed
        JOIN source ON source.id = transcribed.source_id
        LEFT JOIN recording ON recording.sha256 = transcribed.sha256
        LEFT JOIN transcript
            ON transcript.sound_sha256 = transcribed.sound_sha256 AND transcript.engine = transcribed.engine
        LEFT JOIN transcript_window part
            ON part.sound_sha256 = transcript.sound_sha256 AND part.engine = transcript.engine
        WHERE collection = %(collection)s ORDER BY transcribed.uri, part.starts_at""",
    "passages": """
        SELECT document.uri, ordinal, text, context, heading_path, anchor, page, start_char, end_char, token_count,
               hash, embedding_hash, start_seconds, end_seconds, entry.lexemes::text, entry.configuration,
               entry.document_id = chunk.document_id
        FROM chunk
        LEFT JOIN search_entry entry ON entry.generation_id = chunk.generation_id AND entry.chunk_id = chunk.id
        LEFT JOIN document ON document.id = chunk.document_id
        WHERE chunk.generation_id = %(generation)s AND document.removed_at IS NULL ORDER BY 1, 2, 3""",
    "entries": "SELECT count(*) FROM search_entry WHERE generation_id = %(generation)s",
    "frequencies": """
        SELECT token, entries FROM lexeme
        WHERE generation_id = %(generation)s AND entries <> 0 ORDER BY 1""",
    "configurations": """
        SELECT name, entries FROM text_configuration
        WHERE generation_id = %(generation)s AND entries <> 0 ORDER BY 1""",
    "counts": "SELECT entry_count, total_length, text_count FROM generation WHERE id = %(generation)s",
    "published": """
        SELECT document.uri, indexed.chunk_count, indexed.input_hash = document.content_hash,
               indexed.published_hash = document.content_hash, indexed.published_config = indexed.config_hash,
               indexed.published_version = document.version,
               indexed.published_title IS NOT DISTINCT FROM document.title,
               indexed.published_language IS NOT DISTINCT FROM document.language, indexed.damage, indexed.uncovered
        FROM indexed_document indexed LEFT JOIN document ON document.id = indexed.document_id
        WHERE indexed.generation_id = %(generation)s AND document.removed_at IS NULL ORDER BY 1""",
    "kept counts": """
        SELECT kind, (SELECT coalesce(sum(items), 0) FROM tally
                      WHERE tally.collection = %(collection)s AND tally.kind = kinds.kind) = counted.items
        FROM (VALUES ('raw_files'), ('documents'), ('removed')) AS kinds (kind)
        CROSS JOIN LATERAL counted_items(%(collection)s, kinds.kind) AS counted ORDER BY 1""",
    # Weights are those of the words and the average length that they were computed with.
    "wrong weights": """
        SELECT count(*)
        FROM keyword_weights(%(generation)s, ARRAY(
            SELECT chunk_id FROM search_entry WHERE generation_id = %(generation)s)) AS wanted
        FULL JOIN (SELECT * FROM keyword_entry WHERE generation_id = %(generation)s) held USING (chunk_id)
        WHERE (wanted.length, wanted.weights::text) IS DISTINCT FROM (held.length, held.weights::text)""",
    "average length": """
        SELECT abs(average_length / (total_length::float8 / nullif(entry_count, 0)) - 1) < 0.11
        FROM generation WHERE id = %(generation)s""",
    "blocks": """
        SELECT coalesce(sum(entries), 0) = (
            SELECT count(*) FROM keyword_entry WHERE generation_id = %(generation)s AND block IS NOT NULL)
        FROM keyword_block_size WHERE generation_id = %(generation)s""",
    # A block holds the weights of the entries in its slots.
    "wrong slots": """
        SELECT count(*)
        FROM keyword_entry entry
        CROSS JOIN LATERAL keyword_postings(%(generation)s, ARRAY[entry.chunk_id]) AS posting
        LEFT JOIN keyword_block held ON held.generation_id = entry.generation_id AND held.block = entry.block
                                    AND held.lexeme_id = posting.lexeme_id
        WHERE entry.generation_id = %(generation)s AND entry.block IS NOT NULL
          AND (held.weights IS NULL OR abs(
              inner_product(held.weights, ('{' || entry.slot || ':1}/8000')::sparsevec) - posting.weight) > 1e-4)""",
    "cached vectors": """
        SELECT text_hash FROM embedding
        JOIN generation ON generation.model = embedding.model AND generation.id = %(generation)s
        WHERE EXISTS (SELECT FROM chunk WHERE generation_id = %(generation)s AND embedding_hash = text_hash)
        ORDER BY 1""",
    "other vectors": """
        SELECT count(*) FROM embedding WHERE seal IS DISTINCT FROM embedding_seal(embedding)""",
    # Vectors that are computed again differ from the first ones by the rounding of another batch.
    "vectors that differ": """
        SELECT count(*) FROM search_entry entry
        JOIN chunk ON chunk.id = entry.chunk_id
        JOIN generation ON generation.id = entry.generation_id
        LEFT JOIN embedding ON embedding.model = generation.model AND embedding.text_hash = chunk.embedding_hash
        WHERE entry.generation_id = %(generation)s
          AND (embedding.vector IS NULL OR vector_dims(entry.vector) <> generation.dimensions
               OR entry.vector <=> embedding.vector > 1e-3)""",
    "marks": "SELECT count(*) FROM foreign_change WHERE collection = %(collection)s",
}


def index_state(connection: Connection, collection: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return the state of a collection's ledger and active generation, by part."""
    row = connection.execute("SELECT active_generation_id FROM collection WHERE name = %s", [collection]).fetchone()
    scope = {"collection": collection, "generation": row[0] if row else None}
    return {name: connection.execute(query, scope).fetchall() for name, query in _PARTS.items()}


def different_parts(before: dict[str, list[tuple[Any, ...]]], after: dict[str, list[tuple[Any, ...]]]) -> list[str]:
    """Return the parts of two states that differ, each with its first difference."""
    found = []
    for name, rows in before.items():
        other = after[name]
        if rows != other:
            lost = [row for row in rows if row not in other][:1]
            new = [row for row in other if row not in rows][:1]
            found.append(f"{name}: {lost} instead of {new}" if lost or new else f"{name}: in another order or number")
    return found
