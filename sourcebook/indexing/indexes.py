"""The indexes of a generation's partition, built after a load instead of row by row.

A build holds a SHARE lock on its partition only: searches continue. Writers of the partition need the lock of the
collection, which the builder holds. A killed build leaves no index.
"""

from psycopg import Connection, sql

from sourcebook.database.queries import queries
from sourcebook.indexing.graphs import (
    HNSW_BREADTH,
    HNSW_FROM,
    HNSW_LINKS,
    GraphBuild,
    build_graphs,
    index_exists,
    present_layout,
    wanted_layout,
)
from sourcebook.model.generation import Generation
from sourcebook.model.graph_layout import GraphLayout

__all__ = ["HNSW_BREADTH", "HNSW_FROM", "HNSW_LINKS", "build_vector_index", "has_vector_index", "maintain_indexes"]


def maintain_indexes(connection: Connection, generation: Generation, *, entries: int, moved: int) -> None:
    """Build missing indexes, and analyze the partitions where more than a tenth of the entries moved.

    A collection that has grown past a limit of `PARTS_FROM` gets other parts in the stage `index_upkeep`.

    Args:
        connection: in autocommit mode.
        generation: the generation of the partition.
        entries: the current number of entries.
        moved: the number of entries added, changed or removed since the last call.
    """
    if entries and not index_exists(connection, f"search_entry_{generation.id}_lexemes"):
        connection.execute(
            queries["create_lexeme_index"].format(
                name=sql.Identifier(f"search_entry_{generation.id}_lexemes"), partition=generation.partition
            )
        )
    if entries >= HNSW_FROM and not has_vector_index(connection, generation):
        build_graphs(connection, generation, entries, GraphBuild(wanted_layout(connection, generation, entries)))
    if moved * 10 > entries:
        for table in (*generation.partitions.values(), sql.Identifier("lexeme")):
            connection.execute(queries["analyze_table"].format(table=table))


def has_vector_index(connection: Connection, generation: Generation) -> bool:
    """Return whether HNSW indexes serve a generation."""
    return present_layout(connection, generation) is not None


def build_vector_index(
    connection: Connection,
    generation: Generation,
    entries: int,
    *,
    links: int = HNSW_LINKS,
    breadth: int = HNSW_BREADTH,
) -> None:
    """Build one HNSW index over a whole generation, in parallel where the server allows it.

    A graph of up to 2 GB is built in memory; a larger one is built on disk, many times more slowly.
    """
    build_graphs(connection, generation, entries, GraphBuild(GraphLayout(), links, breadth))
