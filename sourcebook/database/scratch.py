"""A scratch database on the server of a knowledge base: made for one piece of work, and gone with the process.

A child process drops it when the pipe to this process closes, however this process ends, also by SIGKILL. A database
that is left all the same, as after a power cut, is dropped by the next call.
"""

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import make_conninfo

from sourcebook.database.connecting import open_connection
from sourcebook.database.database import Database
from sourcebook.database.failures import typed_errors
from sourcebook.database.location import DatabaseLocation
from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseError

PREFIX: Final = "sourcebook_scratch_"
"""Beginning of the name of every scratch database."""
_DROPPER: Final = "sourcebook.database.scratch_dropper"
_SECONDS_TO_DROP: Final = 60.0


@contextmanager
def scratch_database(database: Database) -> Iterator[Database]:
    """Make a database with the schema and without rows on the same server, and drop it at the end.

    Args:
        database: the knowledge base, whose state folder the scratch database shares.

    Raises:
        DatabaseError: the role may not create databases.
    """
    drop_abandoned(database)
    name = f"{PREFIX}{secrets.token_hex(6)}"
    dropper = subprocess.Popen([sys.executable, "-m", _DROPPER], stdin=subprocess.PIPE, start_new_session=True)
    try:
        if dropper.stdin is not None:
            dropper.stdin.write(f"{name}\n{database.url}\n".encode())
            dropper.stdin.flush()
        _create(database, name)
        location = DatabaseLocation(database.location.home, make_conninfo(database.url, dbname=name))
        with Database(location) as scratch, scratch.own_connection():  # a session says that it is in use
            yield scratch
    finally:
        if dropper.stdin is not None:
            dropper.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            dropper.wait(_SECONDS_TO_DROP)


def drop_abandoned(database: Database) -> None:
    """Drop the scratch databases of processes that have ended without it."""
    with database.own_connection() as connection:
        for (name,) in connection.execute(queries["abandoned_scratch_databases"], {"prefix": PREFIX}).fetchall():
            with suppress(DatabaseError):  # somebody else drops it
                connection.execute(queries["drop_abandoned_database"].format(name=sql.Identifier(name)))


def drop(url: str, name: str) -> None:
    """Drop a scratch database where it exists.

    Args:
        url: PostgreSQL URL of another database on its server.
        name: its name.
    """
    with open_connection(psycopg.Connection, url) as connection, typed_errors():
        connection.execute(queries["drop_scratch_database"].format(name=sql.Identifier(name)))


def _create(database: Database, name: str) -> None:
    """Create a database with the locale of the knowledge base, which decides what is a letter."""
    connection: Connection
    with open_connection(psycopg.Connection, database.url) as connection, typed_errors():
        is_libc, collate, ctype = connection.execute(queries["locale_of_database"]).fetchone() or (False, "", "")
        alike = {"name": sql.Identifier(name), "collate": sql.Literal(collate), "ctype": sql.Literal(ctype)}
        statement = queries["create_database_alike"] if is_libc else queries["create_database"]
        try:
            connection.execute(statement.format(**alike))
        except psycopg.errors.InsufficientPrivilege as error:
            raise DatabaseError(
                "the role of the knowledge base may not create the database that candidates are built in",
                remedy=f"let it:  ALTER ROLE {connection.info.user} CREATEDB",
            ) from error
