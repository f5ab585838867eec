-- name: live_documents
-- Return the documents that judgments may name, also those that are not searchable.
SELECT id, uri FROM document WHERE collection = %(collection)s AND removed_at IS NULL ORDER BY uri;

-- name: evaluated_index
-- Return a digest over the published documents of a generation; of the active one where none is named.
SELECT encode(sha256(convert_to(concat_ws(E'\n', generation.id, generation.model, string_agg(
    document.uri || ' ' || encode(indexed.published_hash, 'hex'), E'\n' ORDER BY document.uri)), 'UTF8')), 'hex')
FROM collection
JOIN generation ON generation.id = coalesce(%(generation)s::bigint, collection.active_generation_id)
JOIN indexed_document indexed ON indexed.generation_id = generation.id AND indexed.published_hash IS NOT NULL
JOIN document ON document.id = indexed.document_id
WHERE collection.name = %(collection)s
GROUP BY generation.id;

-- name: evaluation_settings
-- Return the evaluation settings of a collection.
SELECT settings -> 'evaluation' FROM collection WHERE name = %(collection)s;

-- name: last_evaluation
-- Return the last evaluation of a collection.
SELECT version, passed, description, figures FROM evaluation_outcome WHERE collection = %(collection)s;

-- name: record_evaluation
-- Insert or replace the last evaluation of a collection.
INSERT INTO evaluation_outcome (collection, version, passed, description, figures)
VALUES (%(collection)s, %(version)s, %(passed)s, %(description)s, %(figures)s)
ON CONFLICT (collection) DO UPDATE SET
    version = excluded.version, passed = excluded.passed, description = excluded.description,
    figures = excluded.figures, evaluated_at = now();

-- name: record_judgment
-- Insert or replace the judgment of a document for a query.
INSERT INTO judgment (collection, query, uri, grade) VALUES (%(collection)s, %(query)s, %(uri)s, %(grade)s)
ON CONFLICT (collection, query, uri) DO UPDATE SET grade = excluded.grade, judged_at = now();

-- name: forget_judgment
-- Delete the judgment of a document for a query.
DELETE FROM judgment WHERE collection = %(collection)s AND query = %(query)s AND uri = %(uri)s;

-- name: recorded_judgments
-- Return the recorded judgments of collections, of all of them where none is named, query by query.
SELECT judgment.collection, judgment.query, judgment.uri, judgment.grade, judgment.judged_at
FROM judgment JOIN collection ON collection.name = judgment.collection AND collection.removed_at IS NULL
WHERE cardinality(%(collections)s::text[]) = 0 OR judgment.collection = ANY(%(collections)s)
ORDER BY judgment.collection, judgment.query, judgment.uri;

-- name: judgments_of_query
-- Return the recorded judgments of documents of collections for one query.
SELECT collection, uri, grade FROM judgment WHERE collection = ANY(%(collections)s::text[]) AND query = %(query)s;
