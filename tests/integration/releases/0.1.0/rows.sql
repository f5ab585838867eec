-- A small knowledge base as 0.1.0 kept it: two documents that are searched, one that was removed, tags of a source and
-- by hand, two generations, of which the second is being built, a key (`sb_of_0_1_0`) and a judgment. A site with a page
-- and its frontier, a recording with its transcript, and an upload of two versions are in the collection `archive`.
SELECT set_config('sourcebook.writer', 'library', false);
INSERT INTO collection (name, settings) VALUES ('handbook', '{}');
INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes)
    VALUES ('handbook', 'files', '/handbook', '{}', '{}', '{sea}', 1);
INSERT INTO raw_file (source_id, uri, size, modified, sha256, media_type, removed_at)
    SELECT id, uri, 1, '1', sha256(uri::bytea), 'text/markdown', CASE WHEN uri = 'gone' THEN now() END
    FROM source, (VALUES ('gauge'), ('pegel'), ('gone')) given (uri);
INSERT INTO parsed_content (sha256, parser, markdown, blocks, title, language, metadata, content_hash)
    SELECT sha256, 'p', uri, '[]', uri, NULL, '{}', sha256 FROM raw_file;
INSERT INTO document (collection, source_id, uri, kind, media_type, tags, title, language, input_hash, config_hash,
                      content_sha256, content_parser, content_hash, version, removed_at)
    SELECT 'handbook', file.source_id, uri, 'file', 'text/markdown', '{sea}', title, language, sha256, 'p',
           sha256, 'p', sha256, 1, file.removed_at
    FROM raw_file file
    JOIN (VALUES ('gauge', 'Tides', 'en'), ('pegel', 'Gezeiten', 'de'), ('gone', 'Gone', 'en'))
        given (uri, title, language) USING (uri);
UPDATE document SET given_tags = '{checked}', given_metadata = '{"author": "Ann"}', tags = tags, metadata = metadata
    WHERE uri = 'gauge';
INSERT INTO generation (collection, chunking, embedding, model, dimensions)
    VALUES ('handbook', '{}', '{}', 'm/1', 2), ('handbook', '{"max_tokens": 100}', '{}', 'm/1', 2);
UPDATE collection SET active_generation_id = 1, building_generation_id = 2;
INSERT INTO activation (collection, generation_id) VALUES ('handbook', 1);
CREATE TABLE search_entry_1 PARTITION OF search_entry FOR VALUES IN (1);
CREATE TABLE search_entry_2 PARTITION OF search_entry FOR VALUES IN (2);
CREATE TABLE keyword_entry_1 PARTITION OF keyword_entry FOR VALUES IN (1);
CREATE TABLE keyword_entry_2 PARTITION OF keyword_entry FOR VALUES IN (2);
INSERT INTO indexed_document (generation_id, document_id, input_hash, config_hash, chunk_count, published_hash,
                              published_config, published_version, published_title, published_language, published_at)
    SELECT generation.id, document.id, content_hash, 'c', 1, content_hash, 'c', 1, title, language, now()
    FROM document, generation WHERE removed_at IS NULL;
INSERT INTO chunk (generation_id, document_id, ordinal, text, context, heading_path, start_char, end_char, token_count,
                   hash, embedding_hash)
    SELECT generation.id, document.id, 0, text, '', '{}', 0, length(text), 4, sha256(text::bytea), sha256(text::bytea)
    FROM document
    JOIN (VALUES ('gauge', 'Houses at the gauge'), ('pegel', 'Die Häuser am Pegel')) given (uri, text) USING (uri)
    CROSS JOIN generation;
INSERT INTO embedding (model, text_hash, vector)
    SELECT DISTINCT 'm/1', embedding_hash, CASE WHEN text LIKE 'H%' THEN '[1,0]' ELSE '[0,1]' END::halfvec FROM chunk;
INSERT INTO search_entry (generation_id, chunk_id, document_id, vector, lexemes, configuration)
    SELECT chunk.generation_id, chunk.id, document_id, vector,
           entry_lexemes(text_search_configuration(language), title, heading_path, text),
           text_search_configuration(language)::text
    FROM chunk JOIN document ON document.id = document_id JOIN embedding ON text_hash = embedding_hash;
