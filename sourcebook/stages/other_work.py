"""Other work of a collection that waits while a stage does what may take hours: a crawl, or recordings."""

import time
from collections.abc import Collection
from typing import Final

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.model.selection import Selection
from sourcebook.stages.raw_files import collection_sources, compare

_SECONDS_ALONE: Final = 30.0
"""Seconds that the stage has before it gives way."""
_SECONDS_BETWEEN_LOOKS: Final = 15.0
_SECONDS_AT_REST: Final = 2.0


class OtherWork:
    """Says whether something else of a collection waits: a request, or a file that has changed.

    Args:
        connection: in autocommit mode.
        collection: name of the collection.
        own: URIs of the files that the stage works on.
    """

    def __init__(self, connection: Connection, collection: str, own: Collection[str] = ()) -> None:
        self._connection, self._collection, self._own = connection, collection, set(own)
        self._next_look = time.monotonic() + _SECONDS_ALONE

    def waits(self) -> bool:
        """Return whether the stage is to leave what it has not done to the next run; costs nothing most times."""
        if time.monotonic() < self._next_look:
            return False
        self._next_look = time.monotonic() + _SECONDS_BETWEEN_LOOKS
        scope = {"collection": self._collection, "own": list(self._own)}
        if self._connection.execute(queries["other_work_waits"], scope).fetchone() == (True,):
            return True
        sources = [each for each in collection_sources(self._connection, self._collection) if each.is_local]
        found = (compare(self._connection, each, Selection(at_rest=_SECONDS_AT_REST)) for each in sources)
        return any(each.gone or any(entry.uri not in self._own for entry in each.to_read) for each in found)
