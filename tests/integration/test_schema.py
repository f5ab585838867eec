"""`schema.sql` is the truth, and the migrations lead to it."""

from pathlib import Path

import psycopg
import pytest
from psycopg import Connection

from sourcebook.database import schema
from sourcebook.database.database import Database
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DatabaseLocation
from sourcebook.errors import DatabaseError
from tests.conftest import CreateDatabase

CATALOGS = {
    "relations": """
        SELECT relname, relkind, relpersistence, relispartition, pg_get_partkeydef(pg_class.oid), reloptions,
               pg_get_expr(relpartbound, pg_class.oid), obj_description(pg_class.oid)
        FROM pg_class WHERE relnamespace = 'sourcebook'::regnamespace""",
    "columns": """
        SELECT attrelid::regclass::text, attnum, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
               attgenerated, attstorage, attcompression, attcollation::regcollation::text, pg_get_expr(adbin, adrelid),
               col_description(attrelid, attnum)
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = 'sourcebook'::regnamespace AND attnum > 0 AND NOT attisdropped""",
    "constraints": """
        SELECT conname, conrelid::regclass::text, contype, condeferrable, convalidated, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'sourcebook'::regnamespace""",
    "indexes": """
        SELECT indexrelid::regclass::text, indisunique, indisvalid, pg_get_indexdef(indexrelid)
        FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = 'sourcebook'::regnamespace""",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'sourcebook'",
    "functions": """
        SELECT oid::regprocedure::text, pg_get_functiondef(oid) FROM pg_proc
        WHERE pronamespace = 'sourcebook'::regnamespace""",
    "triggers": "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "types": "SELECT typname, typtype FROM pg_type WHERE typnamespace = 'sourcebook'::regnamespace",
    "migrations": "SELECT version, name FROM schema_migration",
}


def test_schema_and_migrations_build_the_same_database(create_database: CreateDatabase) -> None:
    catalogs = []
    for build in (schema.build_from_schema, lambda connection: schema.apply_migrations(connection, after=0)):
        with psycopg.connect(create_database("template1"), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector WITH SCHEMA public")
            connection.execute("SET search_path TO sourcebook, public")
            build(connection)
            catalogs.append({name: _rows(connection, query) for name, query in CATALOGS.items()})
    from_schema, from_migrations = catalogs
    for name in CATALOGS:
        assert from_migrations[name] == from_schema[name], name
    assert from_schema["relations"]
    assert from_schema["functions"]


def test_a_database_of_the_first_version_is_brought_up_to_date(create_database: CreateDatabase, tmp_path: Path) -> None:
    url = create_database("template1")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector WITH SCHEMA public; CREATE SCHEMA sourcebook")
        connection.execute("SET search_path TO sourcebook, public")
        first = schema.migrations()[0]
        connection.execute(first.text.encode())
        connection.execute("INSERT INTO schema_migration (version, name) VALUES (%s, %s)", [first.version, first.name])
    Database(DatabaseLocation(tmp_path, url)).close()
    with psycopg.connect(url) as connection:
        (newest,) = connection.execute("SELECT max(version) FROM sourcebook.schema_migration").fetchone() or (0,)
    assert newest == schema.migrations()[-1].version


def test_migrations_are_numbered_from_one_without_a_gap() -> None:
    assert [migration.version for migration in schema.migrations()] == list(range(1, len(schema.migrations()) + 1))


def test_a_database_of_a_newer_version_is_refused(create_database: CreateDatabase, tmp_path: Path) -> None:
    url = create_database("template1")
    Database(DatabaseLocation(tmp_path, url)).close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO sourcebook.schema_migration (version, name) VALUES (9999, 'from_the_future')")
    with pytest.raises(DatabaseError, match=r"schema version 9999, .* upgrade Sourcebook"):
        Database(DatabaseLocation(tmp_path, url))


def test_an_old_pgvector_is_refused_with_the_command_that_mends_it(
    server: EmbeddedServer, create_database: CreateDatabase, tmp_path: Path
) -> None:
    """The version is PostgreSQL's own record of the extension; here it is made to tell of an older one."""
    url = create_database("template1")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector WITH SCHEMA public")
        connection.execute("UPDATE pg_extension SET extversion = '0.8.3' WHERE extname = 'vector'")
    with pytest.raises(DatabaseError) as refused:
        Database(DatabaseLocation(tmp_path, url))
    assert "pgvector 0.8.3 is too old, 0.8.4 or newer is needed" in str(refused.value)
    assert "ALTER EXTENSION vector UPDATE" in str(refused.value)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regclass('sourcebook.document')").fetchone() == (None,)


@pytest.mark.parametrize("version", ["0.8.4", "0.8.10", "0.9.0", "1.0"])
def test_a_newer_pgvector_is_taken(create_database: CreateDatabase, tmp_path: Path, version: str) -> None:
    url = create_database("template1")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector WITH SCHEMA public")
        connection.execute("UPDATE pg_extension SET extversion = %s WHERE extname = 'vector'", [version])
    Database(DatabaseLocation(tmp_path, url)).close()


def test_a_server_that_cannot_be_reached_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="cannot be reached"):
        Database(DatabaseLocation(tmp_path, "postgresql://nobody@127.0.0.1:1/nothing"))


def _rows(connection: Connection, query: str) -> list[tuple[object, ...]]:
    return sorted(connection.execute(query.encode()).fetchall(), key=repr)
