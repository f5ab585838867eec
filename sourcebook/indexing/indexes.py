"""The indexes of a generation's partition: built after the first load, not row by row during it."""

from psycopg import Connection, sql

from sourcebook.indexing.generation import Generation

HNSW_FROM = 10_000
"""Entries from which an HNSW index serves; below it the exact scan takes a few milliseconds and never misses."""

_EXISTS = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


def maintain_indexes(connection: Connection, generation: Generation, *, entries: int, moved: int) -> None:
    """Build the indexes that are missing for this many entries, and refresh the planner's statistics."""
    if entries:
        _ensure(
            connection,
            f"search_entry_{generation.id}_lexemes",
            sql.SQL("CREATE INDEX {} ON {} USING gin (lexemes)"),
            generation,
        )
    if entries >= HNSW_FROM:
        _ensure(
            connection,
            f"search_entry_{generation.id}_vector",
            sql.SQL("CREATE INDEX {} ON {} USING hnsw ((vector::halfvec({})) halfvec_ip_ops)"),
            generation,
            sql.Literal(generation.dimensions),
        )
    if moved * 10 > entries:
        connection.execute(sql.SQL("ANALYZE {}").format(generation.partition))


def has_vector_index(connection: Connection, generation_id: int) -> bool:
    """Return whether a generation is searched through HNSW rather than exactly."""
    return connection.execute(_EXISTS, [f"search_entry_{generation_id}_vector"]).fetchone() == (True,)


def _ensure(
    connection: Connection, name: str, statement: sql.SQL, generation: Generation, *more: sql.Composable
) -> None:
    if connection.execute(_EXISTS, [name]).fetchone() is None:
        connection.execute(statement.format(sql.Identifier(name), generation.partition, *more))
