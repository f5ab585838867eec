-- name: record_sources
-- Return the live sources of records of a collection, or those at the given locations.
SELECT id, location, settings -> 'records' AS settings, coalesce(record_state, '{}') AS state,
       coalesce(next_fetch_at <= now(), true) AS is_due
FROM source
WHERE collection = %(collection)s AND removed_at IS NULL AND kind = 'files' AND settings ? 'records'
  AND (cardinality(%(locations)s::text[]) = 0 OR location = ANY(%(locations)s))
ORDER BY id;

-- name: awaited_assets
-- Return the sources of records that depend on assets, with the last known event of each.
SELECT id, settings -> 'records' -> 'depends_on', coalesce(record_state -> 'upstream', '{}')
FROM source
WHERE collection = %(collection)s AND removed_at IS NULL AND kind = 'files'
  AND settings #> '{records,depends_on}' <> '[]'
ORDER BY id;

-- name: wake_records
-- Let a source of records be looked at now, and remember the events that it was woken by.
UPDATE source SET next_fetch_at = now(), record_state = coalesce(record_state, '{}') || %(upstream)s
WHERE id = %(source_id)s;

-- name: begin_pushed_records
-- Note that a source has got records, which no look finds.
UPDATE source SET record_state = coalesce(record_state, '{}') WHERE id = %(source_id)s;

-- name: record_state
-- Return where the last look at a source of records ended.
SELECT record_state FROM source WHERE id = %(source_id)s;

-- name: record_look
-- Record where a look at a source of records ended, and when the next one is due.
UPDATE source SET record_state = %(state)s, next_fetch_at = now() + %(seconds)s * interval '1 second'
WHERE id = %(source_id)s;

-- name: known_records
-- Return every record that is known of a source, also those that are gone.
SELECT uri, version, mark, removed_at IS NULL FROM source_record WHERE source_id = %(source_id)s;

-- name: record_records
-- Insert or update records, or only note that they were seen as they are.
INSERT INTO source_record AS known
    (source_id, uri, version, mark, content, skip_reason, failure, failure_class, removed_at, allowed)
SELECT %(source_id)s, uri, version, mark, nullif(content, ''), skip_reason, failure, failure_class,
       CASE WHEN version = 'deleted' THEN now() END,
       CASE WHEN allowed IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(allowed::jsonb)) END
FROM unnest(%(uris)s::text[], %(versions)s::text[], %(marks)s::text[], %(contents)b::bytea[],
            %(skip_reasons)s::text[], %(failures)s::text[], %(failure_classes)s::text[], %(allowed)s::text[])
    AS seen (uri, version, mark, content, skip_reason, failure, failure_class, allowed)
ON CONFLICT (source_id, uri) DO UPDATE SET
    version = excluded.version, mark = excluded.mark, content = coalesce(excluded.content, known.content),
    skip_reason = excluded.skip_reason, failure = excluded.failure, failure_class = excluded.failure_class,
    removed_at = CASE WHEN excluded.removed_at IS NOT NULL THEN coalesce(known.removed_at, now()) END,
    allowed = excluded.allowed
    WHERE (known.version, known.mark, known.removed_at IS NULL, known.allowed)
        IS DISTINCT FROM (excluded.version, excluded.mark, excluded.removed_at IS NULL, excluded.allowed);

-- name: lose_records
-- Mark records as gone that their source does not have any more. The next one is read again if it returns.
UPDATE source_record SET removed_at = now(), mark = NULL
WHERE source_id = %(source_id)s AND uri = ANY(%(uris)s) AND removed_at IS NULL;

-- name: record_failures
-- Return the records of a source that could not be made into documents.
SELECT uri, failure, failure_class FROM source_record
WHERE source_id = %(source_id)s AND failure IS NOT NULL AND removed_at IS NULL;

-- name: count_records
-- Return the number of records that a source has, and whether any of them could not be read.
SELECT count(*), EXISTS (SELECT FROM raw_file WHERE source_id = %(source_id)s AND failure IS NOT NULL)
FROM source_record WHERE source_id = %(source_id)s AND removed_at IS NULL;

-- name: differing_records
-- Return the records that differ from the inventory, or every one, and what the inventory knows of them.
SELECT coalesce(seen.uri, file.uri),
       coalesce((SELECT octet_length(content) FROM source_record
                 WHERE source_id = %(source_id)s AND uri = seen.uri), 0), -- the join carries no contents
       seen.version, seen.skip_reason,
       file.uri IS NOT NULL, file.size, file.modified, file.removed_at IS NULL,
       file.failure IS NOT NULL AND (%(retry_now)s OR is_due(file.next_retry_at)), file.failure IS NOT NULL,
       file.skip_reason, file.media_type, file.sha256
FROM (SELECT uri, version, skip_reason FROM source_record WHERE source_id = %(source_id)s AND removed_at IS NULL) seen
FULL JOIN (SELECT * FROM raw_file WHERE source_id = %(source_id)s) file ON file.uri = seen.uri
WHERE CASE WHEN seen.uri IS NULL THEN file.removed_at IS NULL
           ELSE %(every)s OR file.uri IS NULL OR file.removed_at IS NOT NULL OR file.modified <> seen.version
               OR (file.failure IS NOT NULL AND (%(retry_now)s OR is_due(file.next_retry_at))) END
ORDER BY 1;

-- name: record_contents
-- Return the bytes of records.
SELECT source_record.source_id, source_record.uri, source_record.content
FROM unnest(%(source_ids)s::bigint[], %(uris)s::text[]) AS wanted (source_id, uri)
JOIN source_record USING (source_id, uri)
WHERE source_record.content IS NOT NULL;
