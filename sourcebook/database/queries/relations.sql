-- name: relation_settings
-- Return the settings of a collection's relations and types, and the digest of the rules that its documents were read by.
SELECT collection.settings -> 'relations', collection.settings -> 'types', rules.digest
FROM collection LEFT JOIN relation_rules rules ON rules.collection = collection.name
WHERE collection.name = %(collection)s;

-- name: relation_marks
-- Return the marks on documents whose relations are to be read again.
SELECT id, document_id FROM relation_mark WHERE collection = %(collection)s;

-- name: forget_relation_marks
-- Delete marks on documents whose relations were read.
DELETE FROM relation_mark WHERE id = ANY(%(marks)s);

-- name: documents_of_collection
-- Return the ids of all documents of a collection.
SELECT id FROM document WHERE collection = %(collection)s ORDER BY id;

-- name: record_relation_rules
-- Record the rules that the relations of all unmarked documents were read by.
INSERT INTO relation_rules (collection, digest) VALUES (%(collection)s, %(digest)s)
ON CONFLICT (collection) DO UPDATE SET digest = excluded.digest;

-- name: unrelated_documents
-- Return the number of live documents of a collection.
SELECT count(*) FROM document WHERE collection = %(collection)s AND removed_at IS NULL;

-- name: writing_documents
-- Return live documents with what decides their relations; the container is the message or archive of an attachment.
SELECT document.id, document.uri, document.title, document.metadata, coalesce(parsed.markdown, '') AS markdown,
       source.location, document.document_type, document.lacking,
       (SELECT message.uri
        FROM attachment
        JOIN document message ON message.content_sha256 = attachment.container_sha256
                             AND message.content_parser = attachment.container_parser
        WHERE attachment.sha256 = document.input_hash AND message.collection = document.collection
          AND document.uri = message.uri || '/' || attachment.path
        LIMIT 1) AS container
FROM document
JOIN source ON source.id = document.source_id
LEFT JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
WHERE document.id = ANY(%(documents)s) AND document.removed_at IS NULL AND document.content_hash IS NOT NULL;

-- name: record_relation_failure
-- Record why the relations of a document cannot be recorded, and return its URI; what is published of it stays.
UPDATE document SET failure = %(failure)s, failure_class = %(failure_class)s, attempts = 1, next_retry_at = NULL
WHERE id = %(document)s
RETURNING uri;

-- name: record_document_types
-- Record the types of documents, and the promised fields that they lack.
UPDATE document SET document_type = given.document_type, lacking = nullif(string_to_array(given.lacking, E'\n'), '{}')
FROM unnest(%(documents)s::bigint[], %(types)s::text[], %(lacking)s::text[]) AS given (document_id, document_type, lacking)
WHERE document.id = given.document_id;

-- name: forget_document_names
-- Delete the names of documents, and return them.
DELETE FROM document_name WHERE document_id = ANY(%(documents)s) RETURNING name;

-- name: forget_document_relations
-- Delete the relations that documents write.
DELETE FROM document_relation WHERE document_id = ANY(%(documents)s);

-- name: forget_document_abbreviations
-- Delete the abbreviations that documents explain.
DELETE FROM document_abbreviation WHERE document_id = ANY(%(documents)s);

-- name: record_document_abbreviations
-- Insert abbreviations that documents explain; one whose long form has only stop words is none.
INSERT INTO document_abbreviation (document_id, collection, short, folded, long, lexemes)
SELECT given.document_id, %(collection)s, given.short, given.folded, given.long, found.lexemes
FROM unnest(%(documents)s::bigint[], %(shorts)s::text[], %(folded)s::text[], %(longs)s::text[])
    AS given (document_id, short, folded, long)
JOIN document ON document.id = given.document_id
CROSS JOIN LATERAL lexemes_in_order(text_search_configuration(document.language), given.long) AS found (lexemes)
WHERE found.lexemes <> '';

-- name: record_document_names
-- Insert names of documents.
INSERT INTO document_name (document_id, collection, name, rank, exact)
SELECT document_id, %(collection)s, name, rank, exact
FROM unnest(%(documents)s::bigint[], %(names)s::text[], %(ranks)s::smallint[], %(exact)s::text[])
    AS given (document_id, name, rank, exact);

