"""The schema of the database: built, or migrated to the version of this Sourcebook.

Version 1 is the release 0.1.0. The files of schema/ build the newest version; each one after the first has a migration,
too, as migrations/0002_name.sql, and a test compares the catalogs that both lead to. That of the first one takes the
last checkout before it over.

Whoever opens the database upgrades it; `sourcebook upgrade` does nothing else. Each migration is a transaction of its
own, so that its locks end with it, and a killed upgrade goes on where it was.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import psycopg
from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.config.gone_settings import regrouped, without_gone
from sourcebook.database.queries import marked, queries
from sourcebook.errors import DatabaseBusyError, DatabaseError

OLDEST_POSTGRES = 15
OLDEST_PGVECTOR = (0, 8, 4)
"""Oldest supported version of pgvector: 0.8.3 fixed index corruption."""
_ROOMS = ("ledger", "words", "search", "entries", "items", "changes", "proof", "work", "permissions")
"""The files of schema/ in an order in which each follows those that it refers to."""
_LAST_CHECKOUT = 0
"""Version of the last checkout before the first release; it differs in items.sql and entries.sql alone."""
_LOCK = 0x50_0B00C
"""Key of the advisory lock for changing the schema."""
_SECONDS_FOR_LOCKS: Final = 60.0
"""Seconds for which a migration is tried again where other sessions hold its tables."""
_SECONDS_BETWEEN_ATTEMPTS: Final = 0.5
"""Seconds between two attempts, in which searches go on that the attempt has held up."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a schema to the next: migrations/0002_name.sql has version 2."""

    version: int
    name: str
    text: str


_FIRST_NAME: Final = "0.1.0"


def migrations() -> list[Migration]:
    """Return every version in order; the first one leads from the last checkout to the first release."""
    found = []
    for resource in files(__package__).joinpath("migrations").iterdir():
        matched = re.fullmatch(r"(\d{4})_(\w+)\.sql", resource.name)
        if matched:
            version = int(matched[1])
            name = matched[2] if version > 1 else _FIRST_NAME
            found.append(Migration(version, name, resource.read_text(encoding="utf-8")))
    return sorted(found, key=lambda migration: migration.version)


def newest_version() -> int:
    """Return the version of this Sourcebook's schema."""
    return migrations()[-1].version


def schema_text(*rooms: str) -> str:
    """Return the statements of some files of schema/, by default of all, in their order."""
    folder = files(__package__).joinpath("schema")
    return "\n".join(folder.joinpath(f"{room}.sql").read_text(encoding="utf-8") for room in rooms or _ROOMS)


def ensure_schema(connection: Connection, applied: Callable[[Migration], None] = lambda migration: None) -> None:
    """Create the schema where it is missing and apply the migrations that are pending.

    Several processes may call this at once. On an up-to-date database it costs two queries.

    Args:
        connection: in autocommit mode.
        applied: called with each migration after its commit.

    Raises:
        DatabaseError: PostgreSQL or pgvector does not fit, the role may not create tables, or the schema is a newer
            Sourcebook's or an early checkout's.
        DatabaseBusyError: other sessions hold the tables.
    """
    deadline = time.monotonic() + _SECONDS_FOR_LOCKS
    while pending_migrations(connection):
        try:
            with _refusal_explained(connection):
                done = _go_on(connection)
        except psycopg.errors.LockNotAvailable as error:
            if time.monotonic() > deadline:
                raise DatabaseBusyError(
                    "the upgrade of the database waits for sessions that hold its tables",
                    remedy="end the programs that use it, such as an export, and run  sourcebook upgrade",
                ) from error
            time.sleep(_SECONDS_BETWEEN_ATTEMPTS)
            continue
        if done is not None:
            applied(done)


def pending_migrations(connection: Connection) -> list[Migration]:
    """Return the migrations that lead to this Sourcebook's schema, in order; all where there is no schema.

    Raises:
        DatabaseError: the schema is a newer Sourcebook's or an early checkout's.
    """
    found = schema_version(connection)
    if found is None:
        return migrations()
    check_version(found, "the database")
    return [migration for migration in migrations() if migration.version > found]


def _go_on(connection: Connection) -> Migration | None:
    """Build the schema, or apply the next migration and return it, in a transaction that nobody else is in."""
    with connection.transaction():
        connection.execute(queries["lock_schema"], {"lock": _LOCK})
        _ensure_server_fits(connection)
        found = schema_version(connection)
        if found is None:
            build_from_schema(connection)
            return None
        pending = pending_migrations(connection)
        if pending:
            connection.execute(queries["limit_migration"])
            apply_migration(connection, pending[0])
        return pending[0] if pending else None


