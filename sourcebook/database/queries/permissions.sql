-- Permissions: sessions that see what some principals see, the groups, and who sees what for which reason.

-- name: prepare_reader
-- Make the role of such sessions and what it may read; return whether it is there.
SELECT prepare_reader();

-- name: configure_reader
-- Let a session be the reader's, for whom the statistics of what it sees come before those of the whole.
-- The policies make plans look dear: processes beside the session take longer to begin than its statements.
SET ROLE sourcebook_reader;
SET max_parallel_workers_per_gather = 0;
SET search_path TO sourcebook_seen, sourcebook, public;

-- name: see_as
-- Let the session see what principals see, from now on; return their audiences and the numbers of their entries.
SELECT set_config('sourcebook.audiences', said.audiences::text, false),
       set_config('sourcebook.counts', counts_of(said.audiences)::text, false)
FROM (SELECT audiences_of(%(principals)s) AS audiences OFFSET 0) said;

-- name: see
-- Let the session see what some audiences see.
SELECT set_config('sourcebook.audiences', %(audiences)s, false), set_config('sourcebook.counts', %(counts)s, false);

-- name: see_nothing
-- Let the session see nothing.
SELECT set_config('sourcebook.audiences', '', false), set_config('sourcebook.counts', '', false);

-- name: seen_collections
-- Return the names of the live collections in which the session sees a document.
SELECT seen_collections();

-- name: seen_documents
-- Return which addresses of documents of some collections the session sees.
SELECT DISTINCT uri FROM document
WHERE uri = ANY(%(uris)s) AND collection = ANY(%(collections)s) AND removed_at IS NULL;

-- name: record_groups
-- Keep the members of groups equal to those that are given; return the groups that got other members, with these.
WITH given AS (
    SELECT member, principal FROM unnest(%(members)s::text[], %(groups)s::text[]) AS given (member, principal)
), gone AS (
    DELETE FROM group_member held
    WHERE NOT EXISTS (SELECT FROM given WHERE given.member = held.member AND given.principal = held.principal)
    RETURNING member, principal
), added AS (
    INSERT INTO group_member (member, principal) SELECT member, principal FROM given
    ON CONFLICT DO NOTHING
    RETURNING member, principal
)
SELECT principal, coalesce(array_agg(member ORDER BY member) FILTER (WHERE is_new), '{}') AS added,
       coalesce(array_agg(member ORDER BY member) FILTER (WHERE NOT is_new), '{}') AS removed
FROM (SELECT member, principal, false AS is_new FROM gone UNION ALL SELECT member, principal, true FROM added) changed
GROUP BY principal ORDER BY principal;

-- name: add_groups
-- Add members to groups.
INSERT INTO group_member (member, principal)
SELECT member, principal FROM unnest(%(members)s::text[], %(groups)s::text[]) AS given (member, principal)
ON CONFLICT DO NOTHING;

-- name: export_groups
-- Return the members of the groups that the documents and sources of collections name, and of groups within these.
WITH RECURSIVE named (principal) AS (
    (SELECT said.principal
     FROM document JOIN audience_principal said USING (audience_id)
     WHERE document.collection = ANY(%(collections)s)
     UNION
     SELECT jsonb_path_query(permissions, '$.rules[*].allowed[*]') #>> '{}'
     FROM source WHERE collection = ANY(%(collections)s)
     UNION
     SELECT jsonb_array_elements_text(permissions -> 'denied') FROM source WHERE collection = ANY(%(collections)s))
    UNION
    SELECT held.member FROM named JOIN group_member held USING (principal)
)
SELECT principal, array_agg(member ORDER BY member) FROM named JOIN group_member USING (principal)
GROUP BY principal ORDER BY principal;

-- name: known_groups
-- Return those of some groups that have members here, are members, or are named by documents or sources.
SELECT name FROM unnest(%(groups)s::text[]) AS given (name)
WHERE EXISTS (SELECT FROM group_member WHERE principal = name OR member = name)
   OR EXISTS (SELECT FROM audience_principal WHERE principal = name)
   OR EXISTS (
       SELECT FROM source
       WHERE jsonb_path_exists(permissions, '$.rules[*].allowed[*] ? (@ == $name)', jsonb_build_object('name', name))
          OR permissions -> 'denied' ? name);

