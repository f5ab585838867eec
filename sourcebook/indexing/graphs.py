"""The HNSW indexes of a generation: built after a load, in how many parts, and their change in place.

A layout takes the place of another one without a new generation: its indexes are built beside those that searches use,
and these go when all of it is there. A killed build leaves the finished parts, and the next one goes on with the rest.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg
from psycopg import Connection, sql
from psycopg.pq import TransactionStatus

from sourcebook.config.evaluation import GenerationSettings
from sourcebook.database.connecting import configure_session
from sourcebook.database.queries import queries
from sourcebook.model.generation import Generation
from sourcebook.model.graph_layout import GraphLayout, parts_for

HNSW_FROM = 5_000
"""Entries from which an HNSW index is built; below, an exact scan takes a few milliseconds."""
WORDS_FROM = 4_000
"""Entries from which a first ingest that is going on has an index of their words; it is made in the end otherwise."""
PARTS_FROM = 1_000_000
"""Entries from which they are cut into parts with an HNSW index each."""
HNSW_LINKS = 16
"""`m`: links per entry and layer of the graph; twice as many in the lowest layer."""
HNSW_BREADTH = 64
"""`ef_construction`: candidates from which the neighbours of a new entry are chosen."""

_MOST_MEMORY = 2 << 30
"""Maximum bytes of memory for building graphs, those that are built at the same time together."""
_BYTES_OF_LINKS = 1024
"""Bytes of an entry in the graph besides its vector, with a reserve."""


@dataclass(frozen=True, slots=True)
class GraphBuild:
    """How the graphs of one layout are built."""

    layout: GraphLayout
    links: int = HNSW_LINKS
    breadth: int = HNSW_BREADTH

    def bytes_of_part(self, dimensions: int, entries: int) -> int:
        """Return the memory that the graph of one part takes while it is built."""
        vector = dimensions // 8 if self.layout.bits else 2 * dimensions
        return entries * (vector + _BYTES_OF_LINKS) // self.layout.parts


def present_layout(connection: Connection, generation: Generation) -> GraphLayout | None:
    """Return the layout of the HNSW indexes that searches use; None where there is none."""
    return next(iter(GraphLayout.whole(_valid_indexes(connection, generation))), None)


def wanted_layout(connection: Connection, generation: Generation, entries: int) -> GraphLayout:
    """Return the layout that the collection's applied settings ask for.

    Parts become fewer only where three quarters of the entries have gone, so that few changes at a limit build nothing.
    """
    row = connection.execute(queries["graph_rules"], {"collection": generation.collection}).fetchone()
    rules = GenerationSettings.model_validate((row[0] if row else None) or {})
    parts = parts_for(entries, PARTS_FROM)
    present = present_layout(connection, generation)
    if present is not None and parts < present.parts <= parts_for(4 * entries, PARTS_FROM):
        parts = present.parts
    return GraphLayout(parts, rules.quantization == "binary")


def settle_graphs(connection: Connection, generation: Generation, entries: int) -> bool:
    """Build the missing HNSW indexes of the wanted layout, drop all others, and return whether any was built.

    Args:
        connection: in autocommit mode.
        generation: the generation of the partition.
        entries: the current number of entries; too few for an index leave what is there.
    """
    if entries < HNSW_FROM:
        return False
    wanted = wanted_layout(connection, generation, entries)
    if present_layout(connection, generation) == wanted and len(_valid_indexes(connection, generation)) == wanted.parts:
        return False
    built = build_graphs(connection, generation, entries, GraphBuild(wanted))
    needed = {wanted.name(generation.id, part) for part in range(wanted.parts)}
    for name in _valid_indexes(connection, generation):
        if name not in needed:
            connection.execute(queries["drop_index_beside_searches"].format(name=sql.Identifier(name)))
    return built


def build_graphs(connection: Connection, generation: Generation, entries: int, build: GraphBuild) -> bool:
    """Build the missing HNSW indexes of a layout, and return whether any was.

    Several parts are built at the same time, each by a session of its own, as far as the server's processes for
    builds and 2 GB of memory go. Inside a transaction, whose rows no other session sees, they are built in turn.
    """
    layout = build.layout
    missing = [part for part in range(layout.parts) if not index_exists(connection, layout.name(generation.id, part))]
    if not missing:
        return False
    if layout != GraphLayout():
        _count_parts(connection, generation, layout)
    workers = _workers(connection)
    room = max(_MOST_MEMORY // max(build.bytes_of_part(generation.dimensions, entries), 1), 1)
    is_alone = connection.info.transaction_status == TransactionStatus.IDLE
    at_once = min(len(missing), workers + 1, room) if is_alone else 1
    helpers = (workers + 1) // at_once - 1
    memory = min(build.bytes_of_part(generation.dimensions, entries), _MOST_MEMORY // at_once)
    each = partial(_build_despite_little_memory, generation=generation, build=build, memory=memory, helpers=helpers)
    if at_once == 1:
        for part in missing:
            each(connection, part)
        return True
    with ThreadPoolExecutor(at_once, thread_name_prefix="graphs") as threads:
        for lane in [
            threads.submit(_build_lane, connection, missing[first::at_once], each) for first in range(at_once)
        ]:
            lane.result()
    return True


def index_exists(connection: Connection, name: str) -> bool:
    """Return whether a valid index exists; drop an invalid one that an interrupted build has left."""
    valid = connection.execute(queries["index_validity"], {"name": name}).fetchone()
    if valid == (False,):
        connection.execute(queries["drop_index"].format(name=sql.Identifier(name)))
    return valid == (True,)


def _build_lane(connection: Connection, parts: Sequence[int], build: "partial[None]") -> None:
    """Build some parts in turn, by a session like that of the connection."""
    info = connection.info
    parameters: dict[str, Any] = {**info.get_parameters(), "password": info.password or None}
    with psycopg.connect(autocommit=True, **parameters) as own:
        configure_session(own)
        for part in parts:
            build(own, part)


def _build_despite_little_memory(
    connection: Connection, part: int, *, generation: Generation, build: GraphBuild, memory: int, helpers: int
) -> None:
    try:
        _build(connection, part, generation, build, memory, helpers)
    except psycopg.errors.DiskFull:  # a container may lack the shared memory that a parallel build needs
        _build(connection, part, generation, build, memory, 0)


def _build(
    connection: Connection, part: int, generation: Generation, build: GraphBuild, memory: int, helpers: int
) -> None:
    layout = build.layout
    statement = "create_bits_index" if layout.bits else "create_part_index"
    if layout == GraphLayout():
        statement = "create_vector_index"
    with connection.transaction():
        connection.execute(queries["prepare_vector_index"], {"bytes": memory, "most_workers": helpers})
        connection.execute(
            queries[statement].format(
                name=sql.Identifier(layout.name(generation.id, part)),
                partition=generation.partition,
                dimensions=sql.Literal(generation.dimensions),
                links=sql.Literal(build.links),
                breadth=sql.Literal(build.breadth),
                mask=sql.Literal(layout.parts - 1),
                part=sql.Literal(part),
            )
        )


def _count_parts(connection: Connection, generation: Generation, layout: GraphLayout) -> None:
    name = sql.Identifier(f"search_entry_{generation.id}_parts_{layout.parts}")
    values = {"name": name, "partition": generation.partition, "mask": sql.Literal(layout.parts - 1)}
    connection.execute(queries["create_part_statistics"].format(**values))
    connection.execute(queries["analyze_table"].format(table=generation.partition))


def _workers(connection: Connection) -> int:
    row = connection.execute(queries["parallel_builds"]).fetchone()
    return int(row[0]) if row else 0


def _valid_indexes(connection: Connection, generation: Generation) -> list[str]:
    partition = {"partition": f"sourcebook.search_entry_{generation.id}"}
    return [name for (name,) in connection.execute(queries["partition_vector_indexes"], partition)]


__all__ = [
    "HNSW_BREADTH",
    "HNSW_FROM",
    "HNSW_LINKS",
    "build_vector_index",
    "has_vector_index",
    "index_words",
    "maintain_indexes",
]


def maintain_indexes(connection: Connection, generation: Generation, *, entries: int, moved: int) -> None:
    """Build missing indexes, and analyze the partitions where more than a tenth of the entries moved.

    A build holds a SHARE lock on its partition only: searches continue. Writers of the partition need the lock of the
    collection, which the builder holds.

    A collection that has grown past a limit of `PARTS_FROM` gets other parts in the stage `index_upkeep`.

    Args:
        connection: in autocommit mode.
        generation: the generation of the partition.
        entries: the current number of entries.
        moved: the number of entries added, changed or removed since the last call.
    """
    if entries:
        _index_lexemes(connection, generation)
    if entries >= HNSW_FROM and not has_vector_index(connection, generation):
        build_graphs(connection, generation, entries, GraphBuild(wanted_layout(connection, generation, entries)))
    if moved * 10 > entries:
        _analyze(connection, generation)


def index_words(connection: Connection, generation: Generation) -> None:
    """Index the words of a generation whose first ingest is going on, once it has many entries."""
    row = connection.execute(queries["count_entries"], {"generation": generation.id}).fetchone()
    if row is not None and row[0] >= WORDS_FROM and _index_lexemes(connection, generation):
        _analyze(connection, generation)


def _index_lexemes(connection: Connection, generation: Generation) -> bool:
    """Create the index that finds entries by their lexemes; return whether it was missing."""
    name = f"search_entry_{generation.id}_lexemes"
    if index_exists(connection, name):
        return False
    statement = queries["create_lexeme_index"]
    connection.execute(statement.format(name=sql.Identifier(name), partition=generation.partition))
    return True


def _analyze(connection: Connection, generation: Generation) -> None:
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


def index_bytes(connection: Connection, generation: Generation) -> int:
    """Return the size of a generation's entries with their indexes on disk, in bytes."""
    row = connection.execute(queries["index_bytes"], {"tables": generation.tables}).fetchone()
    return int(row[0]) if row else 0
