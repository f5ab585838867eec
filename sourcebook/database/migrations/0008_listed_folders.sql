-- Settled listings of folders: a folder whose files are as they were needs no row of the inventory.

-- The URI of the folder of a file, with a slash at the end.
CREATE FUNCTION folder_of(uri text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN coalesce(substring(uri FROM '^.*/'), '');

CREATE INDEX raw_file_folder ON raw_file (source_id, folder_of(uri));

-- One row for each folder with files in the inventory.
CREATE TABLE listed_folder (
    source_id bigint NOT NULL REFERENCES source (id) ON DELETE CASCADE,
    uri text NOT NULL,
    digest bytea,                      -- of the last listing without a difference; NULL after a change of its rows
    files integer NOT NULL DEFAULT 0,  -- files in that listing
    revision bigserial NOT NULL,       -- changes with every change of its rows
    PRIMARY KEY (source_id, uri)
);

-- Unsettle the folders of changed rows of the inventory, in the transaction that changes them.
CREATE FUNCTION unsettle_folders() RETURNS trigger
LANGUAGE plpgsql SET search_path = sourcebook, public
AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        -- A removed file and a file without a row are the same to a listing.
        UPDATE listed_folder folder SET digest = NULL, revision = DEFAULT
        FROM (SELECT DISTINCT source_id, folder_of(uri) AS uri FROM changed WHERE removed_at IS NULL) gone
        WHERE folder.source_id = gone.source_id AND folder.uri = gone.uri;
    ELSE
        INSERT INTO listed_folder (source_id, uri)
        SELECT DISTINCT source_id, folder_of(uri) FROM changed ORDER BY 1, 2
        ON CONFLICT (source_id, uri) DO UPDATE SET digest = NULL, revision = excluded.revision;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER files_added AFTER INSERT ON raw_file REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();
CREATE TRIGGER files_changed AFTER UPDATE ON raw_file REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();
CREATE TRIGGER files_gone AFTER DELETE ON raw_file REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION unsettle_folders();

INSERT INTO listed_folder (source_id, uri) SELECT DISTINCT source_id, folder_of(uri) FROM raw_file;
