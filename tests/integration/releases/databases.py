"""Databases of releases, and of checkouts before the release 0.1.0."""

from pathlib import Path

import psycopg
from psycopg import Connection

KEPT = Path(__file__).parent
"""What each release left on disks, written by `keep.py`; the rows are written by hand."""
RELEASES = sorted(folder.name for folder in KEPT.iterdir() if (folder / "schema.sql").is_file())


def build_release(url: str, release: str, *files: str) -> None:
    """Make the small database of a release."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector WITH SCHEMA public; CREATE SCHEMA sourcebook")
        connection.execute("SET search_path TO sourcebook, public")
        for name in files or ("schema.sql", "rows.sql"):
            connection.execute((KEPT / release / name).read_bytes())


def build_checkout(url: str, newest: int, *files: str) -> None:
    """Make the small database of a checkout with so many migrations."""
    build_release(url, "0.1.0", *files)
    with psycopg.connect(url, autocommit=True) as connection:
        make_checkout(connection, newest)


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
