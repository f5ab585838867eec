"""The schema of the database: built, or migrated to the version of this Sourcebook.

Version 1 is the release 0.1.0. The files of schema/ build the newest version; each one after the first has a migration,
too, as migrations/0002_name.sql, and a test compares the catalogs that both lead to.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import psycopg
from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.config.gone_settings import regrouped, without_gone
from sourcebook.database.queries import marked, queries
from sourcebook.errors import DatabaseError

OLDEST_PGVECTOR = (0, 8, 4)
"""Oldest supported version of pgvector: 0.8.3 fixed index corruption."""
_ROOMS = ("ledger", "search", "entries", "items", "changes", "proof", "work")
"""The files of schema/ in an order in which each follows those that it refers to."""
_LAST_CHECKOUT = 0
"""Version of the last checkout before the first release; it differs in items.sql and entries.sql alone."""
_LOCK = 0x50_0B00C
"""Key of the advisory lock for changing the schema."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a schema to the next: migrations/0002_name.sql has version 2."""

    version: int
    name: str
    text: str


_FIRST = Migration(1, "0.1.0", "")


def migrations() -> list[Migration]:
    """Return every version in order; the first one is built whole and has no text."""
    folder = files(__package__).joinpath("migrations")
    found = [_FIRST]
    for resource in folder.iterdir() if folder.is_dir() else ():
        matched = re.fullmatch(r"(\d{4})_(\w+)\.sql", resource.name)
        if matched:
            found.append(Migration(int(matched[1]), matched[2], resource.read_text(encoding="utf-8")))
    return sorted(found, key=lambda migration: migration.version)


def newest_version() -> int:
    """Return the version of this Sourcebook's schema."""
    return migrations()[-1].version


def schema_text(*rooms: str) -> str:
    """Return the statements of some files of schema/, by default of all, in their order."""
    folder = files(__package__).joinpath("schema")
    return "\n".join(folder.joinpath(f"{room}.sql").read_text(encoding="utf-8") for room in rooms or _ROOMS)


def ensure_schema(connection: Connection) -> None:
    """Create the schema where it is missing and apply the migrations that are pending.

    Several processes may call this at once. On an up-to-date database it costs two queries.

    Raises:
        DatabaseError: pgvector is missing or too old, or the schema is a newer Sourcebook's or an early checkout's.
    """
    if schema_version(connection) == newest_version():
        return
    with connection.transaction():
        connection.execute(queries["lock_schema"], {"lock": _LOCK})
        _ensure_pgvector(connection)
        found = schema_version(connection)
        if found is None:
            build_from_schema(connection)
            return
        check_version(found, "the database")
        if found == _LAST_CHECKOUT:
            _take_over(connection)
        else:
            apply_migrations(connection, after=found)


def check_version(found: int, owner: str) -> None:
    """Refuse a schema that cannot become this Sourcebook's.

    Args:
        found: its version, as `schema_version` counts.
        owner: what has it, for the message.

    Raises:
        DatabaseError: a newer Sourcebook has made it, or a checkout before the first release.
    """
    newest = newest_version()
    if found > newest:
        raise DatabaseError(
            f"{owner} has schema version {found}, this Sourcebook knows {newest}", remedy="upgrade Sourcebook"
        )
    if found < (_LAST_CHECKOUT if newest == _FIRST.version else _FIRST.version):
        raise DatabaseError(
            f"{owner} is of a checkout before the release {_FIRST.name}",
            remedy="run  sourcebook export FOLDER  with that checkout, and here, in a new database, "
            "sourcebook import FOLDER",
        )


def build_from_schema(connection: Connection) -> None:
    """Build the newest schema at once, in a database that has none."""
    connection.execute(queries["create_schema"])
    connection.execute(schema_text().encode())
    for migration in migrations():
        _record(connection, migration)


def apply_migrations(connection: Connection, after: int) -> None:
    """Apply the migrations with a version above `after`, in order."""
    for migration in migrations():
        if migration.version > after:
            connection.execute(marked(migration.name, migration.text).encode())
            _record(connection, migration)


def _take_over(connection: Connection) -> None:
    """Make the schema of the last checkout that of the first release; from the second one on nobody calls this."""
    connection.execute(queries["forget_checkout"])
    connection.execute(schema_text("items", "entries").encode())
    for name, *stored in connection.execute(queries["stored_settings"]).fetchall():
        settings, overruled, written = (None if each is None else Jsonb(without_gone(each)) for each in stored)
        kept = {"name": name, "settings": settings, "overruled": overruled, "written": written}
        connection.execute(queries["store_settings"], kept)
    for number, site in connection.execute(queries["stored_sites"]).fetchall():
        connection.execute(queries["store_site"], {"id": number, "settings": Jsonb(regrouped(site))})
    for number, embedding in connection.execute(queries["stored_embeddings"]).fetchall():
        shortened = Jsonb(without_gone(embedding, "embedding"))
        connection.execute(queries["store_embedding"], {"id": number, "embedding": shortened})
    _record(connection, _FIRST)


def _record(connection: Connection, migration: Migration) -> None:
    connection.execute(queries["record_migration"], {"version": migration.version, "name": migration.name})


def schema_version(connection: Connection) -> int | None:
    """Return the schema's version: None where there is no schema, 0 or less where a checkout before 0.1.0 made it."""
    if connection.execute(queries["schema_exists"]).fetchone() == (False,):
        return None
    return version_of(dict(connection.execute(queries["applied_migrations"]).fetchall()))


def version_of(applied: Mapping[int, str]) -> int:
    """Return the version of a schema with these migrations, which are names by number.

    Checkouts before the first release had 58 of their own, from `ledger` on: they count up to 0.
    """
    return max(applied, default=0) - (58 if applied.get(1) == "ledger" else 0)


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
