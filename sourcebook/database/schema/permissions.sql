-- Permissions: who may see which documents, and the statistics of what they see.

-- Who may see a document: a set of principals that may and one that may not, whatever else they may. Documents that the
-- same principals see share a row. Row 1 is everyone, row 2 nobody.
CREATE TABLE audience (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    allowed text[] NOT NULL,           -- principals such as user:anna@example.org, group:board or everyone; sorted
    denied text[] NOT NULL,
    hash bytea NOT NULL UNIQUE         -- sha256 of both
);
CREATE TABLE audience_principal (
    audience_id integer NOT NULL REFERENCES audience (id) ON DELETE CASCADE,
    principal text NOT NULL,
    is_denied boolean NOT NULL,
    PRIMARY KEY (principal, is_denied, audience_id)
);
-- Principals that belong to a group of the settings, groups among them.
CREATE TABLE group_member (
    member text NOT NULL,
    principal text NOT NULL,           -- the group
    PRIMARY KEY (member, principal)
);

-- Principals of single items: of an upload that names them, and of each file of a folder whose permissions in the file
-- system decide. They come before what the source says of all its items.
CREATE TABLE item_permission (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    uri text NOT NULL,
    allowed text[] NOT NULL,
    denied text[] NOT NULL,            -- beside those of the source
    state text,                        -- of a file: digest of its own owner, group, mode and ACL
    PRIMARY KEY (source_id, uri)
);

-- Return the audience of two sets of principals, which is made where it is new.
CREATE FUNCTION audience_of(allowed text[], denied text[]) RETURNS integer
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    allowing text[] := ARRAY(SELECT each FROM (SELECT DISTINCT unnest(allowed) COLLATE "C") AS given (each) ORDER BY each);
    denying text[] := ARRAY(SELECT each FROM (SELECT DISTINCT unnest(denied) COLLATE "C") AS given (each) ORDER BY each);
    digest bytea := sha256(convert_to(jsonb_build_array(allowing, denying)::text, 'UTF8'));
    found integer;
BEGIN
    SELECT id INTO found FROM audience WHERE hash = digest;
    IF found IS NULL THEN
        INSERT INTO audience (allowed, denied, hash) VALUES (allowing, denying, digest)
        ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash RETURNING id INTO found;
        INSERT INTO audience_principal (audience_id, principal, is_denied)
        SELECT found, each, false FROM unnest(allowing) AS each
        UNION ALL SELECT found, each, true FROM unnest(denying) AS each
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN found;
END
$$;
SELECT audience_of('{everyone}', '{}');
SELECT audience_of('{}', '{}');

-- Collections in which principals see a document.
CREATE INDEX document_collection_audience ON document (collection, audience_id) WHERE removed_at IS NULL;

