-- name: search_scope
-- Return each requested collection with its chosen or else its active generation, its entries and its HNSW indexes.
-- Where none is named, these are all but those that only take documents of others. Also whether a generation has vectors,
-- whether passages wait for theirs, whether it may still be being filled, whom the reader speaks for, and the version of
-- its words.
-- Without parameters, the plan of a session is made once: planning it took four times as long as running it.
SELECT collection.name, generation.id, generation.model, generation.embedding, generation.dimensions,
       ARRAY(SELECT known.name FROM text_configuration known
             WHERE known.generation_id = generation.id AND known.entries > 0 ORDER BY known.name) AS configurations,
       generation.entry_count,
       coalesce((SELECT reltuples::bigint FROM pg_class
                 WHERE oid = to_regclass('sourcebook.search_entry_' || generation.id)), 0) AS stored,
       ARRAY(SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
             WHERE indrelid = to_regclass('sourcebook.search_entry_' || generation.id) AND indisvalid
               AND relname LIKE 'search\_entry\_%\_vector%') AS vector_indexes,
       NOT waiting.awaits_vectors OR EXISTS (
           SELECT FROM indexed_document indexed
           WHERE indexed.generation_id = generation.id AND indexed.published_hash IS NOT NULL AND NOT awaits_vectors)
           AS has_vectors,
       waiting.awaits_vectors, generation.prepared_with IS NULL OR waiting.awaits_vectors AS is_filling,
       EXISTS (SELECT FROM document_abbreviation explained WHERE explained.collection = collection.name) AS explains,
       collection.settings ->> 'synonyms' AS synonyms, collection.settings -> 'search' AS search,
       collection.settings #>> '{{retention,queries}}' IS NOT NULL AS is_logged,
       coalesce(nullif(collection.settings -> 'redaction', 'null'),
                (SELECT taken.settings -> 'redaction'
                 FROM jsonb_path_query(collection.settings, '$.from[*].collection') AS named
                 JOIN collection taken ON taken.name = named #>> '{{}}'
                 WHERE nullif(taken.settings -> 'redaction', 'null') IS NOT NULL
                 ORDER BY taken.name LIMIT 1)) AS redaction,
       CASE current_user WHEN 'sourcebook_reader' THEN ARRAY(SELECT session_audiences()) END AS audiences,
       current_setting('sourcebook.counts', true) AS counts,
       EXISTS (SELECT FROM curated_collection curated WHERE curated.collection = collection.name) AS is_curated,
       words_version()
FROM collection
LEFT JOIN generation
    ON generation.id = coalesce(({chosen}::jsonb ->> collection.name)::bigint, collection.active_generation_id)
CROSS JOIN LATERAL (
    SELECT EXISTS (SELECT FROM indexed_document
                   WHERE generation_id = generation.id AND awaits_vectors AND failure IS NULL) AS awaits_vectors
    OFFSET 0  -- asked once
) waiting
WHERE collection.removed_at IS NULL
  AND CASE WHEN {collections}::text[] IS NOT NULL THEN collection.name = ANY({collections}::text[])
      ELSE NOT (collection.settings ? 'from' AND NOT collection.settings ?| ARRAY['repositories', 'records']
                AND (collection.settings -> 'files', collection.settings -> 'sites') = ('[]', '[]')
                AND NOT EXISTS (SELECT FROM source WHERE source.collection = collection.name AND kind = 'uploads')) END
ORDER BY collection.name;

-- name: curated_documents
-- Return the documents of some collections that are hidden from search (0) or boosted by hand, with the factor.
SELECT id, boost FROM document WHERE boost <> 1 AND collection = ANY(%(collections)s::text[]);

-- name: chosen_generations
-- Return the collection of each chosen generation that is not retired.
SELECT collection, id FROM generation WHERE id = ANY(%(generations)s) AND retired_at IS NULL;

-- name: collection_redactions
-- Return the settings of redaction of collections that have any: their own, or else of one whose documents they take.
SELECT collection.name,
       coalesce(nullif(collection.settings -> 'redaction', 'null'), taken.settings -> 'redaction') AS redaction
FROM collection
LEFT JOIN LATERAL (
    SELECT other.settings
    FROM jsonb_path_query(collection.settings, '$.from[*].collection') AS named
    JOIN collection other ON other.name = named #>> '{}'
    WHERE nullif(other.settings -> 'redaction', 'null') IS NOT NULL
    ORDER BY other.name LIMIT 1) taken ON true
WHERE (cardinality(%(collections)s::text[]) = 0 OR collection.name = ANY(%(collections)s))
  AND coalesce(nullif(collection.settings -> 'redaction', 'null'), taken.settings -> 'redaction') IS NOT NULL;

-- name: document_texts
-- Return the whole text of documents by their ids, as it was parsed last.
SELECT document.id, parsed.markdown
FROM document
JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
WHERE document.id = ANY(%(documents)s);