-- name: record_document_relations
-- Insert relations as documents write them.
INSERT INTO document_relation (document_id, collection, kind, is_inverse, target, exact, written, origin)
SELECT document_id, %(collection)s, kind, is_inverse, target, exact, written, origin
FROM unnest(%(documents)s::bigint[], %(kinds)s::text[], %(inverse)s::boolean[], %(targets)s::text[], %(exact)s::text[],
            %(written)s::text[], %(origins)s::text[])
    AS given (document_id, kind, is_inverse, target, exact, written, origin);

-- name: resolve_relations
-- Give relations of some documents, and those with some targets, the documents that they mean now.
WITH touched AS (
    SELECT document_id, kind, is_inverse, target FROM document_relation WHERE document_id = ANY(%(documents)s)
    UNION
    SELECT document_id, kind, is_inverse, target FROM document_relation
    WHERE collection = %(collection)s AND target = ANY(%(names)s)
)
UPDATE document_relation relation
SET resolved_id = best.id
FROM touched
JOIN document_relation held USING (document_id, kind, is_inverse, target)
LEFT JOIN LATERAL (
    SELECT named.document_id AS id
    FROM document_name named JOIN document ON document.id = named.document_id
    WHERE named.collection = held.collection AND named.name = held.target
    ORDER BY named.exact IS NOT DISTINCT FROM held.exact AND held.exact IS NOT NULL DESC, named.rank, document.uri
    LIMIT 1
) best ON true
WHERE relation.document_id = held.document_id AND relation.kind = held.kind
  AND relation.is_inverse = held.is_inverse AND relation.target = held.target
  AND relation.resolved_id IS DISTINCT FROM best.id;

-- name: analyze_relations
-- Analyze the tables of relations for the planner; see analyze_raw_files.
ANALYZE document_name, document_relation, document_abbreviation;

-- name: related_documents
-- Return what a document is related to, in both directions, once for each kind, direction and document.
SELECT * FROM (
    SELECT DISTINCT ON (kind, direction, other.id, CASE WHEN other.id IS NULL THEN found.written END)
           found.kind, found.direction, found.written, found.origin, other.id AS document_id, other.collection, other.uri,
           other.title
    FROM (
        SELECT kind, CASE WHEN is_inverse THEN 'in' ELSE 'out' END AS direction, written, origin, resolved_id AS other_id
        FROM document_relation WHERE document_id = %(document)s
        UNION ALL
        SELECT kind, CASE WHEN is_inverse THEN 'out' ELSE 'in' END, written, origin, document_id
        FROM document_relation WHERE resolved_id = %(document)s
    ) found
    LEFT JOIN document other ON other.id = found.other_id AND other.removed_at IS NULL
    WHERE (cardinality(%(kinds)s::text[]) = 0 OR found.kind = ANY(%(kinds)s))
      AND (%(direction)s = 'both' OR found.direction = %(direction)s)
      AND (other.id IS NOT NULL OR (%(dangling)s AND found.other_id IS NULL))
      AND other.id IS DISTINCT FROM %(document)s
    ORDER BY kind, direction, other.id, CASE WHEN other.id IS NULL THEN found.written END,
             array_position(ARRAY['field', 'attachment', 'link', 'id'], found.origin), found.written
) once
ORDER BY array_position(ARRAY['supersedes', 'requires', 'implements', 'part_of', 'creates', 'references'], kind),
         direction DESC, uri IS NULL, uri, written
LIMIT %(limit)s;

