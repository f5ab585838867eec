-- Conditions of a filtered search on `document`, put together by sourcebook/search/filters.py: {…} are parameters.

-- name: filter_entries
-- What a filter says of documents, as a condition on the entries of the index.
entry.document_id IN (SELECT document.id FROM document WHERE {conditions})

-- name: filter_sources
-- A source's location as the ledger has it, or the root or the URL as the configuration has it.
document.source_id IN (
    SELECT source.id FROM source
    WHERE source.location = ANY({value}::text[]) OR source.settings ->> 'root' = ANY({value}::text[])
       OR source.settings ->> 'url' = ANY({value}::text[]))

-- name: filter_kinds
document.kind = ANY({value}::text[])

-- name: filter_media_types
document.media_type = ANY({value}::text[])

-- name: filter_media_families
split_part(document.media_type, '/', 1) = ANY({value}::text[])

-- name: filter_tags_any
document.tags && {value}::text[]

-- name: filter_tags_all
document.tags @> {value}::text[]

-- name: filter_languages
document.language = ANY({value}::text[])

-- name: filter_uri_prefix
starts_with(document.uri, {value}::text)

-- name: filter_date_from
document.dated_at >= {value}::timestamptz

-- name: filter_date_until
document.dated_at < {value}::timestamptz

-- name: filter_added_from
document.created_at >= {value}::timestamptz

-- name: filter_added_until
document.created_at < {value}::timestamptz

-- name: filter_changed_from
document.updated_at >= {value}::timestamptz

-- name: filter_changed_until
document.updated_at < {value}::timestamptz

-- name: filter_metadata_equal
-- Containment, which the index on metadata serves. The key holds the value, or a list with the value in it.
document.metadata @> {value}::jsonb

-- name: filter_metadata_among
-- The same for many values: one look at each document instead of one in the index for each value.
(document.metadata #> {path}::text[] = ANY({value}::jsonb[])
 OR jsonb_typeof(document.metadata #> {path}::text[]) = 'array' AND EXISTS (
     SELECT FROM jsonb_path_query(document.metadata #> {path}::text[], '$[*]') AS member
     WHERE member = ANY({value}::jsonb[])))

-- name: filter_metadata_missing
coalesce(document.metadata #> {path}::text[], 'null') = 'null'

-- name: filter_metadata_present
coalesce(document.metadata #> {path}::text[], 'null') <> 'null'

-- name: filter_metadata_range
-- `type` is number or string: values of another type do not compare. Of a list, one member must lie in the range.
jsonb_path_exists(
    document.metadata #> {path}::text[],
    '$[*] ? (@.type() == $type && ($gte == null || @ >= $gte) && ($gt == null || @ > $gt)
             && ($lte == null || @ <= $lte) && ($lt == null || @ < $lt))',
    {value}::jsonb)

-- name: filter_metadata_period
-- Texts that are ISO 8601 dates. Of a list, one member must lie in the period; an open end is infinite.
EXISTS (
    SELECT FROM jsonb_path_query(document.metadata #> {path}::text[], '$[*] ? (@.type() == "string")') AS member
    WHERE moment(member #>> '{{}}') >= {start}::timestamptz AND moment(member #>> '{{}}') < {end}::timestamptz)
