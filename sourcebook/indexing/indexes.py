"""The indexes of a generation's partition, built after a load instead of row by row.

A build holds a SHARE lock on its partition only: searches continue. Writers of the partition need the lock of the
collection, which the builder holds. A killed build leaves no index.
"""

import psycopg
from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.model.generation import Generation

HNSW_FROM = 5_000
"""Entries from which an HNSW index is built; below, an exact scan takes a few milliseconds."""
HNSW_LINKS = 16
"""`m`: links per entry and layer of the graph; twice as many in the lowest layer."""
HNSW_BREADTH = 64
"""`ef_construction`: candidates from which the neighbours of a new entry are chosen."""

_MOST_MEMORY = 2 << 30
"""Maximum bytes of memory for building a graph."""
_BYTES_OF_LINKS = 1024
"""Bytes of an entry in the graph besides its vector, with a reserve."""


def maintain_indexes(connection: Connection, generation: Generation, *, entries: int, moved: int) -> None:
    """Build missing indexes, and analyze the partitions where more than a tenth of the entries moved.

    Args:
        connection: in autocommit mode.
        generation: the generation of the partition.
        entries: the current number of entries.
        moved: the number of entries added, changed or removed since the last call.
    """
    if entries and not _exists(connection, f"search_entry_{generation.id}_lexemes"):
        connection.execute(
            queries["create_lexeme_index"].format(
                name=sql.Identifier(f"search_entry_{generation.id}_lexemes"), partition=generation.partition
            )
        )
    if entries >= HNSW_FROM and not has_vector_index(connection, generation):
        build_vector_index(connection, generation, entries)
    if moved * 10 > entries:
        for table in (*generation.partitions.values(), sql.Identifier("lexeme")):
            connection.execute(queries["analyze_table"].format(table=table))


def has_vector_index(connection: Connection, generation: Generation) -> bool:
    """Return whether a generation has an HNSW index; drop an invalid one that an interrupted build has left."""
    return _exists(connection, f"search_entry_{generation.id}_vector")


def build_vector_index(
    connection: Connection,
    generation: Generation,
    entries: int,
    *,
    links: int = HNSW_LINKS,
    breadth: int = HNSW_BREADTH,
) -> None:
    """Build the HNSW index of a generation, in parallel where the server allows it.

    A graph of up to 2 GB is built in memory; a larger one is built on disk, many times more slowly.
    """
    try:
        _build(connection, generation, entries, links, breadth, most_workers=64)
    except psycopg.errors.DiskFull:  # a container may lack the shared memory that a parallel build needs
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


def _exists(connection: Connection, name: str) -> bool:
    """Return whether a valid index exists; drop an invalid one that an interrupted build has left."""
    valid = connection.execute(queries["index_validity"], {"name": name}).fetchone()
    if valid == (False,):
        connection.execute(queries["drop_index"].format(name=sql.Identifier(name)))
    return valid == (True,)