-- Return the audiences that some principals belong to, with the groups that these are members of; also to the reader.
CREATE FUNCTION audiences_of(principals text[]) RETURNS integer[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = sourcebook, public SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN  -- one plan is made per session, as for passages_of, which looks each principal up however tables grow
    RETURN (
        WITH RECURSIVE belonging (principal) AS (
            SELECT unnest(principals || 'everyone'::text)
            UNION  -- which ends where groups are members of each other
            SELECT held.principal FROM group_member held JOIN belonging ON belonging.principal = held.member
        ), named AS (
            SELECT audience_id, bool_or(is_denied) AS is_denied
            FROM audience_principal JOIN belonging USING (principal) GROUP BY audience_id
        )
        SELECT coalesce(array_agg(audience_id ORDER BY audience_id), '{}') FROM named WHERE NOT is_denied
    );
END
$$;

-- Return the names of the live collections in which the session sees a document, or everyone where it has no audiences; also to
-- the reader. Each audience is looked up in each collection until there is one: hidden documents cost nothing.
CREATE FUNCTION seen_collections() RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = sourcebook, public SET enable_seqscan = off
AS $$
DECLARE
    audiences integer[] := coalesce(nullif(current_setting('sourcebook.audiences', true), '')::integer[], '{1}');
BEGIN
    RETURN QUERY
    SELECT collection.name FROM collection
    CROSS JOIN LATERAL (
        SELECT FROM unnest(audiences) AS audience (id)
        CROSS JOIN LATERAL (
            SELECT FROM document
            WHERE document.collection = collection.name AND audience_id = audience.id AND document.removed_at IS NULL
            LIMIT 1
        ) found
        LIMIT 1
    ) seen
    WHERE collection.removed_at IS NULL
    ORDER BY collection.name;
END
$$;

-- Return the audience of an item: what item_permission says of it, or else what its source says in `permissions`. With
-- `by_item` every item has a row there, with `by_record` a record says it itself, with `by_document` the document's own
-- metadata may, not those given by hand; otherwise the first rule decides whose regular expression fits the URI. An
-- attachment has the audience of its message, archive or record. Where the source says nothing, everyone may see the item;
-- where rules leave it out, or what is said is no list of principals, nobody.
CREATE FUNCTION audience_for(of_source bigint, of_uri text, of_metadata jsonb) RETURNS integer
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    held source;
    root text;
    said jsonb := of_metadata -> 'allowed';
    rule jsonb;
    found integer;
BEGIN
    SELECT * INTO held FROM source WHERE id = of_source;
    IF held.kind = 'collection' THEN  -- a copy: as the document that it was taken from
        RETURN coalesce((SELECT audience_id FROM document WHERE collection = held.location AND uri = of_uri), 2);
    END IF;
    IF held.permissions IS NULL AND held.kind <> 'uploads' THEN
        RETURN 1;
    END IF;
    root := root_item(held.collection, of_uri);
    IF root <> of_uri THEN
        RETURN coalesce((SELECT audience_id FROM document WHERE collection = held.collection AND uri = root), 2);
    END IF;
    IF held.kind = 'uploads' OR held.permissions ? 'by_item' THEN
        SELECT audience_of(allowed, denied || ARRAY(SELECT jsonb_array_elements_text(held.permissions -> 'denied')))
        INTO found FROM item_permission WHERE source_id = of_source AND uri = of_uri;
        IF found IS NOT NULL THEN
            RETURN found;
        ELSIF held.permissions ? 'by_item' THEN
            RETURN 2;
        ELSIF held.permissions IS NULL THEN
            RETURN 1;
        END IF;
    END IF;
    IF said IS NOT NULL AND (held.permissions ->> 'by_document')::boolean THEN
        IF jsonb_typeof(said) = 'string' THEN
            said := jsonb_build_array(said);
        END IF;
        IF jsonb_typeof(said) <> 'array' OR EXISTS (
                SELECT FROM jsonb_array_elements(said) AS each
                WHERE jsonb_typeof(each) <> 'string' OR each #>> '{}' !~ '^((user|group):\S.*|everyone)$') THEN
            RETURN 2;
        END IF;
        RETURN audience_of(ARRAY(SELECT jsonb_array_elements_text(said)),
                           ARRAY(SELECT jsonb_array_elements_text(held.permissions -> 'denied')));
    END IF;
    IF (held.permissions ->> 'by_record')::boolean THEN
        RETURN coalesce((
            SELECT audience_of(allowed, ARRAY(SELECT jsonb_array_elements_text(held.permissions -> 'denied')))
            FROM source_record WHERE source_id = of_source AND uri = of_uri AND allowed IS NOT NULL), 2);
    END IF;
    FOR rule IN SELECT jsonb_array_elements(held.permissions -> 'rules') LOOP
        IF rule ->> 'path' IS NULL OR of_uri ~ (rule ->> 'path') THEN
            RETURN audience_of(ARRAY(SELECT jsonb_array_elements_text(rule -> 'allowed')),
                               ARRAY(SELECT jsonb_array_elements_text(held.permissions -> 'denied')));
        END IF;
    END LOOP;
    RETURN 2;
END
$$;

-- Let permissions change while nobody writes documents or entries: a document that another transaction writes would keep
-- what was said before. Whoever writes takes this lock first, so that nobody waits in a circle.
CREATE FUNCTION hold_permissions() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    key bigint := hashtextextended('sourcebook permissions', 0);
BEGIN
    IF TG_ARGV[0] = 'change' THEN
        PERFORM pg_advisory_xact_lock(key);
    ELSE
        PERFORM pg_advisory_xact_lock_shared(key);
    END IF;
    RETURN NEW;  -- no row where it is asked once per statement
END
$$;
CREATE TRIGGER documents_hold_permissions BEFORE INSERT OR UPDATE OR DELETE ON document
    FOR EACH STATEMENT EXECUTE FUNCTION hold_permissions('read');
CREATE TRIGGER entries_hold_permissions BEFORE INSERT OR UPDATE OR DELETE ON search_entry
    FOR EACH STATEMENT EXECUTE FUNCTION hold_permissions('read');
CREATE TRIGGER permissions_hold BEFORE UPDATE OF permissions ON source
    FOR EACH STATEMENT EXECUTE FUNCTION hold_permissions('change');
CREATE TRIGGER record_permissions_hold BEFORE UPDATE OF allowed ON source_record
    FOR EACH ROW WHEN (OLD.allowed IS DISTINCT FROM NEW.allowed) EXECUTE FUNCTION hold_permissions('change');
CREATE TRIGGER item_permissions_hold BEFORE INSERT OR UPDATE ON item_permission
    FOR EACH STATEMENT EXECUTE FUNCTION hold_permissions('change');

-- Keep a document's audience with whatever says it, in the statement that changes it.
CREATE FUNCTION keep_audience() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    NEW.audience_id := audience_for(NEW.source_id, NEW.uri, coalesce(NEW.own_metadata, NEW.metadata));
    RETURN NEW;
END
$$;
CREATE TRIGGER documents_with_audience BEFORE INSERT OR UPDATE OF source_id, uri, metadata, given_metadata ON document
    FOR EACH ROW EXECUTE FUNCTION keep_audience();

-- Ask for the audience of a source's documents again where its permissions changed. Rules are tried one after another on
-- all documents, as audience_for tries all on one: PostgreSQL keeps few compiled expressions. Attachments follow later.
CREATE FUNCTION follow_permissions() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF OLD.permissions ? 'by_item' AND OLD.permissions - 'denied' IS DISTINCT FROM NEW.permissions - 'denied' THEN
        DELETE FROM item_permission WHERE source_id = NEW.id;
        UPDATE listed_folder SET digest = NULL, revision = DEFAULT WHERE source_id = NEW.id;  -- all is asked again
    END IF;
    IF NEW.kind = 'uploads' OR NEW.permissions IS NULL OR (NEW.permissions ->> 'by_document')::boolean
       OR (NEW.permissions ->> 'by_record')::boolean THEN
        UPDATE document SET audience_id = found.audience_id
        FROM (SELECT id, audience_for(source_id, uri, coalesce(own_metadata, metadata)) AS audience_id
              FROM document WHERE source_id = NEW.id OFFSET 0) found
        WHERE document.id = found.id AND document.audience_id <> found.audience_id;
        RETURN NULL;
    END IF;
    IF NEW.permissions ? 'by_item' THEN
        WITH said AS MATERIALIZED (
            SELECT allowed, denied, audience_of(
                allowed, denied || ARRAY(SELECT jsonb_array_elements_text(NEW.permissions -> 'denied'))) AS audience_id
            FROM (SELECT DISTINCT allowed, denied FROM item_permission WHERE source_id = NEW.id) each
        )
        UPDATE document SET audience_id = coalesce(said.audience_id, 2)
        FROM document known
        LEFT JOIN item_permission item ON item.source_id = known.source_id AND item.uri = known.uri
        LEFT JOIN said ON said.allowed = item.allowed AND said.denied = item.denied
        WHERE known.source_id = NEW.id AND document.id = known.id
          AND document.audience_id <> coalesce(said.audience_id, 2)
          AND NOT EXISTS (SELECT FROM attachment_roots(NEW.collection) AS inside WHERE inside.uri = known.uri);
        RETURN NULL;
    END IF;
    WITH rule AS MATERIALIZED (
        SELECT place, said ->> 'path' AS path,
               audience_of(ARRAY(SELECT jsonb_array_elements_text(said -> 'allowed')),
                           ARRAY(SELECT jsonb_array_elements_text(NEW.permissions -> 'denied'))) AS audience_id
        FROM jsonb_array_elements(NEW.permissions -> 'rules') WITH ORDINALITY AS given (said, place)
    ), fitting AS (
        SELECT DISTINCT ON (held.id) held.id, rule.audience_id
        FROM rule
        CROSS JOIN LATERAL (
            SELECT id FROM document
            WHERE source_id = NEW.id AND (rule.path IS NULL OR uri ~ rule.path)
            OFFSET 0
        ) held
        ORDER BY held.id, rule.place
    )
    UPDATE document SET audience_id = coalesce(fitting.audience_id, 2)
    FROM document known
    LEFT JOIN fitting USING (id)
    WHERE known.source_id = NEW.id AND document.id = known.id
      AND document.audience_id <> coalesce(fitting.audience_id, 2)
      AND NOT EXISTS (SELECT FROM attachment_roots(NEW.collection) AS inside WHERE inside.uri = known.uri);
    RETURN NULL;
END
$$;
CREATE TRIGGER permissions_follow AFTER UPDATE OF permissions ON source
    FOR EACH ROW WHEN (OLD.permissions IS DISTINCT FROM NEW.permissions) EXECUTE FUNCTION follow_permissions();

-- Ask for the audience of a record's document and attachments again where the record says another one.
CREATE FUNCTION follow_record_audience() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    UPDATE document SET audience_id = audience_for(source_id, uri, coalesce(own_metadata, metadata))
    WHERE source_id = NEW.source_id AND (uri = NEW.uri OR starts_with(uri, NEW.uri || '/'));
    RETURN NULL;
END
$$;
CREATE TRIGGER record_audience_follows AFTER UPDATE OF allowed ON source_record
    FOR EACH ROW WHEN (OLD.allowed IS DISTINCT FROM NEW.allowed) EXECUTE FUNCTION follow_record_audience();

-- Ask for the audience of documents again of which item_permission says another one. Attachments follow later.
CREATE FUNCTION follow_item_permissions() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    WITH said AS MATERIALIZED (
        SELECT each.*, source.collection,
               audience_of(allowed, denied || ARRAY(SELECT jsonb_array_elements_text(source.permissions -> 'denied'))) AS audience_id
        FROM (SELECT DISTINCT source_id, allowed, denied FROM changed) each JOIN source ON source.id = each.source_id
        WHERE source.kind = 'uploads' OR source.permissions ? 'by_item'
    )
    UPDATE document SET audience_id = said.audience_id
    FROM changed JOIN said USING (source_id, allowed, denied)
    WHERE document.collection = said.collection AND document.uri = changed.uri AND document.source_id = changed.source_id
      AND document.audience_id <> said.audience_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER item_permissions_added AFTER INSERT ON item_permission REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION follow_item_permissions();
CREATE TRIGGER item_permissions_changed AFTER UPDATE ON item_permission REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION follow_item_permissions();

-- How many entries that not everyone may see hold a lexeme, and were made with a text-search configuration. From these,
-- the views below know the statistics of what an audience may see: a score tells nothing about what it may not. Counts
-- stand under a number of their own, so that those of documents which all get another audience need not be written again.
CREATE TABLE audience_count (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    audience_id integer NOT NULL       -- it may have several in a generation, whose sum counts
);
CREATE INDEX audience_count_audience ON audience_count (audience_id, generation_id, id);
CREATE TABLE lexeme_audience (
    generation_id bigint NOT NULL,     -- its deletion deletes these rows
    token text COLLATE "C" NOT NULL,
    count_id integer NOT NULL,         -- 0: all of them together
    entries integer NOT NULL,
    PRIMARY KEY (generation_id, token, count_id) INCLUDE (entries)
);
CREATE TABLE configuration_audience (
    generation_id bigint NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
    name text NOT NULL,
    count_id integer NOT NULL,         -- 0: all of them together
    entries bigint NOT NULL,
    total_length bigint NOT NULL,
    PRIMARY KEY (generation_id, name, count_id)
);

-- Delete the counts of lexemes of a generation; a foreign key would look for the generation of each count.
CREATE FUNCTION delete_lexeme_audiences() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    DELETE FROM lexeme_audience WHERE generation_id = OLD.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER counts_gone_with_generation AFTER DELETE ON generation
    FOR EACH ROW EXECUTE FUNCTION delete_lexeme_audiences();

-- Return the number under which an audience is counted in a generation; it is made where there is none.
CREATE FUNCTION count_of(generation bigint, audience integer) RETURNS integer
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    found integer := (
        SELECT id FROM audience_count WHERE audience_id = audience AND generation_id = generation ORDER BY id LIMIT 1);
BEGIN
    IF found IS NULL THEN
        INSERT INTO audience_count (generation_id, audience_id) VALUES (generation, audience) RETURNING id INTO found;
    END IF;
    RETURN found;
END
$$;

-- Return the number under which an entry is counted: 0 where everyone sees it, -1 where nobody does before it is counted.
CREATE FUNCTION counted_under(of_generation bigint, of_chunk bigint) RETURNS integer
LANGUAGE sql STABLE
RETURN coalesce((
    SELECT CASE document.audience_id WHEN 1 THEN 0 ELSE (
        SELECT min(id) FROM audience_count
        WHERE audience_count.audience_id = document.audience_id AND audience_count.generation_id = of_generation) END
    FROM search_entry entry JOIN document ON document.id = entry.document_id
    WHERE entry.generation_id = of_generation AND entry.chunk_id = of_chunk), -1);

-- Return the average length of those entries of a generation that everyone may see, of its numbers of entries and lexemes:
-- scores tell nothing about the others. 100 where there are only others; NULL without a lexeme.
CREATE FUNCTION open_average(of_generation bigint, entries numeric, length numeric) RETURNS real
LANGUAGE sql STABLE SET search_path = sourcebook, public
RETURN (
    SELECT CASE WHEN length - hidden.lexemes > 0 THEN ((length - hidden.lexemes) / (entries - hidden.held))::real
                WHEN length > 0 THEN 100 END
    FROM (SELECT coalesce(sum(entries), 0) AS held, coalesce(sum(total_length), 0) AS lexemes
          FROM configuration_audience WHERE generation_id = of_generation AND count_id = 0) hidden);

-- An entry, as it is counted.
CREATE TYPE seen_entry AS (generation_id bigint, audience_id integer, configuration text, lexemes tsvector);

-- Add entries to both counts, or take them from these.
CREATE FUNCTION count_for_audiences(given seen_entry[], step integer) RETURNS void
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    counted jsonb := (
        SELECT jsonb_object_agg(generation_id || ' ' || audience_id, count_of(generation_id, audience_id))
        FROM (SELECT DISTINCT generation_id, audience_id FROM unnest(given)) each);
BEGIN
    WITH words AS (
        SELECT generation_id, audience_id, word.lexeme AS token, step * count(*) AS entries
        FROM unnest(given) CROSS JOIN LATERAL unnest(lexemes) AS word
        GROUP BY GROUPING SETS ((generation_id, word.lexeme, audience_id), (generation_id, word.lexeme))
    )
    INSERT INTO lexeme_audience AS held (generation_id, token, count_id, entries)
    SELECT generation_id, token, coalesce((counted ->> (generation_id || ' ' || audience_id))::integer, 0), entries FROM words
    ON CONFLICT (generation_id, token, count_id) DO UPDATE SET entries = held.entries + excluded.entries;
    WITH part AS (
        SELECT generation_id, audience_id, configuration, step * count(*) AS entries,
               step * sum(keyword_length(lexemes)) AS total_length
        FROM unnest(given)
        GROUP BY GROUPING SETS ((generation_id, configuration, audience_id), (generation_id, configuration))
    )
    INSERT INTO configuration_audience AS held (generation_id, name, count_id, entries, total_length)
    SELECT generation_id, configuration, coalesce((counted ->> (generation_id || ' ' || audience_id))::integer, 0),
           entries, total_length
    FROM part
    ON CONFLICT (generation_id, name, count_id) DO UPDATE
        SET entries = held.entries + excluded.entries, total_length = held.total_length + excluded.total_length;
END
$$;

-- Count all entries of documents or of a generation, some thousand at a time. Those of an audience come together, so that
-- each of its counts is written once for all of them.
CREATE FUNCTION count_documents_for(documents bigint[], audiences integer[], step integer, of_generation bigint DEFAULT NULL)
RETURNS void LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    part record;
BEGIN
    FOR part IN
        SELECT array_agg((entry.generation_id, given.audience_id, entry.configuration, entry.lexemes)::seen_entry) AS entries
        FROM (
            SELECT document_id, audience_id, row_number() OVER (ORDER BY audience_id, document_id) / 1000 AS portion
            FROM unnest(documents, audiences) AS listed (document_id, audience_id)
            WHERE audience_id <> 1
        ) given
        JOIN search_entry entry USING (document_id)
        WHERE of_generation IS NULL OR entry.generation_id = of_generation
        GROUP BY portion
    LOOP
        PERFORM count_for_audiences(part.entries, step);
    END LOOP;
END
$$;

-- Give the counts of audiences whose documents of a collection have all got the same other one to that one: no entry is
-- read. Return the documents.
CREATE FUNCTION rename_counted_audiences(documents bigint[], before integer[], after integer[]) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    whole bigint[];
    open integer[];
BEGIN
    WITH moved AS MATERIALIZED (
        SELECT collection, former, min(later) AS later, array_agg(document.id) AS ids
        FROM unnest(documents, before, after) AS given (id, former, later)
        JOIN document USING (id)
        WHERE former <> 1 GROUP BY collection, former HAVING count(DISTINCT later) = 1
    ), together AS MATERIALIZED (
        SELECT * FROM moved
        WHERE NOT EXISTS (SELECT FROM document WHERE audience_id = former AND document.collection = moved.collection)
    ), renamed AS (
        UPDATE audience_count held SET audience_id = later
        FROM together JOIN generation USING (collection)
        WHERE held.audience_id = former AND held.generation_id = generation.id
        RETURNING later, held.id
    )
    SELECT (SELECT array_agg(id) FROM together CROSS JOIN LATERAL unnest(ids) AS id),
           (SELECT array_agg(id) FROM renamed WHERE later = 1)
    INTO whole, open;
    IF open IS NOT NULL THEN  -- what everyone sees is not counted
        UPDATE lexeme_audience held SET entries = held.entries - part.entries
        FROM (SELECT generation_id, token, sum(entries) AS entries
              FROM lexeme_audience WHERE count_id = ANY(open) GROUP BY 1, 2) part
        WHERE held.generation_id = part.generation_id AND held.token = part.token AND held.count_id = 0;
        UPDATE configuration_audience held
        SET entries = held.entries - part.entries, total_length = held.total_length - part.total_length
        FROM (SELECT generation_id, name, sum(entries) AS entries, sum(total_length) AS total_length
              FROM configuration_audience WHERE count_id = ANY(open) GROUP BY 1, 2) part
        WHERE held.generation_id = part.generation_id AND held.name = part.name AND held.count_id = 0;
        DELETE FROM lexeme_audience WHERE count_id = ANY(open);
        DELETE FROM configuration_audience WHERE count_id = ANY(open);
        DELETE FROM audience_count WHERE id = ANY(open);
    END IF;
    RETURN coalesce(whole, '{}');
END
$$;

-- Count entries that are published or gone. Bases without permissions pay one look at their sources and counts.
CREATE FUNCTION follow_audiences() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    PERFORM FROM generation WHERE id IN (SELECT generation_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM source WHERE permissions IS NOT NULL) OR EXISTS (SELECT FROM item_permission)
       OR EXISTS (SELECT FROM configuration_audience) THEN
        PERFORM count_for_audiences(array_agg(
            (changed.generation_id, audience_id, configuration, lexemes)::seen_entry), TG_ARGV[0]::integer)
        FROM changed JOIN document ON document.id = changed.document_id
        WHERE audience_id <> 1
        HAVING count(*) > 0;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER added_0_audiences AFTER INSERT ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION follow_audiences('1');
CREATE TRIGGER gone_0_audiences AFTER DELETE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION follow_audiences('-1');
CREATE TRIGGER updated_0_audiences_gone AFTER UPDATE ON search_entry REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION follow_audiences('-1');
CREATE TRIGGER updated_0_b_audiences_added AFTER UPDATE ON search_entry REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION follow_audiences('1');

-- Move the counts of documents that others may see now, and let copies and attachments follow. Whoever publishes holds
-- the generation's row, which comes first here, too: the counts are of what is there when this transaction has it.
CREATE FUNCTION move_audiences() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    documents bigint[];
    before integer[];
    after integer[];
    whole bigint[];
BEGIN
    -- No join: the plan of a session that began with one document would compare each of many with each.
    SELECT array_agg(id), array_agg(former), array_agg(later) INTO documents, before, after
    FROM (
        SELECT id, max(former) AS former, max(later) AS later
        FROM (SELECT id, audience_id AS former, NULL AS later FROM gone
              UNION ALL SELECT id, NULL, audience_id FROM added) written
        GROUP BY id
    ) moved
    WHERE former <> later;
    IF documents IS NOT NULL THEN
        PERFORM FROM generation ORDER BY id FOR NO KEY UPDATE;
        whole := rename_counted_audiences(documents, before, after);
        PERFORM count_documents_for(array_agg(id), array_agg(former), -1),
                count_documents_for(array_agg(id), array_agg(later), 1)
        FROM unnest(documents, before, after) AS moved (id, former, later)
        WHERE id NOT IN (SELECT unnest(whole));
        UPDATE keyword_entry held SET count_id = entry.count_id
        FROM (
            SELECT generation_id, chunk_id, counted_under(generation_id, chunk_id) AS count_id
            FROM unnest(documents, after) AS moved (id, later)
            JOIN search_entry ON search_entry.document_id = moved.id
            WHERE later = 1 OR moved.id NOT IN (SELECT unnest(whole))
            OFFSET 0
        ) entry
        WHERE held.generation_id = entry.generation_id AND held.chunk_id = entry.chunk_id;
        UPDATE document copy SET audience_id = moved.audience_id
        FROM document moved, source rule
        WHERE moved.id = ANY(documents) AND rule.kind = 'collection' AND rule.location = moved.collection
          AND copy.source_id = rule.id AND copy.uri = moved.uri;
        UPDATE document inside
        SET audience_id = audience_for(inside.source_id, inside.uri, coalesce(inside.own_metadata, inside.metadata))
        FROM document moved
        JOIN attachment ON attachment.container_sha256 = moved.content_sha256
            AND attachment.container_parser = moved.content_parser
        WHERE moved.id = ANY(documents) AND inside.collection = moved.collection
          AND inside.uri = moved.uri || '/' || attachment.path;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER documents_move_audiences AFTER UPDATE ON document REFERENCING OLD TABLE AS gone NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION move_audiences();

-- Delete the entries of a document before it: afterwards nobody knows who could see them.
CREATE FUNCTION delete_entries_first() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    DELETE FROM search_entry WHERE document_id = OLD.id;
    RETURN OLD;
END
$$;
CREATE TRIGGER documents_gone_with_entries BEFORE DELETE ON document
    FOR EACH ROW WHEN (OLD.audience_id <> 1) EXECUTE FUNCTION delete_entries_first();

-- Delete the documents of a collection before it: counts of what not everyone sees refer to it.
CREATE FUNCTION delete_documents_first() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    DELETE FROM document WHERE collection = OLD.name;
    RETURN OLD;
END
$$;
CREATE TRIGGER collections_gone_with_documents BEFORE DELETE ON collection
    FOR EACH ROW EXECUTE FUNCTION delete_documents_first();

-- The second wall: who asks for principals does so by the role sourcebook_reader, which sees rows of documents of its
-- audiences alone, in every statement, whatever it says. A session sets sourcebook.audiences; without it the role sees
-- nothing. The owner and other roles see what they saw.

-- Return the audiences of the session.
CREATE FUNCTION session_audiences() RETURNS SETOF integer
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10
RETURN unnest(nullif(current_setting('sourcebook.audiences', true), '')::integer[]);

-- Return the numbers under which the entries are counted that some audiences see, also to the reader.
CREATE FUNCTION counts_of(audiences integer[]) RETURNS integer[]
LANGUAGE sql STABLE SECURITY DEFINER
RETURN ARRAY(SELECT 0 UNION ALL SELECT id FROM audience_count WHERE audience_id = ANY(audiences));

-- Return those of the session, which are set with its audiences; without them what everyone sees.
CREATE FUNCTION session_counts() RETURNS integer[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('sourcebook.counts', true), '')::integer[], '{0}');

ALTER TABLE document ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON document
    USING (current_user <> 'sourcebook_reader' OR audience_id IN (SELECT session_audiences()));
ALTER TABLE chunk ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON chunk
    USING (current_user <> 'sourcebook_reader' OR EXISTS (SELECT FROM document WHERE document.id = chunk.document_id));
ALTER TABLE indexed_document ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON indexed_document
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document WHERE document.id = indexed_document.document_id));
ALTER TABLE document_name ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON document_name
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document WHERE document.id = document_name.document_id));
ALTER TABLE document_abbreviation ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON document_abbreviation
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document WHERE document.id = document_abbreviation.document_id));
ALTER TABLE document_relation ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON document_relation
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document WHERE document.id = document_relation.document_id));
ALTER TABLE parsed_content ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON parsed_content
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document
        WHERE document.content_sha256 = parsed_content.sha256 AND document.content_parser = parsed_content.parser));
