-- A small knowledge base as 0.1.0 kept it: two documents that are searched, one that was removed, tags of a source and
-- by hand, two generations, of which the second is being built, a key (`sb_of_0_1_0`) and a judgment.
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
