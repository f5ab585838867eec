-- Documents have audiences, which their sources say.
ALTER TABLE source ADD COLUMN permissions jsonb;
ALTER TABLE source_record ADD COLUMN allowed text[];
ALTER TABLE document ADD COLUMN audience_id integer NOT NULL DEFAULT 1;
CREATE INDEX document_audience ON document (audience_id, id);
CREATE INDEX document_sight ON document (id) INCLUDE (audience_id);

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

\schema audience_of
SELECT audience_of('{everyone}', '{}');
SELECT audience_of('{}', '{}');

-- Collections in which principals see a document.
CREATE INDEX document_collection_audience ON document (collection, audience_id) WHERE removed_at IS NULL;

\schema audiences_of seen_collections audience_for hold_permissions documents_hold_permissions
\schema entries_hold_permissions permissions_hold record_permissions_hold item_permissions_hold keep_audience
\schema documents_with_audience follow_permissions permissions_follow follow_record_audience record_audience_follows
\schema follow_item_permissions item_permissions_added item_permissions_changed

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

\schema delete_lexeme_audiences counts_gone_with_generation count_of open_average

-- An entry, as it is counted.
CREATE TYPE seen_entry AS (generation_id bigint, audience_id integer, configuration text, lexemes tsvector);

\schema count_for_audiences count_documents_for rename_counted_audiences follow_audiences added_0_audiences
\schema gone_0_audiences updated_0_audiences_gone updated_0_b_audiences_added move_audiences documents_move_audiences
\schema delete_entries_first documents_gone_with_entries

-- The second wall: who asks for principals does so by the role sourcebook_reader, which sees rows of documents of its
-- audiences alone, in every statement, whatever it says. A session sets sourcebook.audiences; without it the role sees
-- nothing. The owner and other roles see what they saw.

\schema session_audiences

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

\schema make_seen_views prepare_reader count_entries

-- Statements that change many documents take linear time.
\schema mark_relations follow_documents follow_taken_documents follow_raw_files follow_crawled_pages
