"""The database of a knowledge base: a pool of connections, and the embedded server behind it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread
from typing import Any, Final

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection, sql

from sourcebook.database.connecting import (
    SECONDS_OF_RECOVERY,
    check_session,
    configure_session,
    connection_options,
    open_connection,
)
from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.failures import failures_of_dagster, typed_errors
from sourcebook.database.location import DAGSTER_DATABASE, LIBRARY_DATABASE, DatabaseLocation
from sourcebook.database.pool import ConnectionPool, HeldConnection, PooledConnection, StatementLimits
from sourcebook.database.queries import queries
from sourcebook.database.schema import ensure_schema
from sourcebook.database.watch import ServerWatch
from sourcebook.errors import DatabaseError
from sourcebook.model.closing import Closing

_MOST_SHORT: Final = 8
"""Most connections of `short_connection` that are lent at the same time."""
_OF_REQUESTS: Final = StatementLimits(lock_timeout=3.5, statement_timeout=300.0)
"""Limits of the statements of a server's requests, some of which take long."""


class Database(Closing):
    """Connections to the database of a knowledge base, which starts the embedded server where no URL is set.

    Thread-safe. Use it as a context manager, or call `close()`. Every failure of a connection or a statement is a
    `DatabaseError`; the embedded server is started again where it was killed.

    Args:
        location: the location of the database; see `DatabaseLocation.find`.
        max_connections: maximum concurrent connections; a further caller waits.
        upgrades: whether the schema is built, or brought to this Sourcebook's version.

    Raises:
        DatabaseError: the database cannot be reached, is too old, or lacks pgvector.
    """

    def __init__(self, location: DatabaseLocation, *, max_connections: int = 8, upgrades: bool = True) -> None:
        self.location = location
        self._server: EmbeddedServer | None = None
        url = location.url
        if url is None:
            self._server = EmbeddedServer(location.data_folder)
        try:
            if self._server is not None:
                _create_database(self._server, LIBRARY_DATABASE)
                url = self._server.url(LIBRARY_DATABASE)
            self.url = url or ""
            self.watch = ServerWatch(self.url)
            """Watch over the database's server, off until `answer_requests`."""
            with self.own_connection() as connection:
                check_session(connection, self.url)
                if upgrades:
                    ensure_schema(connection)
        except BaseException:
            self._close_server()
            raise
        self.pool = self.new_pool(max_connections)
        """Connections without limits of time; see `new_pool`."""
        self._short: ConnectionPool | None = None
        self._readers: ConnectionPool | None = None
        self._lock = Lock()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection in autocommit mode; open a transaction with `connection.transaction()`."""
        with self.pool.connection() as connection:
            yield connection

    @contextmanager
    def short_connection(self) -> Iterator[Connection]:
        """Lend a connection whose statements are limited like those of searches, for what is answered at once.

        A server that is there and answers nothing is out of reach as soon as that limit has passed.
        """
        with self._lock:
            if self._short is None:
                self._short = self.new_pool(min(self.pool.max_size, _MOST_SHORT), StatementLimits.find())
            pool = self._short
        with pool.connection() as connection:
            yield connection

    def readers(self) -> ConnectionPool:
        """Return connections of the role that sees what principals see; see schema/permissions.sql.

        Raises:
            DatabaseError: there is no such role, and this one may not make it.
        """
        with self._lock:
            if self._readers is None:
                with self.pool.connection() as connection:
                    if connection.execute(queries["prepare_reader"]).fetchone() != (True,):
                        role = connection.info.user
                        raise DatabaseError(
                            f"principals read by the role sourcebook_reader, which {role} may not make or may not be, "
                            "or by a schema that it may not make",
                            remedy="as an administrator of the database's server, run  CREATE ROLE sourcebook_reader "
                            f"(where it is missing),  GRANT sourcebook_reader TO {role}, and  "
                            f"CREATE SCHEMA IF NOT EXISTS sourcebook_seen AUTHORIZATION {role}",
                        )
                self._readers = ConnectionPool(
                    self.url,
                    self.pool.max_size,
                    configure=_configure_reader,
                    limits=StatementLimits.find(),
                    revive=self._reviver,
                    watch=self.watch,
                    prepare=lambda connection: connection.execute(queries["see_nothing"]),
                )
            return self._readers

    def answer_requests(self) -> None:
        """Let no caller wait for a lock for long, nor for a server that answers nobody: for a server's requests."""
        self.watch.is_on = True
        before, self.pool = self.pool, self.new_pool(self.pool.max_size, _OF_REQUESTS)
        before.close()

    def hold(self) -> HeldConnection:
        """Return a context manager that holds a connection, and can give it back for a while."""
        return self.pool.hold()

    @contextmanager
    def own_connection(self) -> Iterator[Connection]:
        """Open a connection beside the pool, for a lock that belongs to its session."""
        self.watch.check()
        recovery = _OF_REQUESTS.lock_timeout if self.watch.is_on else SECONDS_OF_RECOVERY
        connection = open_connection(PooledConnection, self.url, revive=self._reviver, recovery=recovery)
        connection.watch = self.watch
        try:
            with typed_errors():
                configure_session(connection)
                yield connection
        finally:
            connection.close()

    def new_pool(
        self, max_connections: int, limits: StatementLimits | None = None, *, url: str | None = None
    ) -> ConnectionPool:
        """Return a further pool of connections, which the caller closes.

        Args:
            max_connections: maximum concurrent connections.
            limits: limits of every statement; None for none.
            url: PostgreSQL URL of a replica; None for this database.
        """
        if url is not None:
            return ConnectionPool(url, max_connections, configure=_configure, limits=limits)
        return ConnectionPool(
            self.url, max_connections, configure=_configure, limits=limits, revive=self._reviver, watch=self.watch
        )

    def revive(self) -> None:
        """Start the embedded server again where it was killed.

        Raises:
            DatabaseError: it cannot be started.
        """
        if self._server is not None:
            self._server.revive()

    def write_out_beside(self) -> None:
        """Have the embedded server write what it holds to disk, and return at once: its stop has less to write then.

        It takes seconds of the disk's time, and next to none of the processor's. A failure is left to the stop.
        """
        if self._server is not None:
            Thread(target=self._write_out, daemon=True, name="sourcebook-write-out").start()

    def _write_out(self) -> None:
        with suppress(psycopg.Error, DatabaseError), open_connection(PooledConnection, self.url) as connection:
            connection.execute(queries["write_out"])

    @property
    def _reviver(self) -> Callable[[], None] | None:
        return None if self._server is None else self._server.revive

    def dagster_url(self) -> str:
        """Return the URL of Dagster's storage on the same server, creating its database where it is missing."""
        if self.location.dagster_url is not None:
            with failures_of_dagster():
                connection_options(self.location.dagster_url)  # refuses a malformed one
            return self.location.dagster_url
        if self._server is None:
            return self.url
        _create_database(self._server, DAGSTER_DATABASE)
        return self._server.url(DAGSTER_DATABASE)

    def close(self) -> None:
        """Close every connection and release the embedded server."""
        for pool in (self.pool, self._short, self._readers):
            if pool is not None:
                pool.close()
        self._close_server()

    def _close_server(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None


def _configure(connection: Connection) -> None:
    configure_session(connection)
    register_vector(connection)


def _configure_reader(connection: Connection) -> None:
    _configure(connection)
    connection.execute(queries["configure_reader"])


def _create_database(server: EmbeddedServer, name: str) -> None:
    kind: type[Connection[tuple[Any, ...]]] = Connection
    with open_connection(kind, server.url("postgres"), revive=server.revive) as connection, typed_errors():
        if connection.execute(queries["find_database"], {"name": name}).fetchone() is None:
            try:
                connection.execute(queries["create_database"].format(name=sql.Identifier(name)))
            except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                return  # another process created it in between
