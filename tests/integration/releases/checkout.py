"""Databases of checkouts before the release 0.1.0."""

from psycopg import Connection


def make_checkout(connection: Connection, newest: int) -> None:
    """Make a database of 0.1.0 one of a checkout: versions, one function for those of entries.sql, two more views."""
    followers = connection.execute(
        "SELECT DISTINCT tgfoid::regprocedure::text FROM pg_trigger "
        "WHERE tgrelid = 'sourcebook.search_entry'::regclass AND tgname ~ '^(added|gone|updated)_'"
    ).fetchall()
    for (follower,) in followers:
        connection.execute(f"DROP FUNCTION {follower} CASCADE".encode())
    connection.execute(
        "CREATE FUNCTION sourcebook.follow_search_entries() RETURNS trigger "
        "LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; "
        "CREATE TRIGGER entries_gone AFTER DELETE ON sourcebook.search_entry "
        "EXECUTE FUNCTION sourcebook.follow_search_entries(); "
        "CREATE VIEW sourcebook.present_item AS SELECT * FROM sourcebook.present_source_item; "
        "CREATE VIEW sourcebook.live_item AS SELECT * FROM sourcebook.present_item; "
        "DELETE FROM sourcebook.schema_migration"
    )
    connection.execute(
        "INSERT INTO sourcebook.schema_migration (version, name) "
        "SELECT number, CASE number WHEN 1 THEN 'ledger' ELSE 'later' END FROM generate_series(1, %s) AS number",
        [newest],
    )
