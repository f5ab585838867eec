"""Recording of answers that show documents, for the audit of reading."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.database.queries import queries
from sourcebook.errors import DatabaseError
from sourcebook.model.acting import account, present_actor
from sourcebook.search.query_redaction import redacted

FRESH: Final = 5.0
"""Seconds for which it is known which collections keep an audit: other answers pay no query for it."""
_PAUSE: Final = 3_600.0
"""Seconds between two deletions of old readings by a process that records; the nightly retention deletes them, too."""
_MOST_PRINCIPALS: Final = 100
"""Principals of a reading, at most, persons first."""


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document that an answer names."""

    collection: str
    uri: str
    id: int | None
    """None for a file that has become no document."""


class ReadingAudit:
    """Records answers of one knowledge base. Thread-safe.

    Args:
        connecting: lends a connection that may write.
    """

    def __init__(self, connecting: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._connecting = connecting
        self._known: tuple[float, frozenset[str]] | None = None
        self._deleted_at = float("-inf")

    def collections(self) -> frozenset[str]:
        """Return the collections that keep an audit, as they were at most five seconds ago.

        Where the database is out of reach, as they were before: a replica may answer without it.

        Raises:
            DatabaseError: it is out of reach, and was never asked.
        """
        if self._known is None or time.monotonic() - self._known[0] > FRESH:
            try:
                with self._connecting() as connection:
                    names = frozenset(name for (name,) in connection.execute(queries["audited_collections"]))
            except DatabaseError:
                if self._known is None:
                    raise
                names = self._known[1]
            self._known = time.monotonic(), names
        return self._known[1]

    def record(
        self,
        operation: str,
        shown: Iterable[ShownDocument],
        *,
        question: str | None = None,
        principals: Iterable[str] | None = None,
        asked: Sequence[str] = (),
    ) -> None:
        """Record an answer that was not given yet.

        Args:
            operation: such as `search`.
            shown: documents that the answer names.
            question: what was asked.
            principals: for whom it was asked; None for everything in scope.
            asked: names of the collections that were asked, for an answer without documents; all where empty.

        Raises:
            DatabaseError: it cannot be recorded: the answer must not be given.
        """
        names = self.collections()
        found: dict[str, dict[str, int | None]] = {}
        is_empty = True
        for each in shown:
            is_empty = False
            if each.collection in names:
                found.setdefault(each.collection, {})[each.uri] = each.id
        if is_empty:
            found = {name: {} for name in names if not asked or name in asked}
        if not found:
            return
        rows = [
            {"collection": name, "documents": [each for each in held.values() if each is not None], "uris": list(held)}
            for name, held in sorted(found.items())
        ]
        values = {
            "actor": present_actor() or account(),
            "principals": None if principals is None else sorted(principals, key=_persons_first)[:_MOST_PRINCIPALS],
            "operation": operation,
            "question": None if question is None else redacted(question).replace("\0", ""),
            "shown": Jsonb(rows),
        }
        with self._connecting() as connection:
            connection.execute(queries["record_reading"], values)
            if time.monotonic() - self._deleted_at > _PAUSE:
                self._deleted_at = time.monotonic()
                connection.execute(queries["delete_old_readings"])


def _persons_first(principal: str) -> tuple[bool, bool, str]:
    return not principal.startswith("user:"), not principal.startswith("group:"), principal