ALTER TABLE attachment ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON attachment
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document
        WHERE document.content_sha256 = attachment.container_sha256 AND document.content_parser = attachment.container_parser));
ALTER TABLE raw_file ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON raw_file
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document WHERE document.source_id = raw_file.source_id AND document.uri = raw_file.uri));
-- Uploads are seen by who sees a document of the same bytes in their collection.
ALTER TABLE upload ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON upload
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM source JOIN raw_file ON raw_file.source_id = source.id
        WHERE source.collection = upload.collection AND source.kind = 'uploads' AND raw_file.sha256 = upload.sha256));
ALTER TABLE upload_content ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON upload_content
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM upload WHERE upload.sha256 = upload_content.sha256));
ALTER TABLE crawled_page ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON crawled_page
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document WHERE document.source_id = crawled_page.source_id AND document.uri = crawled_page.url));
ALTER TABLE source_record ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON source_record
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document WHERE document.source_id = source_record.source_id AND document.uri = source_record.uri));
ALTER TABLE transcribed_file ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON transcribed_file
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document
        WHERE document.source_id = transcribed_file.source_id AND document.uri = transcribed_file.uri));
ALTER TABLE frontier ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON frontier
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document WHERE document.source_id = frontier.source_id AND document.uri = frontier.url));
ALTER TABLE processing ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON processing
    USING (current_user <> 'sourcebook_reader' OR EXISTS (
        SELECT FROM document WHERE document.collection = processing.collection AND document.uri = processing.uri));