-- name: passages
-- Return the passages of a page with their documents; passages that were replaced since they were ranked are missing.
SELECT passage.*
FROM search_entry entry
JOIN passages_of(%(chunks)s) passage ON passage.chunk_id = entry.chunk_id
WHERE entry.generation_id = ANY(%(generations)s) AND entry.chunk_id = ANY(%(chunks)s);

-- name: first_passages
-- Return which words of the query each entry of a list holds, its place, and the passage of each that is shown.
-- Also what candidate_identities returns of it. The other columns of an entry that is not shown are NULL.
WITH asked AS MATERIALIZED (
    SELECT token, quoted_lexeme(token)::tsquery AS query FROM unnest(%(tokens)s::text[]) AS token
)
SELECT passage.*, entry.chunk_id, entry.document_id, chunk.ordinal,
       ARRAY(SELECT token FROM asked WHERE entry.lexemes @@ query) AS held_words,
       CASE WHEN chunk.token_count >= %(least)s THEN hashtextextended(chunk.text, 0) END AS text_hash,
       left(chunk.text, %(head)s) AS head, document.content_sha256
FROM search_entry entry
JOIN chunk ON chunk.id = entry.chunk_id
JOIN document ON document.id = entry.document_id
LEFT JOIN passages_of(%(shown)s) passage ON passage.chunk_id = entry.chunk_id
WHERE entry.generation_id = ANY(%(generations)s) AND entry.chunk_id = ANY(%(chunks)s);

-- name: neighbours
-- Return the published passages of each window of a document, in reading order.
-- Passages that are prepared and not yet published may have the same ordinals; the index tells them apart.
SELECT shown.number, chunk.id AS chunk_id, chunk.ordinal, chunk.text, chunk.anchor, chunk.page,
       chunk.start_char, chunk.end_char, chunk.start_seconds, chunk.end_seconds
FROM unnest(%(generations)s::bigint[], %(documents)s::bigint[], %(firsts)s::int[], %(lasts)s::int[])
    WITH ORDINALITY AS shown (generation_id, document_id, first, last, number)
JOIN chunk
    ON chunk.document_id = shown.document_id AND chunk.generation_id = shown.generation_id
    AND chunk.ordinal BETWEEN shown.first AND shown.last
WHERE EXISTS (
    SELECT FROM search_entry entry
    WHERE entry.generation_id = ANY(%(generations)s) AND entry.generation_id = chunk.generation_id
      AND entry.chunk_id = chunk.id)
ORDER BY shown.number, chunk.ordinal;

-- name: passage_places
-- Return the places of a result's other passages, which are named without their text.
SELECT chunk.id AS chunk_id, chunk.ordinal, chunk.page, chunk.anchor, chunk.start_seconds, chunk.end_seconds
FROM search_entry entry
JOIN chunk ON chunk.id = entry.chunk_id
WHERE entry.generation_id = ANY(%(generations)s) AND entry.chunk_id = ANY(%(chunks)s);

-- name: passages_to_rerank
-- Return the context and the text of each passage that a model reranks.
SELECT chunk.id, chunk.context, chunk.text
FROM search_entry entry
JOIN chunk ON chunk.id = entry.chunk_id
WHERE entry.generation_id = ANY(%(generations)s) AND entry.chunk_id = ANY(%(chunks)s);

-- name: candidate_documents
-- Return the document id of each published chunk.
SELECT chunk_id, document_id
FROM search_entry
WHERE generation_id = ANY(%(generations)s) AND chunk_id = ANY(%(chunks)s);

-- name: candidate_identities
-- Return document and place of published chunks, a hash of their texts unless they are short, and how these begin.
-- Duplicates have a text in common, or the place in files with the same bytes.
SELECT entry.chunk_id, entry.document_id,
       CASE WHEN chunk.token_count >= %(least)s THEN hashtextextended(chunk.text, 0) END,
       left(chunk.text, %(head)s),
       chunk.ordinal, document.content_sha256
FROM search_entry entry
JOIN chunk ON chunk.id = entry.chunk_id
JOIN document ON document.id = entry.document_id
WHERE entry.generation_id = ANY(%(generations)s) AND entry.chunk_id = ANY(%(chunks)s);

-- name: copy_places
-- Return the places of passages that say what a result says, each with its document.
SELECT chunk.id AS chunk_id, document.id AS document_id, document.collection, document.uri,
       indexed.published_title AS title, chunk.ordinal, chunk.page, chunk.anchor, chunk.start_seconds, chunk.end_seconds,
       link_of(document.uri, document.source_id, document.metadata) AS link
FROM search_entry entry
JOIN chunk ON chunk.id = entry.chunk_id
JOIN document ON document.id = entry.document_id
JOIN indexed_document indexed
    ON indexed.generation_id = entry.generation_id AND indexed.document_id = entry.document_id