-- name: superseding_documents
-- Return the live documents that supersede some documents, of each so many at most.
SELECT superseded_id, document_id, collection, uri, title, 'supersedes' AS kind
FROM (SELECT found.superseded_id, successor.id AS document_id, successor.collection, successor.uri, successor.title,
             row_number() OVER (PARTITION BY found.superseded_id ORDER BY successor.uri) AS place
FROM (
    SELECT resolved_id AS superseded_id, document_id AS successor_id FROM document_relation
    WHERE resolved_id = ANY(%(documents)s::bigint[]) AND kind = 'supersedes' AND NOT is_inverse
    UNION
    SELECT document_id, resolved_id FROM document_relation
    WHERE document_id = ANY(%(documents)s::bigint[]) AND kind = 'supersedes' AND is_inverse
) found
JOIN document successor ON successor.id = found.successor_id AND successor.removed_at IS NULL
WHERE found.superseded_id <> found.successor_id) placed
WHERE place <= %(most)s
ORDER BY uri;

-- name: linked_documents
-- Return the live documents that some documents refer to by relations of some kinds, those that most of them name first.
SELECT linked.id AS document_id, linked.collection, linked.uri, linked.title, min(found.kind) AS kind
FROM (
    SELECT document_id, resolved_id AS linked_id, kind FROM document_relation
    WHERE document_id = ANY(%(documents)s::bigint[]) AND kind = ANY(%(kinds)s::text[]) AND NOT is_inverse
    UNION
    SELECT resolved_id, document_id, kind FROM document_relation
    WHERE resolved_id = ANY(%(documents)s::bigint[]) AND kind = ANY(%(kinds)s::text[]) AND is_inverse
) found
JOIN document linked ON linked.id = found.linked_id AND linked.removed_at IS NULL
WHERE linked.id <> ALL(%(documents)s::bigint[])
GROUP BY linked.id
ORDER BY count(DISTINCT found.document_id) DESC, linked.collection, linked.uri
LIMIT %(limit)s;

-- name: possible_versions
-- Return live documents that may be other versions of some.
-- A name of theirs begins like the file's or the title without its version, or one supersedes the other.
SELECT asked.document_id AS asked_id, other.id AS document_id, other.collection, other.uri, other.title,
       other.dated_at::text AS dated_at, bool_or(found.is_explicit) AS is_explicit
FROM unnest(%(documents)s::bigint[], %(bases)s::text[], %(titles)s::text[]) AS asked (document_id, base, title)
JOIN document own ON own.id = asked.document_id
CROSS JOIN LATERAL (
    (SELECT document_id, false AS is_explicit FROM document_name
     WHERE collection = own.collection AND asked.base <> '' AND name >= asked.base AND name < asked.base || U&'\+10FFFF'
       AND substr(name, length(asked.base) + 1, 1) IN ('', '-', '.')
     ORDER BY name LIMIT %(most)s)
    UNION ALL
    (SELECT document_id, false FROM document_name
     WHERE collection = own.collection AND asked.title <> '' AND name >= asked.title
       AND name < asked.title || U&'\+10FFFF' AND substr(name, length(asked.title) + 1, 1) IN ('', '-')
     ORDER BY name LIMIT %(most)s)
    UNION ALL
    SELECT CASE WHEN document_id = own.id THEN resolved_id ELSE document_id END, true FROM document_relation
    WHERE kind = 'supersedes' AND (document_id = own.id OR resolved_id = own.id)
) found
JOIN document other ON other.id = found.document_id AND other.removed_at IS NULL AND other.id <> own.id
GROUP BY asked.document_id, other.id;

-- name: names_of_documents
-- Return the URI and the title of documents by their ids.
SELECT id, uri, title FROM document WHERE id = ANY(%(documents)s);

-- name: content_hashes
-- Return the hash of the content of documents by their ids.
SELECT id, content_hash FROM document WHERE id = ANY(%(documents)s) AND content_hash IS NOT NULL;

-- name: beginnings_of_texts
-- Return so many characters of the text of documents by their ids.
SELECT document.id, left(parsed.markdown, %(most)s)
FROM document
JOIN parsed_content parsed ON parsed.sha256 = document.content_sha256 AND parsed.parser = document.content_parser
WHERE document.id = ANY(%(documents)s);

-- name: documents_fulfilling
-- Return which of some documents have an entry that fulfils a condition.
SELECT DISTINCT entry.document_id FROM search_entry entry
WHERE entry.generation_id = ANY(%(generations)s) AND entry.document_id = ANY(%(versions)s) AND {condition};