-- Views ask as whoever asks them.
ALTER VIEW present_page SET (security_invoker = true);
ALTER VIEW present_attachment SET (security_invoker = true);
ALTER VIEW present_source_item SET (security_invoker = true);
ALTER VIEW source_item SET (security_invoker = true);
ALTER VIEW item SET (security_invoker = true);

-- Make the views of the statistics of what the session's audiences may see, under the names of the tables: sessions of
-- the reader find these first. A lexeme that no visible entry holds is not there.
CREATE FUNCTION make_seen_views() RETURNS void
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    CREATE SCHEMA IF NOT EXISTS sourcebook_seen;
    CREATE OR REPLACE VIEW sourcebook_seen.lexeme AS
    SELECT whole.generation_id, whole.token, whole.id, held.entries
    FROM lexeme whole
    CROSS JOIN LATERAL (
        SELECT whole.entries + coalesce(sum(CASE count_id WHEN 0 THEN -counted.entries ELSE counted.entries END), 0)::integer AS entries
        FROM lexeme_audience counted
        WHERE counted.generation_id = whole.generation_id AND counted.token = whole.token AND count_id = ANY((SELECT session_counts())::integer[])
    ) held
    WHERE held.entries > 0;
    CREATE OR REPLACE VIEW sourcebook_seen.text_configuration AS
    SELECT whole.generation_id, whole.name, held.entries
    FROM text_configuration whole
    CROSS JOIN LATERAL (
        SELECT whole.entries + coalesce(sum(CASE count_id WHEN 0 THEN -counted.entries ELSE counted.entries END), 0)::bigint AS entries
        FROM configuration_audience counted
        WHERE counted.generation_id = whole.generation_id AND counted.name = whole.name AND count_id = ANY((SELECT session_counts())::integer[])
    ) held
    WHERE held.entries > 0;
    CREATE OR REPLACE VIEW sourcebook_seen.generation AS
    SELECT whole.id, whole.collection, whole.chunking, whole.embedding, whole.model, whole.dimensions, whole.created_at,
           whole.entry_count + held.entries AS entry_count, whole.total_length + held.total_length AS total_length,
           whole.average_length, whole.averaged_entries, whole.prepared_with, whole.text_count, whole.retired_at
    FROM generation whole
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(CASE count_id WHEN 0 THEN -counted.entries ELSE counted.entries END), 0)::bigint AS entries,
               coalesce(sum(CASE count_id WHEN 0 THEN -counted.total_length ELSE counted.total_length END), 0)::bigint
                   AS total_length
        FROM configuration_audience counted
        WHERE counted.generation_id = whole.id AND count_id = ANY((SELECT session_counts())::integer[])
    ) held;
