-- Permissions: sessions that see what some principals see, the groups, and who sees what for which reason.

-- name: prepare_reader
-- Make the role of such sessions and what it may read; return whether it is there.
SELECT prepare_reader();

-- name: configure_reader
-- Let a session be the reader's, for whom the statistics of what it sees come before those of the whole.
SET ROLE sourcebook_reader;
SET search_path TO sourcebook_seen, sourcebook, public;

-- name: see_as
-- Let the session see what principals see, from now on, and return their audiences.
SELECT set_config('sourcebook.audiences', audiences_of(%(principals)s)::text, false);

-- name: see_nothing
-- Let the session see nothing.
SELECT set_config('sourcebook.audiences', '', false);

-- name: seen_collections
-- Return the names of the live collections in which the session sees a document.
SELECT seen_collections();

-- name: seen_documents
-- Return which addresses of documents of some collections the session sees.
SELECT DISTINCT uri FROM document
WHERE uri = ANY(%(uris)s) AND collection = ANY(%(collections)s) AND removed_at IS NULL;

-- name: record_groups
-- Keep the members of groups equal to those that are given; return the groups that got other members.
WITH given AS (
    SELECT member, principal FROM unnest(%(members)s::text[], %(groups)s::text[]) AS given (member, principal)
), gone AS (
    DELETE FROM group_member held
    WHERE NOT EXISTS (SELECT FROM given WHERE given.member = held.member AND given.principal = held.principal)
    RETURNING principal
), added AS (
    INSERT INTO group_member (member, principal) SELECT member, principal FROM given
    ON CONFLICT DO NOTHING
    RETURNING principal
)
SELECT principal FROM gone UNION SELECT principal FROM added ORDER BY principal;

-- name: memberships
-- Return the memberships of some principals, and of the groups that these belong to.
WITH RECURSIVE belonging (principal) AS (
    SELECT unnest(%(principals)s::text[])
    UNION
    SELECT held.principal FROM group_member held JOIN belonging ON belonging.principal = held.member
)
SELECT held.member, held.principal
FROM belonging JOIN group_member held ON held.member = belonging.principal
ORDER BY held.principal, held.member;

-- name: audiences
-- Return who sees the documents of some collections, all where none is named: the most documents first.
SELECT audience.allowed, audience.denied, jsonb_object_agg(counted.collection, counted.documents ORDER BY counted.collection) AS documents
FROM (
    SELECT document.audience_id, document.collection, count(*) AS documents
    FROM document JOIN collection ON collection.name = document.collection
    WHERE document.removed_at IS NULL AND collection.removed_at IS NULL
      AND (%(collections)s::text[] = '{}' OR document.collection = ANY(%(collections)s))
    GROUP BY 1, 2
) counted
JOIN audience ON audience.id = counted.audience_id
GROUP BY audience.id
ORDER BY sum(counted.documents) DESC, audience.id;

-- name: audience_of_document
-- Return who sees a document.
SELECT audience.allowed, audience.denied
FROM document JOIN audience ON audience.id = document.audience_id
WHERE document.id = %(document)s;

-- name: permission_reason
-- Return why a document is seen by those who see it, as audience_for decides, and of a copy the id of the original.
SELECT document.collection, document.uri, source.location AS source, original.id AS original, rule.pattern,
    CASE WHEN root.uri <> document.uri THEN root.uri END AS container,
    CASE WHEN source.kind = 'collection' THEN 'original'
         WHEN source.permissions IS NULL THEN 'unset'
         WHEN own.said IS NOT NULL AND (source.permissions ->> 'by_document')::boolean
             THEN CASE WHEN document.audience_id = 2 AND own.said <> '[]' THEN 'invalid' ELSE 'document' END
         WHEN (source.permissions ->> 'by_record')::boolean THEN 'record'
         WHEN rule.place IS NULL THEN 'unmatched'
         ELSE 'rule' END AS kind
FROM document
JOIN source ON source.id = document.source_id
CROSS JOIN LATERAL (SELECT coalesce(document.own_metadata, document.metadata) -> 'allowed' AS said) own
LEFT JOIN document original
    ON source.kind = 'collection' AND original.collection = source.location AND original.uri = document.uri
CROSS JOIN LATERAL (SELECT root_item(document.collection, document.uri) AS uri) root
LEFT JOIN LATERAL (
    SELECT place, each ->> 'pattern' AS pattern
    FROM jsonb_array_elements(source.permissions -> 'rules') WITH ORDINALITY AS listed (each, place)
    WHERE each ->> 'path' IS NULL OR root.uri ~ (each ->> 'path')
    ORDER BY place LIMIT 1
) rule ON true
WHERE document.id = %(document)s;