INSERT INTO access_key (name, beginning, sha256, scopes, created_at)
    VALUES ('reader', 'sb_of', sha256('sb_of_0_1_0'), '{read}', now());
INSERT INTO judgment (collection, query, uri, grade) VALUES ('handbook', 'house', 'gauge', 2);

INSERT INTO collection (name, settings) VALUES ('archive', '{}');
INSERT INTO source (collection, kind, location, include, exclude, tags, max_bytes, settings)
    VALUES ('archive', 'site', 'https://site.example/', '{}', '{}', '{web}', 1, '{"url": "https://site.example/"}'),
           ('archive', 'files', '/recordings', '{}', '{}', '{}', 1, '{}'),
           ('archive', 'uploads', 'upload://0123', '{}', '{}', '{}', 1, '{}');
INSERT INTO parsed_content (sha256, parser, markdown, blocks, title, language, metadata, content_hash)
    SELECT sha256(name::bytea), 'p', name, '[]', name, 'en', '{}', sha256(name::bytea)
    FROM (VALUES ('page'), ('sound'), ('upload')) given (name);
INSERT INTO crawled_page (source_id, url, status, media_type, title, size, sha256, parser, cleaner, links)
    SELECT id, location || 'tides', 200, 'text/html', 'Tides', 4, sha256('page'), 'p', 'c', '{https://site.example/gone}'
    FROM source WHERE kind = 'site';
INSERT INTO frontier (source_id, url, listed, depth, state)
    SELECT id, location || path, path = '', depth, state
    FROM source, (VALUES ('', 0, 'fetched'), ('tides', 1, 'fetched'), ('gone', 2, 'gone')) given (path, depth, state)
    WHERE kind = 'site';
INSERT INTO raw_file (source_id, uri, size, modified, sha256, media_type, tags)
    SELECT id, CASE kind WHEN 'uploads' THEN location || '/notes' ELSE 'talk' END, 5, '1',
           sha256(CASE kind WHEN 'uploads' THEN 'upload' ELSE 'sound' END::bytea),
           CASE kind WHEN 'uploads' THEN 'text/plain' ELSE 'audio/wav' END,
           CASE kind WHEN 'uploads' THEN '{sent}'::text[] ELSE '{}' END
    FROM source WHERE collection = 'archive' AND kind <> 'site';
INSERT INTO recording (sha256, probe, sound_sha256, duration, title, metadata)
    VALUES (sha256('sound'), '1', sha256('samples'), 2.5, 'Talk', '{}');
INSERT INTO transcript (sound_sha256, engine, language, language_probability, finished_at, windows)
    VALUES (sha256('samples'), 'whisper', 'en', 0.9, now(), 1);
INSERT INTO transcript_window (sound_sha256, engine, starts_at, ends_at, segments)
    VALUES (sha256('samples'), 'whisper', 0, 2.5, '[[0, 2.5, "The tide rises.", -0.1, 0.0, "en", 0.9, null]]');
INSERT INTO transcribed_file (source_id, uri, input_hash, config_hash, sha256, sound_sha256, engine, content_hash)
    SELECT source_id, uri, sha256, 'whisper', sha256, sha256('samples'), 'whisper', sha256
    FROM raw_file WHERE uri = 'talk';
INSERT INTO upload_content (sha256, bytes, store)
    VALUES (sha256('upload'), 6, '/uploads'), (sha256('before'), 6, '/uploads');
INSERT INTO upload (collection, name, version, sha256, tags, uploaded_by, removed_at)
    VALUES ('archive', 'notes', 1, sha256('before'), '{}', 'reader', now()),
           ('archive', 'notes', 2, sha256('upload'), '{sent}', 'reader', NULL);
INSERT INTO document (collection, source_id, uri, kind, media_type, tags, title, language, input_hash, config_hash,
                      content_sha256, content_parser, content_hash, version)
    SELECT 'archive', item.source_id, uri, kind, media_type, '{}', uri, 'en', sha256, 'p', sha256, 'p', sha256, 1
    FROM (SELECT source_id, url AS uri, 'page' AS kind, media_type, sha256 FROM crawled_page
          UNION ALL
          SELECT source_id, uri, CASE uri WHEN 'talk' THEN 'recording' ELSE 'file' END, media_type, sha256
          FROM raw_file JOIN source ON source.id = source_id WHERE collection = 'archive') item;
