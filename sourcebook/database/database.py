"""The database of a knowledge base: a pool of connections, and the embedded server behind it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from types import TracebackType
from typing import Self

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection, sql
from psycopg_pool import ConnectionPool

from sourcebook.database.embedded import EmbeddedServer
from sourcebook.database.location import DAGSTER_DATABASE, LIBRARY_DATABASE, DatabaseLocation
from sourcebook.database.queries import queries
from sourcebook.database.schema import ensure_schema
from sourcebook.errors import DatabaseError


class Database:
    """Connections to the database of a knowledge base, which starts the embedded server where no URL is set.

    Thread-safe. Use it as a context manager, or call `close()`.

    Args:
        location: the location of the database; see `DatabaseLocation.find`.
        max_connections: maximum concurrent connections; a further caller waits.

    Raises:
        DatabaseError: the database cannot be reached, is too old, or lacks pgvector.
    """

    def __init__(self, location: DatabaseLocation, *, max_connections: int = 8) -> None:
        self.location = location
        self._server: EmbeddedServer | None = None
        url = location.url
        if url is None:
            self._server = EmbeddedServer(location.data_folder)
            _create_database(self._server, LIBRARY_DATABASE)
            url = self._server.url(LIBRARY_DATABASE)
        self.url = url
        try:
            with psycopg.connect(url, autocommit=True, connect_timeout=10) as connection:
                connection.execute(queries["set_search_path"])
                ensure_schema(connection)
        except psycopg.OperationalError as error:
            self._close_server()
            raise DatabaseError(f"the database cannot be reached: {str(error).strip()}") from error
        except BaseException:
            self._close_server()
            raise
        self._pool = ConnectionPool(
            url,
            min_size=0,
            max_size=max_connections,
            kwargs={"autocommit": True},
            configure=_configure,
            open=True,
            name="sourcebook",
        )
        self._max_connections = max_connections
        self._lent = 0
        self._lock = Lock()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection in autocommit mode; open a transaction with `connection.transaction()`."""
        with self._lock:
            self._lent += 1
        with self._counted_connection() as connection:
            yield connection

    @contextmanager
    def spare_connection(self) -> Iterator[Connection | None]:
        """Lend a further connection without waiting; None where every connection is lent or waited for.

        Callers that hold a connection use this one: if they waited for each other's, none would ever go on.
        """
        with self._lock:
            is_free = self._lent < self._max_connections
            self._lent += is_free
        if not is_free:
            yield None
            return
        with self._counted_connection() as connection:
            yield connection

    def hold(self) -> "HeldConnection":
        """Return a context manager that holds a connection, and can give it back for a while."""
        return HeldConnection(self)

    def dagster_url(self) -> str:
        """Return the URL of Dagster's storage on the same server, creating its database where it is missing."""
        if self.location.dagster_url is not None:
            return self.location.dagster_url
        if self._server is None:
            return self.url
        _create_database(self._server, DAGSTER_DATABASE)
        return self._server.url(DAGSTER_DATABASE)

    def close(self) -> None:
        """Close every connection and release the embedded server."""
        self._pool.close()
        self._close_server()

    @contextmanager
    def _counted_connection(self) -> Iterator[Connection]:
        """Lend a connection that is counted already."""
        try:
            with self._pool.connection() as connection:
                yield connection
        finally:
            with self._lock:
                self._lent -= 1

    def _close_server(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class HeldConnection:
    """A connection that its holder gives back for a while when it waits for something else, such as a model."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lent = ExitStack()
        self.connection: Connection
        """The connection, in autocommit mode; another one after `given_back`."""

    def __enter__(self) -> Self:
        self.connection = self._lent.enter_context(self._database.connection())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lent.__exit__(kind, error, traceback)

    @contextmanager
    def given_back(self) -> Iterator[None]:
        """Give the connection back for the length of the block."""
        self._lent.close()
        yield
        self.connection = self._lent.enter_context(self._database.connection())


def _configure(connection: Connection) -> None:
    connection.execute(queries["configure_connection"])
    register_vector(connection)


def _create_database(server: EmbeddedServer, name: str) -> None:
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        if connection.execute(queries["find_database"], {"name": name}).fetchone() is None:
            try:
                connection.execute(queries["create_database"].format(name=sql.Identifier(name)))
            except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                return  # another process created it in between
