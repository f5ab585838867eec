"""Suspicion: signs that somebody else than the library may have changed the rows of a collection.

Triggers mark every statement of a session that is not the library's; a digest over the places of the tables and over
these triggers differs after a restore and after a trigger was disabled. Without a sign the sums over the published rows
need not be compared: looking for signs costs one query, however large the base is.
"""

from dataclasses import dataclass, replace

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The signs of foreign changes in a collection; false where there are none."""

    marks: tuple[int, ...]
    """Ids of the marks that were read."""
    tables: tuple[str, ...]
    """Tables and partitions that foreign statements named."""
    is_moved: bool
    """Whether tables were restored, emptied or rewritten, or were unwatched for a while."""

    def __bool__(self) -> bool:
        return bool(self.marks) or self.is_moved


def find_suspicion(connection: Connection, collection: str) -> Suspicion:
    """Return the signs of foreign changes since the last proof.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
    """
    row = connection.execute(queries["suspicion"], {"collection": collection}).fetchone()
    marks, tables, is_moved = row or ((), (), False)
    return Suspicion(tuple(marks), tuple(sorted(tables)), bool(is_moved))


def heightened(selection: Selection, suspicion: Suspicion) -> Selection:
    """Return the selection of a run that looks at all rows where there are signs of foreign changes."""
    return replace(selection, thorough=True) if suspicion else selection


def note_comparison(connection: Connection, suspicion: Suspicion, shard: Shard | None = None) -> None:
    """Record that a run has compared sources, inventory and documents since these signs; of a shard, once all have."""
    if not suspicion.marks:
        return
    is_done = True
    if shard is not None:
        scope = {"collection": shard.collection, **shard.values, "mark": max(suspicion.marks)}
        connection.execute(queries["note_comparison_of_shard"], scope)
        is_done = connection.execute(queries["shards_have_compared"], scope).fetchone() == (True,)
    if is_done:
        connection.execute(queries["note_comparison"], {"marks": list(suspicion.marks)})


def forget_suspicion(connection: Connection, suspicion: Suspicion) -> None:
    """Forget the signs whose consequences are mended: every generation is proven; see `note_comparison`."""
    if suspicion.marks:
        connection.execute(queries["forget_foreign_changes"], {"marks": list(suspicion.marks)})
