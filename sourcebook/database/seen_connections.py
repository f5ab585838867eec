"""The part of a database that some principals see."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import NoReturn

from psycopg import Connection

from sourcebook.database.database import Database
from sourcebook.database.pool import ConnectionPool, HeldConnection
from sourcebook.database.queries import queries
from sourcebook.errors import AccessError


class SeenConnections:
    """A pool of the reader's sessions, for some principals.

    Every time that a connection is lent, its session is told what they see now: a change of permissions is in force
    with the next operation. Who borrows from the readers without principals sees nothing.

    Args:
        readers: connections of the role sourcebook_reader, which many share.
        principals: whom the reader speaks for.
    """

    def __init__(self, readers: ConnectionPool, principals: frozenset[str]) -> None:
        self._readers = readers
        self._principals = sorted(principals)
        self._told = local()
        """Audiences of the connection that was lent to this thread last, which its spare one sees, too."""

    @property
    def check_outs(self) -> int:
        """Number of connections lent so far, to others as well."""
        return self._readers.check_outs

    @property
    def lent(self) -> int:
        """Number of connections lent now, to others as well."""
        return self._readers.lent

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection, after waiting for a free one."""
        with self._readers.connection(self._see) as connection:
            yield connection

    @contextmanager
    def spare_connection(self) -> Iterator[Connection | None]:
        """Lend a further connection without waiting; None where every connection is lent or waited for."""
        with self._readers.spare_connection(self._see_the_same) as connection:
            yield connection

    def hold(self) -> HeldConnection:
        """Return a context manager that holds a connection, and can give it back for a while."""
        return HeldConnection(self)

    def _see(self, connection: Connection) -> None:
        told = connection.execute(queries["see_as"], {"principals": self._principals}).fetchone()
        self._told.audiences, self._told.counts = told or (None, None)

    def _see_the_same(self, connection: Connection) -> None:
        connection.execute(queries["see"], {"audiences": self._told.audiences, "counts": self._told.counts})


class SeenDatabase(Database):
    """A database as principals see it, over connections of the whole one, which closes them."""

    def __init__(self, whole: Database, principals: frozenset[str]) -> None:
        self.location, self.url, self.watch = whole.location, whole.url, whole.watch
        self.seen = SeenConnections(whole.readers(), principals)
        """Connections whose sessions see what the principals see, and nothing else."""

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection whose session sees what the principals see."""
        with self.seen.connection() as connection:
            yield connection

    @contextmanager
    def short_connection(self) -> Iterator[Connection]:
        """Lend such a connection: the statements of all are limited."""
        with self.seen.connection() as connection:
            yield connection

    def hold(self) -> HeldConnection:
        """Return a context manager that holds such a connection, and can give it back for a while."""
        return self.seen.hold()

    def own_connection(self) -> NoReturn:
        """Refuse a connection that sees everything.

        Raises:
            AccessError: always.
        """
        raise AccessError("principals have no connection of their own")

    def close(self) -> None:
        """Leave the connections to the whole database."""
