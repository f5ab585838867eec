"""The schema of the database, created or migrated to the version of this Sourcebook."""

import re
from dataclasses import dataclass
from importlib.resources import files

import psycopg
from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseError

OLDEST_PGVECTOR = (0, 8, 4)
"""Oldest supported version of pgvector: 0.8.3 fixed index corruption."""
_LOCK = 0x50_0B00C
"""Key of the advisory lock for changing the schema."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a schema to the next: migrations/0002_name.sql has version 2."""

    version: int
    name: str
    text: str


def migrations() -> list[Migration]:
    """Return every migration in the order of its version."""
    found = []
    for resource in files(__package__).joinpath("migrations").iterdir():
        matched = re.fullmatch(r"(\d{4})_(\w+)\.sql", resource.name)
        if matched:
            found.append(Migration(int(matched[1]), matched[2], resource.read_text(encoding="utf-8")))
    return sorted(found, key=lambda migration: migration.version)


def ensure_schema(connection: Connection) -> None:
    """Create the schema where it is missing and apply the migrations that are pending.

    Several processes may call this at once. On an up-to-date database it costs two queries.

    Raises:
        DatabaseError: pgvector is missing or too old, or a newer Sourcebook has migrated the database.
    """
    wanted = max(migration.version for migration in migrations())
    if schema_version(connection) == wanted:
        return
    with connection.transaction():
        connection.execute(queries["lock_schema"], {"lock": _LOCK})
        _ensure_pgvector(connection)
        found = schema_version(connection)
        if found is None:
            build_from_schema(connection)
        elif found > wanted:
            raise DatabaseError(
                f"the database has schema version {found}, this Sourcebook knows {wanted}: upgrade Sourcebook"
            )
        else:
            apply_migrations(connection, after=found)


def build_from_schema(connection: Connection) -> None:
    """Build the newest schema at once, in a database that has none."""
    connection.execute(queries["create_schema"])
    _run(connection, files(__package__).joinpath("schema.sql").read_text(encoding="utf-8"))
    for migration in migrations():
        _record(connection, migration)


def apply_migrations(connection: Connection, after: int) -> None:
    """Apply the migrations with a version above `after`, in order."""
    connection.execute(queries["create_schema"])
    for migration in migrations():
        if migration.version > after:
            _run(connection, migration.text)
            _record(connection, migration)


def _run(connection: Connection, text: str) -> None:
    connection.execute(text.encode())


def _record(connection: Connection, migration: Migration) -> None:
    connection.execute(queries["record_migration"], {"version": migration.version, "name": migration.name})


def schema_version(connection: Connection) -> int | None:
    """Return the schema's version, None where there is no schema."""
    if connection.execute(queries["schema_exists"]).fetchone() == (False,):
        return None
    row = connection.execute(queries["schema_version"]).fetchone()
    return int(row[0]) if row else None


def _ensure_pgvector(connection: Connection) -> None:
    try:
        with connection.transaction():
            connection.execute(queries["create_pgvector"])
    except psycopg.Error as error:
        raise DatabaseError(
            f"pgvector cannot be enabled in this database ({error.diag.message_primary or error}): install it on the "
            "server and run  CREATE EXTENSION vector  as a user who may"
        ) from error
    row = connection.execute(queries["enabled_pgvector"]).fetchone()
    found = row[0] if row else "0"
    if tuple(int(part) for part in re.findall(r"\d+", found)[:3]) < OLDEST_PGVECTOR:
        oldest = ".".join(str(part) for part in OLDEST_PGVECTOR)
        raise DatabaseError(
            f"pgvector {found} is too old, {oldest} or newer is needed (0.8.3 fixed index corruption): "
            "upgrade it on the server and run  ALTER EXTENSION vector UPDATE"
        )
