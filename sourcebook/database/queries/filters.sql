-- Conditions of a filtered search on `document`, joined by sourcebook/search/ranking/filter_conditions.py; names in
-- braces are parameters.

-- name: filter_entries
-- Return whether an entry's document fulfils the conditions of a filter.
entry.document_id IN (SELECT document.id FROM document WHERE {conditions})

-- name: filter_hidden
-- Return whether an entry's document is none of those that were hidden from search by hand.
entry.document_id <> ALL({hidden}::bigint[])

-- name: filter_audiences
-- Return whether one of the audiences may see the document.
document.audience_id = ANY({value}::integer[])

-- name: filter_collections
-- Return whether the document is of one of the searched collections, as all of their entries are: fewer are looked up.
document.collection = ANY({value}::text[])

-- name: filter_sources
-- Return whether the document is from one of the sources, named by location, configured root or configured URL.
document.source_id IN (
    SELECT source.id FROM source
    WHERE source.location = ANY({value}::text[]) OR source.settings ->> 'root' = ANY({value}::text[])
       OR source.settings ->> 'url' = ANY({value}::text[]))

-- name: filter_kinds
-- Return whether the document is of one of the kinds.
document.kind = ANY({value}::text[])

-- name: filter_types
-- Return whether the document is of one of the types.
document.document_type = ANY({value}::text[])

-- name: filter_media_types
-- Return whether the document has one of the media types.
document.media_type = ANY({value}::text[])

-- name: filter_media_families
-- Return whether the document has a media type of one of the families, such as image.
split_part(document.media_type, '/', 1) = ANY({value}::text[])

-- name: filter_tags_any
-- Return whether the document has at least one of the tags.
document.tags && {value}::text[]

-- name: filter_tags_all
-- Return whether the document has each of the tags.
document.tags @> {value}::text[]

-- name: filter_languages
-- Return whether the document is in one of the languages.
document.language = ANY({value}::text[])

-- name: filter_uri_prefix
-- Return whether the document's URI begins with the text.
starts_with(document.uri, {value}::text)

-- name: filter_document_ids
-- Return whether the document has one of the ids.
document.id = ANY({value}::bigint[])

-- name: filter_document_uris
-- Return whether the document has one of the URIs, or a path that ends with one of them.
EXISTS (SELECT FROM unnest({value}::text[]) AS wanted
        WHERE document.uri = wanted OR right(document.uri, length(wanted) + 1) = '/' || wanted)

-- name: filter_domains
-- Return whether the document's host is one of the hosts or below one of them; www. counts for nothing.
EXISTS (SELECT FROM unnest({value}::text[]) AS wanted,
             regexp_replace(lower(substring(document.uri FROM '^https?://(?:[^/@]*@)?([^/:?#]+)')), '^www\.', '') AS host
        WHERE host = wanted OR right(host, length(wanted) + 1) = '.' || wanted)

-- name: filter_extensions
-- Return whether the name of the document has one of the endings.
lower(substring(regexp_replace(document.uri, CASE document.kind WHEN 'page' THEN '[?#].*$' ELSE '$' END, '')
                FROM '\.([^./]+)$')) = ANY({value}::text[])

-- name: filter_paths
-- Return whether the document's path, without the query of a URL, ends like one of the patterns.
regexp_replace(document.uri, CASE document.kind WHEN 'page' THEN '[?#].*$' ELSE '$' END, '') ~ ANY({value}::text[])

-- name: filter_date_from
-- Return whether the document's own date is at or after the moment.
document.dated_at >= {value}::timestamptz

-- name: filter_date_until
-- Return whether the document's own date is before the moment.
document.dated_at < {value}::timestamptz

-- name: filter_added_from
-- Return whether the document was first taken in at or after the moment.
document.created_at >= {value}::timestamptz

-- name: filter_added_until
-- Return whether the document was first taken in before the moment.
document.created_at < {value}::timestamptz

-- name: filter_changed_from
-- Return whether the document last changed at or after the moment.
document.updated_at >= {value}::timestamptz

-- name: filter_changed_until
-- Return whether the document last changed before the moment.
document.updated_at < {value}::timestamptz

-- name: filter_metadata_equal
-- Return whether the metadata contain the value, alone or in a list; the index on metadata serves it.
document.metadata @> {value}::jsonb

-- name: filter_metadata_among
-- Return whether a key holds one of many values, alone or in a list: one test per document, no index look-up per value.
(document.metadata #> {path}::text[] = ANY({value}::jsonb[])
 OR jsonb_typeof(document.metadata #> {path}::text[]) = 'array' AND EXISTS (
     SELECT FROM jsonb_path_query(document.metadata #> {path}::text[], '$[*]') AS member
     WHERE member = ANY({value}::jsonb[])))

-- name: filter_metadata_missing
-- Return whether a key of the metadata is absent or null.
coalesce(document.metadata #> {path}::text[], 'null') = 'null'

-- name: filter_metadata_present
-- Return whether a key of the metadata is present and not null.
coalesce(document.metadata #> {path}::text[], 'null') <> 'null'

-- name: filter_metadata_range
-- Return whether a key, or a member of its list, is in a range; values of another type than `type` do not compare.
jsonb_path_exists(
    document.metadata #> {path}::text[],
    '$[*] ? (@.type() == $type && ($gte == null || @ >= $gte) && ($gt == null || @ > $gt)
             && ($lte == null || @ <= $lte) && ($lt == null || @ < $lt))',
    {value}::jsonb)

-- name: filter_metadata_period
-- Return whether a key, or a member of its list, is an ISO 8601 date in a period; an open end is infinite.
EXISTS (
    SELECT FROM jsonb_path_query(document.metadata #> {path}::text[], '$[*] ? (@.type() == "string")') AS member
    WHERE moment(member #>> '{{}}') >= {start}::timestamptz AND moment(member #>> '{{}}') < {end}::timestamptz)
