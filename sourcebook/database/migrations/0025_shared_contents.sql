-- Contents that several collections share, lists of URLs that others have changed, and fewer steps to most lexemes.

-- Mark the documents of every collection whose parsed content was replaced by another one. An attachment is marked with
-- its message.
CREATE FUNCTION follow_parsed_contents() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    INSERT INTO changed_item (collection, uri)
    SELECT held.collection, marked.uri
    FROM document held
    CROSS JOIN LATERAL (
        SELECT held.uri
        UNION ALL
        SELECT message.uri
        FROM document message
        WHERE message.collection = held.collection AND message.uri = regexp_replace(held.uri, '/[^/]*$', '')
          AND EXISTS (
              SELECT FROM attachment
              WHERE attachment.container_sha256 = message.content_sha256
                AND attachment.container_parser = message.content_parser)
    ) AS marked (uri)
    WHERE held.content_sha256 = NEW.sha256 AND held.content_parser = NEW.parser
      AND held.content_hash IS DISTINCT FROM NEW.content_hash;
    RETURN NULL;
END
$$;
CREATE TRIGGER contents_replaced AFTER UPDATE ON parsed_content
    FOR EACH ROW WHEN (OLD.content_hash IS DISTINCT FROM NEW.content_hash) EXECUTE FUNCTION follow_parsed_contents();

-- Let the next crawl of the sites whose URLs a statement changed that is not the library's find them again.
CREATE FUNCTION distrust_urls() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE source SET crawl_scope = '' WHERE crawl_scope <> '' AND id IN (SELECT source_id FROM added);
    ELSIF TG_OP = 'DELETE' THEN
        UPDATE source SET crawl_scope = '' WHERE crawl_scope <> '' AND id IN (SELECT source_id FROM gone);
    ELSIF TG_OP = 'UPDATE' THEN
        UPDATE source SET crawl_scope = ''
        WHERE crawl_scope <> '' AND id IN (SELECT source_id FROM gone UNION ALL SELECT source_id FROM added);
    ELSE
        UPDATE source SET crawl_scope = '' WHERE crawl_scope <> '';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER urls_added_by_others AFTER INSERT ON frontier REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
CREATE TRIGGER urls_changed_by_others AFTER UPDATE ON frontier REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
CREATE TRIGGER urls_deleted_by_others AFTER DELETE ON frontier REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
CREATE TRIGGER urls_emptied_by_others AFTER TRUNCATE ON frontier
    FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0 AND NOT is_library()) EXECUTE FUNCTION distrust_urls();
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_added_by_others;
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_changed_by_others;
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_deleted_by_others;
ALTER TABLE frontier ENABLE ALWAYS TRIGGER urls_emptied_by_others;

-- The lexemes of a text in the text-search configuration of its language. Before stemming, variants of a letter are
-- normalised (NFKC: ligatures, full-width letters, combining accents) and invisible characters are removed (soft
-- hyphens, zero-width spaces); after stemming, which may need them, accents are folded. Letters with marks that are
-- letters of their own in the language stay.
CREATE OR REPLACE FUNCTION search_lexemes(configuration regconfig, content text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    found tsvector;
BEGIN
    -- Of ASCII no stemmer makes an accent that is folded, but the Serbian one, which writes `dj` as `đ`.
    IF octet_length(content) = length(content) AND configuration::text <> 'serbian' THEN
        RETURN to_tsvector(configuration, content);
    END IF;
    content := paired_letters(translate(normalize(content, NFKC), U&'\00AD\200B\2060\FEFF', ''));
    -- Nor do stemmers make an accent of quotation marks, dashes and scripts whose marks are letters.
    IF content !~ '[\u00c0-\u03ffёЁ\u1e00-\u1fff]' AND configuration::text <> 'serbian' THEN
        RETURN to_tsvector(configuration, content);
    END IF;
    IF configuration::text IN ('english', 'simple') THEN  -- whose stemmers know no accents: `résumé` is `resume`
        content := without_accents(content);
    END IF;
    found := to_tsvector(configuration, content);
    IF found::text !~ '[\u00c0-\u03ffёЁ\u1e00-\u1fff]' OR configuration::text IN
        ('danish', 'estonian', 'finnish', 'hungarian', 'norwegian', 'swedish', 'turkish') THEN
        RETURN found;
    END IF;
    RETURN (
        SELECT coalesce(string_agg(
            quoted_lexeme(without_accents(lexeme)) || ':' || array_to_string(positions, ','), ' '), '')::tsvector
        FROM unnest(found));
END
$$;
