"""The passages of an export, with their vectors: one row a passage."""

import json
import struct
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.errors import TransferError
from sourcebook.model.progress import Progress
from sourcebook.transfer.export_files import ExportFiles
from sourcebook.transfer.manifest import ExportedCollection, ExportedGeneration
from sourcebook.transfer.parquet_files import ROWS, ParquetFile

_HEAD: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TAIL: Final = b"\xff\xff"
_HASH_BYTES: Final = 32
PARQUET: Final = "passages.parquet"
JSON_LINES: Final = "passages.jsonl"
_UNIT_TOLERANCE: Final = 0.01
"""Largest difference of a vector's length from 1: half precision rounds each number by up to 0.05 %."""
_HEADER: Final = struct.Struct(">hh")
"""Head of a halfvec: its length, and two bytes for later use."""

COLUMNS: Final[dict[str, pa.DataType]] = {
    "document_id": pa.int64(),
    "uri": pa.string(),
    "title": pa.string(),
    "language": pa.string(),
    "ordinal": pa.int32(),
    "text": pa.string(),
    "context": pa.string(),
    "heading_path": pa.list_(pa.string()),
    "anchor": pa.string(),
    "page": pa.int32(),
    "start_char": pa.int32(),
    "end_char": pa.int32(),
    "start_seconds": pa.float64(),
    "end_seconds": pa.float64(),
    "token_count": pa.int32(),
    "hash": pa.binary(),
    "embedding_hash": pa.binary(),
    "parts": pa.string(),
}
"""Columns of the file but `vector`, in the order of the query `export_passages`; `parts` is JSON."""
OPTIONAL: Final = frozenset({"parts"})
"""Columns that files of earlier versions do not have."""


def column_types(dimensions: int) -> dict[str, pa.DataType]:
    """Return the types of all columns; `vector` has a fixed number of 4-byte floats."""
    return {**COLUMNS, "vector": pa.list_(pa.float32(), dimensions)}


def write_passages(
    connection: Connection,
    collection: str,
    number: int,
    generation: ExportedGeneration,
    files: ExportFiles,
    folder: str,
    formats: Sequence[str],
    progress: Progress,
) -> int:
    """Write the passages of a generation in each format that holds passages, and return their number."""
    metadata = {
        "collection": collection,
        "model": generation.model,
        "dimensions": str(generation.dimensions),
        "normalised": json.dumps(generation.normalised),
        "chunking": json.dumps(generation.chunking),
        "embedding": json.dumps(generation.embedding),
    }
    schema = pa.schema(list(column_types(generation.dimensions).items()), metadata=metadata)
    total, done = _count(connection, number), 0
    with ExitStack() as opened:
        file = lines = None
        if "parquet" in formats:
            target = opened.enter_context(files.file(f"{folder}/{PARQUET}"))
            file = ParquetFile(target, schema, vectors=True)
            opened.callback(file.abandon)
        if "jsonl" in formats:
            lines = opened.enter_context(files.file(f"{folder}/{JSON_LINES}"))
        for rows in _parts(connection, number):
            *columns, vectors = zip(*rows, strict=True)
            matrix, embedded = _matrix(vectors, generation.dimensions)
            if file is not None:
                numbers = pa.array(matrix.reshape(-1))
                values = pa.FixedSizeListArray.from_arrays(numbers, generation.dimensions, mask=pa.array(~embedded))
                arrays = [pa.array(column, type=kind) for column, kind in zip(columns, COLUMNS.values(), strict=True)]
                file.write([*arrays, values])
            if lines is not None:
                for row, vector in zip(rows, matrix, strict=True):
                    lines.write(_line(row, vector if row[-1] else None).encode())
            done += len(rows)
            progress(done, total)
        if file is not None:
            file.finish()
    return done


