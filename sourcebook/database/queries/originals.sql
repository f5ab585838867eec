-- name: original_of
-- Return the file or page that a document was made from, in the collection that its own one takes it from.
WITH RECURSIVE origin AS (
    SELECT document.collection, document.uri, document.source_id, document.media_type, source.kind, source.location,
           0 AS step
    FROM document JOIN source ON source.id = document.source_id
    WHERE document.id = %(document)s
    UNION ALL
    SELECT document.collection, document.uri, document.source_id, document.media_type, source.kind, source.location,
           origin.step + 1
    FROM origin
    JOIN document ON document.collection = origin.location AND document.uri = origin.uri
    JOIN source ON source.id = document.source_id
    WHERE origin.kind = 'collection' AND origin.step < 100
)
SELECT origin.collection, origin.uri, origin.source_id, origin.media_type, file.sha256, file.size,
       page.content IS NOT NULL AS is_stored, page.url IS NOT NULL AS is_page
FROM origin
LEFT JOIN raw_file file ON file.source_id = origin.source_id AND file.uri = origin.uri AND file.removed_at IS NULL
LEFT JOIN crawled_page page ON page.source_id = origin.source_id AND page.url = origin.uri AND page.removed_at IS NULL
ORDER BY origin.step DESC LIMIT 1;

-- name: attachment_place
-- Return the file that an attachment is in, and its place there.
SELECT file.source_id, file.uri, file.sha256, file.size, file.media_type, part.number, part.sha256, part.media_type
FROM present_attachment part
JOIN raw_file file ON file.source_id = part.source_id AND file.uri = part.container AND file.removed_at IS NULL
WHERE part.collection = %(collection)s AND part.uri = %(uri)s
LIMIT 1;
