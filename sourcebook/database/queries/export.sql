-- name: begin_export
-- Read one moment of the database until the transaction ends.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;

-- name: exported_collections
-- Return collections with their settings and active generations.
SELECT collection.name, collection.settings, collection.declared_in, collection.written_settings, generation.id, generation.chunking, generation.embedding, generation.model,
       generation.dimensions, generation.average_length::float8 AS average_length, generation.averaged_entries,
       (SELECT probe FROM provider_model
        WHERE identity = split_part(generation.model, '/', 1)) AS probe
FROM collection LEFT JOIN generation ON generation.id = collection.active_generation_id
WHERE collection.removed_at IS NULL AND collection.name = ANY(%(collections)s)
ORDER BY collection.name;

-- name: export_source
-- Return the sources of a collection.
SELECT * FROM source WHERE collection = %(collection)s ORDER BY id;

-- name: export_raw_file
-- Return the inventory of a collection.
SELECT raw_file.* FROM raw_file JOIN source ON source.id = raw_file.source_id
WHERE source.collection = %(collection)s ORDER BY raw_file.source_id, raw_file.uri;

-- name: export_source_record
-- Return the records of a collection's tables and programs.
SELECT source_record.* FROM source_record JOIN source ON source.id = source_record.source_id
WHERE source.collection = %(collection)s ORDER BY source_record.source_id, source_record.uri;

-- name: export_item_permission
-- Return who may see single items of the sources of a collection.
SELECT item_permission.* FROM item_permission JOIN source ON source.id = item_permission.source_id
WHERE source.collection = %(collection)s ORDER BY item_permission.source_id, item_permission.uri;

-- name: export_upload_content
-- Return where the bytes of the uploads of a collection are stored.
SELECT * FROM upload_content content
WHERE EXISTS (SELECT FROM upload WHERE upload.sha256 = content.sha256 AND upload.collection = %(collection)s);

-- name: export_upload
-- Return every version of the uploads of a collection.
SELECT * FROM upload WHERE collection = %(collection)s ORDER BY name, version;

-- name: export_parsed_content
-- Return the parsed contents of the documents and pages of a collection.
SELECT * FROM parsed_content parsed
WHERE EXISTS (
    SELECT FROM document
    WHERE document.content_sha256 = parsed.sha256 AND document.content_parser = parsed.parser
      AND document.collection = %(collection)s)
   OR EXISTS (
    SELECT FROM crawled_page page JOIN source ON source.id = page.source_id
    WHERE page.sha256 = parsed.sha256 AND page.parser = parsed.parser AND source.collection = %(collection)s);

-- name: export_attachment
-- Return the attachments of the messages of a collection.
SELECT * FROM attachment
WHERE EXISTS (
    SELECT FROM document
    WHERE document.content_sha256 = attachment.container_sha256
      AND document.content_parser = attachment.container_parser AND document.collection = %(collection)s);

-- name: export_crawled_page
-- Return the pages of a collection's sites.
SELECT page.* FROM crawled_page page JOIN source ON source.id = page.source_id
WHERE source.collection = %(collection)s ORDER BY page.source_id, page.first_seen_at, page.url;

-- name: export_frontier
-- Return the known URLs of a collection's sites.
SELECT frontier.* FROM frontier JOIN source ON source.id = frontier.source_id
WHERE source.collection = %(collection)s ORDER BY frontier.id;

-- name: export_recording
-- Return the recordings of a collection.
SELECT * FROM recording
WHERE EXISTS (
    SELECT FROM transcribed_file file JOIN source ON source.id = file.source_id
    WHERE file.sha256 = recording.sha256 AND source.collection = %(collection)s);

-- name: export_transcript
-- Return the transcripts of a collection.
SELECT * FROM transcript
WHERE EXISTS (
    SELECT FROM transcribed_file file JOIN source ON source.id = file.source_id
    WHERE file.sound_sha256 = transcript.sound_sha256 AND file.engine = transcript.engine
      AND source.collection = %(collection)s);

