"""Marks on the items that a stage works on now, for other processes to see."""

import os
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseError
from sourcebook.telemetry.log_context import log_fields


class Processing:
    """Marks of one stage on items of one collection. They count while the session of the connection lives."""

    def __init__(self, connection: Connection, collection: str, stage: str, *, shares: bool = False) -> None:
        self._connection = connection
        self._shares = shares
        self._scope = {"collection": collection, "stage": stage}
        self.any = False
        """Whether an item was ever marked."""

    def begin(self, uris: Collection[str]) -> None:
        """Mark items, in one statement; nothing happens for none."""
        if uris:
            self.any = True
            holder = {"process": f"{socket.gethostname()}:{os.getpid()}", "run": log_fields().get("run")}
            self._connection.execute(queries["begin_processing"], {**self._scope, **holder, "uris": list(uris)})

    def end(self, uris: Collection[str] | None = None) -> None:
        """Take marks away, in one statement.

        Args:
            uris: items; None for every mark of the stage on the collection, also those of a process that was killed;
                beside other shards, for those of this session.
        """
        if uris is None or uris:
            scope = {**self._scope, "uris": None if uris is None else list(uris), "own": self._shares}
            self._connection.execute(queries["end_processing"], scope)


@contextmanager
def processing(connection: Connection, collection: str, stage: str, *, shares: bool = False) -> Iterator[Processing]:
    """Give marks that end with the block.

    Args:
        connection: in autocommit mode; its session is the one whose life the marks have.
        collection: name of the collection; the caller holds its lock.
        stage: name of the stage's asset.
        shares: whether other shards of the collection may have marks, too.
    """
    marks = Processing(connection, collection, stage, shares=shares)
    try:
        yield marks
    finally:
        if marks.any:
            with suppress(psycopg.Error, DatabaseError):  # with the session the marks are void
                marks.end()
