"""Loading vectors: binary COPY with the index built after, against COPY into a table that has its HNSW index."""

import time

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import Connection

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, say
from sourcebook.database.queries import queries

_ROWS, _ROWS_IN_PLACE, _DIMENSIONS = 20_000, 2_000, 384
_TABLE = "CREATE TEMPORARY TABLE {} (id bigint, vector halfvec(384))"
_INDEX = "CREATE INDEX ON {} USING hnsw (vector halfvec_cosine_ops)"
_COPY = "COPY {} (id, vector) FROM STDIN (FORMAT binary)"


def run(bench: Bench) -> list[Row]:
    """Load random unit vectors both ways."""
    random = np.random.default_rng(1)
    vectors = random.standard_normal((_ROWS, _DIMENSIONS), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    library = bench.library("copy")
    with library.database() as database, database.connection() as connection:
        connection.execute(_TABLE.format("after"))
        copied = _copy(connection, "after", vectors)
        built = _timed(connection, _INDEX.format("after"))
        connection.execute(_TABLE.format("in_place"))
        connection.execute(_INDEX.format("in_place"))
        in_place = _copy(connection, "in_place", vectors[:_ROWS_IN_PLACE])
        kept = _keep(connection, vectors)
    bench.drop(library)
    say(
        f"  {_ROWS:,} rows: COPY {copied:.2f} s, index {built:.2f} s; {_ROWS_IN_PLACE:,} rows in place {in_place:.2f} s"
    )
    after, before = _ROWS / (copied + built), _ROWS_IN_PLACE / in_place
    return [
        Row("halfvec(384), binary COPY without index", _ROWS / copied, "rows/s"),
        Row("halfvec(384), COPY and then the index", after, "rows/s", note=f"{_ROWS:,} rows"),
        Row(
            "halfvec(384), COPY with HNSW in place",
            before,
            "rows/s",
            note=f"{_ROWS_IN_PLACE:,} rows into an empty index",
        ),
        Row("loading time, index built after / in place", before / after, "×", 1.0),
        Row("the project's own way into `embedding` (COPY, then keep by hash)", _ROWS / kept, "rows/s"),
    ]


def _copy(connection: Connection, table: str, vectors: NDArray[np.float32]) -> float:
    started = time.perf_counter()
    with connection.transaction(), connection.cursor().copy(_COPY.format(table)) as copy:
        copy.set_types(["int8", "halfvec"])
        for number, vector in enumerate(vectors):
            copy.write_row((number, HalfVector(vector)))
    return time.perf_counter() - started


def _keep(connection: Connection, vectors: NDArray[np.float32]) -> float:
    """Load with the statements that the stage `embeddings` uses."""
    connection.execute(queries["create_vector_staging"])
    started = time.perf_counter()
    with connection.transaction():
        with connection.cursor().copy(queries["copy_vectors"]) as copy:
            copy.set_types(["bytea", "halfvec"])
            for number, vector in enumerate(vectors):
                copy.write_row((number.to_bytes(32), HalfVector(vector)))
        connection.execute(queries["keep_vectors"], {"model": "benchmark"})
    return time.perf_counter() - started


def _timed(connection: Connection, statement: str) -> float:
    started = time.perf_counter()
    connection.execute(statement)
    return time.perf_counter() - started
