"""Activation of a generation, and the retirement of those that are no longer needed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Final

import psycopg
from psycopg import Connection, sql
from psycopg.types.json import Jsonb

from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.indexing.generations import Generations, PlainSettings, find_generations
from sourcebook.model.generation import PARTITIONED, Generation

LONGEST_SEARCH: Final = 60.0
"""Seconds for which a generation that was active is kept for the searches that began with it."""
_LOCK_POLL_SECONDS: Final = 0.2


def activate(connection: Connection, generation: Generation) -> None:
    """Make a generation the active one of its collection, by one statement.

    A search that is running keeps the generation that it began with. Where the applied settings are those of the
    generation that was active, they are overruled: no ingest builds them until they change.

    Args:
        connection: in autocommit mode.
        generation: of the same collection; nothing happens where it is active already.

    Raises:
        QueryError: the generation is being deleted.
    """
    while True:
        found = find_generations(connection, generation.collection)
        if generation.id not in found.ids:
            message = f"generation {generation.id} of collection {generation.collection} is being deleted"
            raise QueryError(message)
        before = found.active.id if found.active is not None else None
        if before == generation.id:
            return
        scope = {
            "collection": generation.collection,
            "generation": generation.id,
            "before": before,
            "overruled": _overruled(found, generation),
        }
        if connection.execute(queries["activate_generation"], scope).fetchone() is not None:
            return


def _overruled(found: Generations, chosen: Generation) -> Jsonb | None:
    before: PlainSettings | None = found.active.settings if found.active is not None else None
    if found.wanted == chosen.settings or found.wanted not in (before, found.overruled):
        return None
    return Jsonb(found.wanted)


def seconds_to_retirement(found: Generations, generation: Generation) -> float:
    """Return how long a search may still be running that began while a generation was active; 0 for none."""
    if generation.id not in found.activated or found.activated_at is None:
        return 0.0
    since = (datetime.now(UTC) - found.activated_at).total_seconds()
    # One in the near future is one by another clock: the server's, or this one before a correction.
    return max(LONGEST_SEARCH - abs(since), 0.0)


def due_for_retirement(found: Generations) -> list[int]:
    """Return the ids of generations that are neither kept nor possibly in use by a search."""
    over = [generation.id for generation in found.surplus if not seconds_to_retirement(found, generation)]
    return [*found.retired, *over]


def retire(connection: Connection, generation: int) -> bool:
    """Drop the partitions of a generation, and delete its passages; a call after an interrupted one ends the work.

    Searches go on meanwhile: a partition is detached without a lock that they wait for.

    Args:
        connection: in autocommit mode; the caller holds the lock of the collection.
        generation: id of the generation.

    Returns:
        Whether it is deleted; a generation that is active or being built is not.
    """
    scope = {"generation": generation}
    with connection.transaction():
        connection.execute(queries["lock_generation"], scope)
        if connection.execute(queries["begin_retirement"], scope).fetchone() is None:
            return False
    with _detachments(connection):
        for table in PARTITIONED:
            _drop_partition(connection, table, f"{table}_{generation}")
    connection.execute(queries["delete_generation"], scope)
    return True


@contextmanager
def _detachments(connection: Connection) -> Iterator[None]:
    """Hold the lock under which one session at a time detaches partitions, of whichever collection.

    Under it a detachment that is not finished is one whose session has ended.
    """
    while connection.execute(queries["lock_detachments"]).fetchone() != (True,):
        time.sleep(_LOCK_POLL_SECONDS)  # a statement that waits would hold up the detachment that it waits for
    try:
        yield
    finally:
        with suppress(psycopg.OperationalError):  # a lost connection has lost the lock
            connection.execute(queries["unlock_detachments"])


def _drop_partition(connection: Connection, table: str, name: str) -> None:
    """Detach and drop a partition of a table, after the detachments that were interrupted, of whichever generation."""
    parent = sql.Identifier(table)
    for (partition,) in connection.execute(queries["interrupted_detachments"], {"table": table}).fetchall():
        connection.execute(queries["finish_detachment"].format(table=parent, partition=sql.Identifier(partition)))
    state = connection.execute(queries["partition_state"], {"partition": name}).fetchone()
    if state is None:
        return
    if state == (True,):
        connection.execute(queries["detach_partition"].format(table=parent, partition=sql.Identifier(name)))
    connection.execute(queries["drop_detached_partition"].format(partition=sql.Identifier(name)))