-- name: export_transcript_window
-- Return the parts of the transcripts of a collection.
SELECT * FROM transcript_window part
WHERE EXISTS (
    SELECT FROM transcribed_file file JOIN source ON source.id = file.source_id
    WHERE file.sound_sha256 = part.sound_sha256 AND file.engine = part.engine AND source.collection = %(collection)s)
ORDER BY part.sound_sha256, part.engine, part.starts_at;

-- name: export_transcribed_file
-- Return which file has which transcript.
SELECT file.* FROM transcribed_file file JOIN source ON source.id = file.source_id
WHERE source.collection = %(collection)s;

-- name: export_document
-- Return the documents of a collection, removed ones included.
SELECT * FROM document WHERE collection = %(collection)s ORDER BY id;

-- name: export_indexed_document
-- Return what is published of each document of a generation, as if nothing newer were prepared.
--
-- A document whose published passages are of older rules gets rules that no chunker has: it is cut again.
SELECT indexed.document_id, indexed.published_hash AS input_hash, coalesce(indexed.published_config, '') AS config_hash,
       (SELECT count(*)::integer FROM search_entry entry
        WHERE entry.generation_id = indexed.generation_id AND entry.document_id = indexed.document_id) AS chunk_count,
       indexed.published_hash, coalesce(indexed.published_config, '') AS published_config, indexed.published_version,
       indexed.published_title, indexed.published_language, indexed.published_at, indexed.uncovered
FROM indexed_document indexed
WHERE indexed.generation_id = %(generation)s AND indexed.published_hash IS NOT NULL
  AND NOT indexed.awaits_vectors  -- it is cut and published again
ORDER BY indexed.document_id;

-- name: export_passages
-- Return the published passages of a generation with their vectors, in the order of their publication.
SELECT entry.document_id, document.uri, indexed.published_title, indexed.published_language, chunk.ordinal, chunk.text,
       chunk.context, chunk.heading_path, chunk.anchor, chunk.page, chunk.start_char, chunk.end_char,
       chunk.start_seconds, chunk.end_seconds, chunk.token_count, chunk.hash, chunk.embedding_hash,
       chunk.parts::text, halfvec_send(entry.vector)
FROM search_entry entry
JOIN chunk ON chunk.id = entry.chunk_id
JOIN document ON document.id = entry.document_id
JOIN indexed_document indexed
    ON indexed.generation_id = entry.generation_id AND indexed.document_id = entry.document_id
WHERE entry.generation_id = %(generation)s AND NOT indexed.awaits_vectors
ORDER BY entry.chunk_id;

-- name: export_documents
-- Return the live documents of a collection with their Markdown.
SELECT document.id, document.uri, document.title, document.collection, document.kind, document.media_type,
       document.language, document.tags, document.metadata, document.dated_at, document.version, document.created_at,
       document.updated_at, source.id AS source_id, source.kind AS source_kind, source.location AS source_location,
       document.input_hash, document.content_hash, document.config_hash, parsed.page_count, parsed.markdown,
       coalesce(file.sha256, CASE WHEN page.content IS NOT NULL THEN page.sha256 END) AS bytes_sha256,
       page.content IS NOT NULL AS is_stored
FROM document
JOIN source ON source.id = document.source_id
JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
LEFT JOIN raw_file file
    ON file.source_id = document.source_id AND file.uri = document.uri AND file.removed_at IS NULL
LEFT JOIN crawled_page page
    ON page.source_id = document.source_id AND page.url = document.uri AND page.removed_at IS NULL
WHERE document.collection = %(collection)s AND document.removed_at IS NULL
ORDER BY document.id;

-- name: export_one_document
-- Return one document with its Markdown, in the columns of export_documents that do not concern its original.
SELECT document.id, document.uri, document.title, document.collection, document.kind, document.media_type,
       document.language, document.tags, document.metadata, document.dated_at, document.version, document.created_at,
       document.updated_at, source.kind AS source_kind, source.location AS source_location,
       document.input_hash, document.content_hash, document.config_hash, parsed.page_count, parsed.markdown
FROM document
JOIN source ON source.id = document.source_id
JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
WHERE document.id = %(document)s;

-- name: stored_page
-- Return the bytes of a linked document of a site.
SELECT content FROM crawled_page WHERE source_id = %(source)s AND url = %(uri)s;