-- name: follow_originals
-- Ask again who sees the documents of imported collections that nobody sees: what says it may have come behind them.
UPDATE document SET audience_id = found.audience_id
FROM (SELECT id, audience_for(source_id, uri, coalesce(own_metadata, metadata)) AS audience_id
      FROM document WHERE collection = ANY(%(collections)s) AND audience_id = 2 OFFSET 0) found
WHERE document.id = found.id AND found.audience_id <> 2;

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

-- name: permit_items
-- Record who may see single items of a source; of each that is seen as before, nothing is written.
INSERT INTO item_permission AS known (source_id, uri, allowed, denied, state)
SELECT %(source_id)s, each ->> 'uri', ARRAY(SELECT jsonb_array_elements_text(each -> 'allowed')),
       ARRAY(SELECT jsonb_array_elements_text(each -> 'denied')), each ->> 'state'
FROM jsonb_array_elements(%(items)s) AS each
ORDER BY 2
ON CONFLICT (source_id, uri) DO UPDATE
    SET allowed = excluded.allowed, denied = excluded.denied, state = excluded.state
    WHERE (known.allowed, known.denied, known.state) IS DISTINCT FROM (excluded.allowed, excluded.denied, excluded.state);

-- name: hold_permissions
-- Change permissions while nobody writes documents, until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended('sourcebook permissions', 0));

-- name: forget_item_permission
-- Delete what an item says of who sees it.
DELETE FROM item_permission WHERE source_id = %(source_id)s AND uri = %(uri)s;

-- name: follow_item
-- Ask again who sees the document of an item.
UPDATE document SET audience_id = audience_for(source_id, uri, coalesce(own_metadata, metadata))
WHERE source_id = %(source_id)s AND uri = %(uri)s;

-- name: forget_upload_permissions
-- Delete what uploads said of who sees them, once they have neither a document nor a row of the inventory.
DELETE FROM item_permission item USING source
WHERE source.id = item.source_id AND source.kind = 'uploads'
  AND (%(collection)s::text IS NULL OR source.collection = %(collection)s)
  AND NOT EXISTS (SELECT FROM document WHERE document.collection = source.collection AND document.uri = item.uri)
  AND NOT EXISTS (SELECT FROM raw_file WHERE raw_file.source_id = item.source_id AND raw_file.uri = item.uri);

-- name: item_permission
-- Return who may see an item of the uploads of a collection, and who not, where the upload says so.
SELECT item_permission.allowed, item_permission.denied
FROM source JOIN item_permission ON item_permission.source_id = source.id
WHERE source.collection = %(collection)s AND source.kind = 'uploads' AND item_permission.uri = %(uri)s;

-- name: item_permissions
-- Return who may see some items of a source, where the ledger says it of each, in the order of their names.
SELECT uri, allowed, denied, coalesce(state, '') FROM item_permission
WHERE source_id = %(source_id)s AND uri = ANY(%(uris)s);

-- name: permission_reason
-- Return why a document is seen by those who see it, as audience_for decides, and of a copy the id of the original.
SELECT document.collection, document.uri, source.location AS source, original.id AS original, rule.pattern,
    CASE WHEN root.uri <> document.uri THEN root.uri END AS container,
    CASE WHEN source.kind = 'collection' THEN 'original'
         WHEN source.kind = 'uploads' AND item.uri IS NOT NULL THEN 'upload'
         WHEN source.permissions ? 'by_item'
             THEN CASE WHEN coalesce(item.state, '') = '' THEN 'unread'
                       WHEN source.permissions ->> 'by_item' = 'acl' THEN 'acl' ELSE 'file' END
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
LEFT JOIN item_permission item
    ON item.source_id = source.id AND item.uri = root.uri
   AND (source.kind = 'uploads' OR source.permissions ? 'by_item')
LEFT JOIN LATERAL (
    SELECT place, each ->> 'pattern' AS pattern
    FROM jsonb_array_elements(source.permissions -> 'rules') WITH ORDINALITY AS listed (each, place)
    WHERE each ->> 'path' IS NULL OR root.uri ~ (each ->> 'path')
    ORDER BY place LIMIT 1
) rule ON true
WHERE document.id = %(document)s;
