"""The indexes of a generation's partition: built after a load, not row by row during it.

A build holds a SHARE lock on its partition alone: searches go on; what writes to the same partition would wait, but
whoever does holds the lock of the collection, as the builder does. A build that is killed leaves nothing.
"""

import psycopg
from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.model.generation import Generation

HNSW_FROM = 5_000
"""Entries from which an HNSW index serves; below it the exact scan takes a few milliseconds and never misses."""
HNSW_LINKS = 16
"""`m`: to how many neighbours an entry is linked in a layer of the graph; twice as many in the lowest one."""
HNSW_BREADTH = 64
"""`ef_construction`: among how many candidates the neighbours of a new entry are chosen."""

_MOST_MEMORY = 2 << 30
_BYTES_OF_LINKS = 1024
"""What an entry takes in the graph beside its vector, with some reserve."""


def maintain_indexes(connection: Connection, generation: Generation, *, entries: int, moved: int) -> None:
    """Build the indexes that are missing for this many entries, and refresh the planner's statistics.

    Args:
        connection: in autocommit mode.
        generation: whose partition.
        entries: how many it has now.
        moved: how many of them came, changed or went since the last time.
    """
    if entries and not _is_there(connection, f"search_entry_{generation.id}_lexemes"):
        connection.execute(
            queries["create_lexeme_index"].format(
                name=sql.Identifier(f"search_entry_{generation.id}_lexemes"), partition=generation.partition
            )
        )
    if entries >= HNSW_FROM and not _is_there(connection, f"search_entry_{generation.id}_vector"):
        build_vector_index(connection, generation, entries)
    if moved * 10 > entries:
        for table in (*generation.partitions.values(), sql.Identifier("lexeme")):
            connection.execute(queries["analyze_table"].format(table=table))


def build_vector_index(
    connection: Connection,
    generation: Generation,
    entries: int,
    *,
    links: int = HNSW_LINKS,
    breadth: int = HNSW_BREADTH,
) -> None:
    """Build the HNSW index of a generation, by several processes where the server can.

    The graph is built in memory where it fits into 2 GB, and on disk, many times as slowly, from there on.
    """
    try:
        _build(connection, generation, entries, links, breadth, most_workers=64)
    except psycopg.errors.DiskFull:  # of shared memory, which a container may have little of; alone it needs none
        _build(connection, generation, entries, links, breadth, most_workers=0)


def _build(
    connection: Connection, generation: Generation, entries: int, links: int, breadth: int, *, most_workers: int
) -> None:
    memory = min(entries * (2 * generation.dimensions + _BYTES_OF_LINKS), _MOST_MEMORY)
    with connection.transaction():
        connection.execute(queries["prepare_vector_index"], {"bytes": memory, "most_workers": most_workers})
        connection.execute(
            queries["create_vector_index"].format(
                name=sql.Identifier(f"search_entry_{generation.id}_vector"),
                partition=generation.partition,
                dimensions=sql.Literal(generation.dimensions),
                links=sql.Literal(links),
                breadth=sql.Literal(breadth),
            )
        )


def has_vector_index(connection: Connection, generation_id: int) -> bool:
    """Return whether a generation is searched through HNSW rather than exactly."""
    return _validity(connection, f"search_entry_{generation_id}_vector") is True


def _is_there(connection: Connection, name: str) -> bool:
    """Return whether an index is there and valid; drop what a build or a REINDEX that broke off has left."""
    valid = _validity(connection, name)
    if valid is False:
        connection.execute(queries["drop_index"].format(name=sql.Identifier(name)))
    return valid is True


def _validity(connection: Connection, name: str) -> bool | None:
    row = connection.execute(queries["index_validity"], {"name": name}).fetchone()
    return None if row is None else bool(row[0])