WHERE entry.generation_id = ANY(%(generations)s) AND entry.chunk_id = ANY(%(chunks)s);

-- name: candidate_vectors
-- Return the vector of each published chunk that has one.
SELECT chunk_id, generation_id, vector
FROM search_entry
WHERE generation_id = ANY(%(generations)s) AND chunk_id = ANY(%(chunks)s) AND vector IS NOT NULL;

-- name: read_one_snapshot
-- Let all statements of this transaction read one snapshot of the index.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: lexemes_of_words
-- Return the lexemes of each word of a list under any of some text-search configurations.
-- Most are letters alone, which search_lexemes reads no otherwise, and takes five times as long to see it.
SELECT word, array_agg(DISTINCT lexeme)
FROM unnest(%(words)s::text[]) AS word
CROSS JOIN unnest(%(configurations)s::text[]) AS configuration
CROSS JOIN LATERAL unnest(
    CASE WHEN word ~ '^[A-Z]?[a-z]+$' AND configuration <> 'serbian' THEN to_tsvector(configuration::regconfig, word)
         ELSE search_lexemes(configuration::regconfig, word) END) AS found (lexeme, positions, weights)
GROUP BY word;

-- name: texts_with_lexeme
-- Return the texts of some entries that hold a lexeme and fulfil a condition, which says it sooner than the policies.
SELECT chunk.text
FROM (
    SELECT entry.chunk_id
    FROM search_entry entry
    WHERE entry.generation_id = ANY(%(generations)s) AND entry.lexemes @@ quoted_lexeme(%(token)s)::tsquery
      AND ({condition})
    LIMIT %(most)s
) held
JOIN chunk ON chunk.id = held.chunk_id;

-- name: vectors_of_document
-- Return the model and the vector of each searchable passage of a document, or of one of them.
SELECT generation.model, entry.vector
FROM document
JOIN collection ON collection.name = document.collection AND collection.removed_at IS NULL
JOIN generation ON generation.id = collection.active_generation_id
JOIN search_entry entry ON entry.generation_id = generation.id AND entry.document_id = document.id
JOIN chunk ON chunk.id = entry.chunk_id
WHERE document.id = %(document)s AND entry.vector IS NOT NULL
  AND (%(ordinal)s::integer IS NULL OR chunk.ordinal = %(ordinal)s)
ORDER BY chunk.ordinal;

-- name: documents_of_same_uri
-- Return the ids of the documents that have the URI of a document.
SELECT other.id FROM document JOIN document other ON other.uri = document.uri WHERE document.id = %(document)s;

-- name: facets
-- Return the numbers of some documents by facet and value, the most frequent values of each facet first.
WITH found AS (
    SELECT collection, kind, document_type, media_type, language, tags, dated_at FROM document
    WHERE id = ANY(%(documents)s::bigint[])
), valued AS (
    SELECT facet.name, facet.value
    FROM found CROSS JOIN LATERAL (VALUES
        ('collection', collection), ('kind', kind), ('type', document_type), ('media_type', media_type),
        ('language', language),
        ('year', to_char(dated_at AT TIME ZONE 'UTC', 'FMYYYY'))) AS facet (name, value)
    UNION ALL
    SELECT 'tag', tag FROM found CROSS JOIN LATERAL unnest(tags) AS tag
), counted AS (
    SELECT name, value, count(*) AS documents,
           row_number() OVER (PARTITION BY name ORDER BY count(*) DESC, value) AS place
    FROM valued WHERE value IS NOT NULL GROUP BY name, value
)
SELECT name, value, documents FROM counted WHERE place <= %(most)s ORDER BY name, place;

-- name: documents_by_name
-- Return live documents of some collections that have one of the names of files.
SELECT DISTINCT document.id, document.uri
FROM document_name named
JOIN document ON document.id = named.document_id AND document.removed_at IS NULL
WHERE named.collection = ANY(%(collections)s) AND named.name = ANY(%(names)s)
ORDER BY document.id LIMIT 1000;

-- name: passages_of_lines
-- Return of each document the passage with a line of its file, or the one nearest to it.
SELECT nearest.chunk_id
FROM unnest(%(documents)s::bigint[], %(lines)s::bigint[]) WITH ORDINALITY AS wanted (document_id, line, number)
CROSS JOIN LATERAL (
    SELECT entry.chunk_id
    FROM search_entry entry
    JOIN chunk ON chunk.id = entry.chunk_id
    WHERE entry.generation_id = ANY(%(generations)s) AND entry.document_id = wanted.document_id
      AND chunk.anchor ~ '^L\d+-L\d+$' AND ({condition})
    ORDER BY greatest(substring(chunk.anchor, '^L(\d+)')::bigint - wanted.line,
                      wanted.line - substring(chunk.anchor, '(\d+)$')::bigint, 0), chunk.ordinal
    LIMIT 1
) nearest
ORDER BY wanted.number;
