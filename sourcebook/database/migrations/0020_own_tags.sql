-- The tags of a document: those of its source, then its own, from front matter, or from the keywords of an office file or
-- a PDF. The keywords of a web page are for search engines.
CREATE FUNCTION document_tags(of_source text[], metadata jsonb, media_type text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN NOT coalesce(metadata ?| ARRAY['tags', 'keywords'], false) THEN of_source ELSE of_source || ARRAY(
    SELECT word
    FROM (
        SELECT coalesce(metadata -> 'tags', CASE WHEN media_type NOT IN ('text/html', 'application/xhtml+xml')
                                                 THEN metadata -> 'keywords' END) AS words
    ) own
    CROSS JOIN LATERAL (
        SELECT btrim(word) AS word, min(place) AS place
        FROM (
            SELECT word, place
            FROM jsonb_array_elements_text(CASE jsonb_typeof(words) WHEN 'array' THEN words ELSE '[]' END)
                WITH ORDINALITY AS listed (word, place)
            UNION ALL
            SELECT word, place
            FROM regexp_split_to_table(CASE jsonb_typeof(words) WHEN 'string' THEN words #>> '{}' ELSE '' END, '[;,]')
                WITH ORDINALITY AS written (word, place)
        ) found
        GROUP BY 1
    ) counted
    WHERE word <> '' AND word <> ALL(of_source)
    ORDER BY place) END;

-- The next ingest compares every item with its document.
UPDATE collection SET compared_with = NULL;
