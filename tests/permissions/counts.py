"""Counts of entries by audience, against a recount of the entries themselves."""

from collections.abc import Iterator

from psycopg import Connection

_WORDS = """
SELECT 'lexeme', generation_id, token, audience_id, kept.entries, counted.entries
FROM (
    SELECT generation_id, token, audience_id, sum(entries)::integer AS entries
    FROM lexeme_audience JOIN (SELECT id AS count_id, audience_id FROM audience_count) audience USING (count_id)
    GROUP BY 1, 2, 3 HAVING sum(entries) <> 0
) kept
FULL JOIN (
    SELECT entry.generation_id, word.lexeme AS token, document.audience_id, count(*)::integer AS entries
    FROM search_entry entry JOIN document ON document.id = entry.document_id
    CROSS JOIN LATERAL unnest(entry.lexemes) AS word
    WHERE document.audience_id <> 1 GROUP BY 1, 2, 3
) counted USING (generation_id, token, audience_id)
WHERE kept.entries IS DISTINCT FROM counted.entries
UNION ALL
SELECT 'configuration', generation_id, name, audience_id, kept.entries, counted.entries
FROM (
    SELECT generation_id, name, audience_id, sum(entries)::bigint AS entries, sum(total_length)::bigint AS total_length
    FROM configuration_audience JOIN (SELECT id AS count_id, audience_id FROM audience_count) audience USING (count_id)
    GROUP BY 1, 2, 3 HAVING sum(entries) <> 0 OR sum(total_length) <> 0
) kept
FULL JOIN (
    SELECT entry.generation_id, entry.configuration AS name, document.audience_id, count(*) AS entries,
           sum(keyword_length(entry.lexemes)) AS total_length
    FROM search_entry entry JOIN document ON document.id = entry.document_id
    WHERE document.audience_id <> 1 GROUP BY 1, 2, 3
) counted USING (generation_id, name, audience_id)
WHERE (kept.entries, kept.total_length) IS DISTINCT FROM (counted.entries, counted.total_length)
UNION ALL
SELECT 'lexeme of all', generation_id, token, 0, kept.entries, parts.entries
FROM (SELECT * FROM lexeme_audience WHERE count_id = 0 AND entries <> 0) kept
FULL JOIN (
    SELECT generation_id, token, sum(entries) AS entries FROM lexeme_audience WHERE count_id <> 0
    GROUP BY 1, 2 HAVING sum(entries) <> 0
) parts USING (generation_id, token)
WHERE kept.entries IS DISTINCT FROM parts.entries
UNION ALL
SELECT 'configuration of all', generation_id, name, 0, kept.entries, parts.entries
FROM (SELECT * FROM configuration_audience WHERE count_id = 0 AND (entries <> 0 OR total_length <> 0)) kept
FULL JOIN (
    SELECT generation_id, name, sum(entries) AS entries, sum(total_length) AS total_length
    FROM configuration_audience WHERE count_id <> 0 GROUP BY 1, 2 HAVING sum(entries) <> 0 OR sum(total_length) <> 0
) parts USING (generation_id, name)
WHERE (kept.entries, kept.total_length) IS DISTINCT FROM (parts.entries, parts.total_length)
UNION ALL
SELECT 'weight', generation_id, chunk_id::text, document.audience_id, kept.audience_id, document.audience_id
FROM keyword_entry held JOIN search_entry entry USING (generation_id, chunk_id)
JOIN document ON document.id = entry.document_id
CROSS JOIN LATERAL (
    SELECT CASE count_id WHEN 0 THEN 1 ELSE coalesce((
        SELECT audience_id FROM audience_count WHERE id = count_id AND generation_id = held.generation_id), -1) END
) kept (audience_id)
WHERE kept.audience_id <> document.audience_id
UNION ALL
SELECT 'audience', id, uri, audience_id, audience_id, audience_for(source_id, uri, metadata) FROM document
WHERE audience_id <> audience_for(source_id, uri, metadata)
"""


def wrong_counts(connection: Connection) -> Iterator[str]:
    """Yield each kept count that is another than the counted one, and each document with another audience."""
    for kind, place, name, audience, kept, counted in connection.execute(_WORDS):
        yield f"{kind} {name} of {place}, audience {audience}: kept {kept}, counted {counted}"