@contextmanager
def _refusal_explained(connection: Connection) -> Iterator[None]:
    """Name the remedy where the role may not create what the schema needs."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        role = connection.info.user
        raise DatabaseError(
            f"the role {role} may not build or upgrade the schema sourcebook ({error.diag.message_primary})",
            remedy=f"as the database's owner, run  CREATE SCHEMA IF NOT EXISTS sourcebook AUTHORIZATION {role}, or let "
            "the role that owns the schema run  sourcebook upgrade",
        ) from error


def check_version(found: int, owner: str) -> None:
    """Refuse a schema that cannot become this Sourcebook's.

    Args:
        found: its version, as `schema_version` counts.
        owner: what has it, for the message.

    Raises:
        DatabaseError: a newer Sourcebook has made it, or a checkout before the last one.
    """
    newest = newest_version()
    if found > newest:
        raise DatabaseError(
            f"{owner} has schema version {found}, this Sourcebook knows {newest}",
            remedy="upgrade Sourcebook, or restore the backup from before",
        )
    if found < _LAST_CHECKOUT:
        raise DatabaseError(
            f"{owner} is of a checkout before the release {_FIRST_NAME}",
            remedy="run  sourcebook export FOLDER  with that checkout, and here, in a new database, "
            "sourcebook import FOLDER",
        )


def build_from_schema(connection: Connection) -> None:
    """Build the newest schema at once, in a database that has none."""
    if connection.execute(queries["find_schema"]).fetchone() is None:  # creating it needs a right even where it exists
        connection.execute(queries["create_schema"])
    connection.execute(schema_text().encode())
    for migration in migrations():
        _record(connection, migration)


def apply_migration(connection: Connection, migration: Migration) -> None:
    """Apply one migration, and record it."""
    connection.execute(marked(migration.name, migration.text).encode())
    if migration.version == _LAST_CHECKOUT + 1:
        _drop_gone_settings(connection)
    _record(connection, migration)


def _drop_gone_settings(connection: Connection) -> None:
    """Drop the settings that only checkouts had."""
    for name, *stored in connection.execute(queries["stored_settings"]).fetchall():
        settings, overruled, written = (None if each is None else Jsonb(without_gone(each)) for each in stored)
        kept = {"name": name, "settings": settings, "overruled": overruled, "written": written}
        connection.execute(queries["store_settings"], kept)
    for number, site in connection.execute(queries["stored_sites"]).fetchall():
        connection.execute(queries["store_site"], {"id": number, "settings": Jsonb(regrouped(site))})
    for number, embedding in connection.execute(queries["stored_embeddings"]).fetchall():
        shortened = Jsonb(without_gone(embedding, "embedding"))
        connection.execute(queries["store_embedding"], {"id": number, "embedding": shortened})


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


def _ensure_server_fits(connection: Connection) -> None:
    """Enable pgvector, and refuse a server or a database that the schema cannot be in."""
    number = connection.info.server_version
    if number // 10000 < OLDEST_POSTGRES:
        raise DatabaseError(f"PostgreSQL {number // 10000} is too old, {OLDEST_POSTGRES} or newer is needed")
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise DatabaseError(
            f"the encoding of the database is {encoding}, which lacks most characters",
            remedy="make one with  CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
        )
    if connection.execute(queries["knows_letters"]).fetchone() != (True,):
        raise DatabaseError(
            "the locale of the database knows no letters but those of English",
            remedy="make one with  CREATE DATABASE … LOCALE 'C.UTF-8' TEMPLATE template0",
        )
    if connection.execute(queries["may_make_temporary_tables"]).fetchone() != (True,):
        info = connection.info
        raise DatabaseError(
            f"the role {info.user} may not create temporary tables in the database",
            remedy=f"as its owner, run  GRANT TEMPORARY ON DATABASE {info.dbname} TO {info.user}",
        )
    try:
        with connection.transaction():
            connection.execute(queries["create_pgvector"])
    except psycopg.Error as error:
        raise DatabaseError(
            f"pgvector cannot be enabled in this database ({error.diag.message_primary or error}): install it on the "
            "server and run  CREATE EXTENSION vector  as a user who may"
        ) from error
    found, schema = connection.execute(queries["enabled_pgvector"]).fetchone() or ("0", "public")
    if tuple(int(part) for part in re.findall(r"\d+", found)[:3]) < OLDEST_PGVECTOR:
        oldest = ".".join(str(part) for part in OLDEST_PGVECTOR)
        raise DatabaseError(
            f"pgvector {found} is too old, {oldest} or newer is needed (0.8.3 fixed index corruption): "
            "upgrade it on the server and run  ALTER EXTENSION vector UPDATE"
        )
    if schema != "public":
        raise DatabaseError(
            f"pgvector is in the schema {schema}, where Sourcebook does not look",
            remedy="run  ALTER EXTENSION vector SET SCHEMA public  as a user who may",
        )