def checked_vectors(
    part: pa.RecordBatch, path: Path, collection: ExportedCollection, generation: ExportedGeneration
) -> NDArray[np.float32]:
    """Return the vectors of the passages of a part that have an `embedding_hash`, of shape (passages, dimensions).

    Raises:
        TransferError: a vector is missing or too many, has another length, a number that is not finite, or not the
            length 1.
    """
    column = part.column("vector")
    uris = part.column("uri")

    def refuse(row: int, what: str) -> None:
        raise TransferError(
            f"{path}: the vector of a passage of {uris[row]} {what}; nothing of {collection.name} was imported: "
            "export again"
        )

    lengths = column.value_lengths().fill_null(-1).to_numpy(zero_copy_only=False)
    embedded = part.column("embedding_hash").is_valid().to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(lengths != np.where(embedded, generation.dimensions, -1))
    if wrong.size:
        found = int(lengths[wrong[0]])
        wanted = f"not {generation.dimensions}" if embedded[wrong[0]] else "though the passage has no embedding_hash"
        refuse(int(wrong[0]), "is missing" if found < 0 else f"has {found} numbers, {wanted}")
    rows = np.flatnonzero(embedded)
    values = column.flatten().fill_null(float("nan")).to_numpy(zero_copy_only=False)
    matrix: NDArray[np.float32] = values.reshape(-1, generation.dimensions)
    wrong = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if wrong.size:
        refuse(int(rows[wrong[0]]), "has a number that is not finite")
    if generation.normalised:
        norms = np.linalg.norm(matrix, axis=1)
        wrong = np.flatnonzero(np.abs(norms - 1) > _UNIT_TOLERANCE)
        if wrong.size:
            refuse(int(rows[wrong[0]]), f"has the length {norms[wrong[0]]:.3f}, not 1")
    return matrix


def _parts(connection: Connection, number: int) -> Iterator[list[tuple[Any, ...]]]:
    with connection.cursor("export_passages", binary=True) as cursor:
        cursor.execute(queries["export_passages"], {"generation": number})
        while rows := cursor.fetchmany(ROWS):
            yield rows


def _matrix(vectors: Sequence[bytes | None], dimensions: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return vectors that the server has sent, of shape (n, dimensions), and which of them there are, of shape (n,).

    A passage of a generated index has no vector; its row is zero.
    """
    nothing = bytes(2 * dimensions)
    held = b"".join(nothing if vector is None else vector[_HEADER.size :] for vector in vectors)
    matrix = np.frombuffer(held, dtype=">f2").astype(np.float32).reshape(len(vectors), dimensions)
    return matrix, np.array([vector is not None for vector in vectors])


def _line(row: tuple[Any, ...], vector: NDArray[np.float32] | None) -> str:
    values = {
        name: value.hex() if isinstance(value, bytes) else value for name, value in zip(COLUMNS, row[:-1], strict=True)
    }
    return json.dumps({**values, "vector": None if vector is None else vector.tolist()}, ensure_ascii=False) + "\n"


def _count(connection: Connection, number: int) -> int:
    row = connection.execute(queries["count_entries"], {"generation": number}).fetchone()
    return int(row[0]) if row else 0


def vector_rows(hashes: Sequence[bytes | None], vectors: NDArray[np.float32]) -> bytes:
    """Return rows of a SHA-256 (bytea) and a vector (halfvec), as data of a binary COPY.

    Args:
        hashes: SHA-256 of the text of each vector.
        vectors: of shape (n, dimensions).

    Raises:
        ValueError: a hash is missing, or has another length.
    """
    digests = [value for value in hashes if value is not None]
    if len(digests) < len(hashes):
        raise ValueError("the SHA-256 of a text is missing")
    if any(len(digest) != _HASH_BYTES for digest in digests):
        raise ValueError(f"the SHA-256 of a text has not {_HASH_BYTES} bytes")
    count, dimensions = vectors.shape
    if not count:
        return _HEAD + _TAIL
    rows = np.zeros(
        count,
        np.dtype(
            [
                ("fields", ">i2"),
                ("hash_bytes", ">i4"),
                ("hash", f"V{_HASH_BYTES}"),
                ("vector_bytes", ">i4"),
                ("dimensions", ">i2"),
                ("unused", ">i2"),
                ("vector", ">f2", (dimensions,)),
            ]
        ),
    )
    rows["fields"] = 2
    rows["hash_bytes"] = _HASH_BYTES
    rows["hash"] = np.frombuffer(b"".join(digests), f"V{_HASH_BYTES}")
    rows["vector_bytes"] = 4 + 2 * dimensions
    rows["dimensions"] = dimensions
    rows["vector"] = vectors
    return _HEAD + rows.tobytes() + _TAIL