END
$$;

-- Make the role sourcebook_reader what it is: what it may read. Return whether it is there; where this role may not
-- create it, or a schema, an administrator does.
CREATE FUNCTION prepare_reader() RETURNS boolean
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
DECLARE
    readable text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('sourcebook reader', 0));  -- processes that begin at the same time
    BEGIN
        IF to_regclass('sourcebook_seen.generation') IS NULL THEN
            PERFORM make_seen_views();
        END IF;
    EXCEPTION
        WHEN insufficient_privilege THEN RETURN false;
    END;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sourcebook_reader') THEN
        BEGIN
            CREATE ROLE sourcebook_reader NOLOGIN;
        EXCEPTION
            WHEN insufficient_privilege THEN RETURN false;
            WHEN duplicate_object OR unique_violation THEN NULL;  -- another session made it in between
        END;
    END IF;
    -- Since PostgreSQL 16 whoever makes a role is a member of it, and may not be it.
    IF NOT pg_has_role(current_user, 'sourcebook_reader',
                       CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
        BEGIN
            GRANT sourcebook_reader TO CURRENT_USER;
        EXCEPTION
            WHEN insufficient_privilege THEN RETURN false;
        END;
    END IF;
    -- Granting what is granted would write the catalog again, under the feet of whoever else does.
    IF NOT has_schema_privilege('sourcebook_reader', 'sourcebook_seen', 'USAGE') THEN
        GRANT USAGE ON SCHEMA sourcebook, sourcebook_seen TO sourcebook_reader;
        GRANT SELECT ON ALL TABLES IN SCHEMA sourcebook_seen TO sourcebook_reader;
    END IF;
    FOREACH readable IN ARRAY ARRAY[
        'collection', 'source', 'activation', 'document', 'chunk', 'indexed_document', 'search_entry', 'keyword_entry',
        'keyword_block', 'keyword_block_size', 'embedding', 'document_name', 'document_relation', 'document_abbreviation',
        'parsed_content', 'attachment', 'raw_file', 'crawled_page', 'source_record', 'transcribed_file', 'frontier',
        'processing', 'present_attachment', 'source_item', 'item', 'curated_collection', 'upload', 'upload_content']
    LOOP
        IF NOT has_table_privilege('sourcebook_reader', readable, 'SELECT') THEN
            EXECUTE format('GRANT SELECT ON %I TO sourcebook_reader', readable);
        END IF;
    END LOOP;
    RETURN true;
END
$$;
