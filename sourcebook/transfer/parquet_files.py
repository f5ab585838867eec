"""Parquet files that are written and read in parts, so that memory stays flat."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from io import RawIOBase
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from sourcebook.errors import TransferError
from sourcebook.processes.machine_memory import return_freed_memory

ROWS: Final = 4_096
"""Most rows of a part, a row group of the file."""
_BYTES: Final = 16_000_000
"""Bytes of text from which a part is written."""
_BYTES_READ: Final = 2_000_000
"""Bytes of a part that is read, by the average row: as objects of Python they take several times as many."""


class ParquetFile:
    """A Parquet file that is being written.

    Args:
        file: where it is written.
        schema: the columns and the metadata.
        vectors: whether the file has a column `vector`, whose bytes compress better when they are split by place.
    """

    def __init__(self, file: RawIOBase, schema: pa.Schema, *, vectors: bool = False) -> None:
        self.schema = schema
        self.rows = 0
        options: dict[str, Any] = {}
        if vectors:
            names = [name for name in schema.names if name != "vector"]
            options = {"use_dictionary": names, "column_encoding": {"vector.list.element": "BYTE_STREAM_SPLIT"}}
        self._writer = pq.ParquetWriter(file, schema, compression="zstd", compression_level=1, **options)
        self._waiting: list[tuple[Any, ...]] = []
        self._bytes = 0

    def add(self, row: tuple[Any, ...]) -> None:
        """Add a row."""
        self._waiting.append(row)
        self._bytes += sum(len(value) for value in row if isinstance(value, str | bytes))
        if len(self._waiting) >= ROWS or self._bytes >= _BYTES:
            self._write_waiting()

    def write(self, columns: Sequence[Any]) -> None:
        """Write a part, given as its columns."""
        batch = pa.record_batch(list(columns), schema=self.schema)
        self._writer.write_batch(batch)
        self.rows += batch.num_rows

    def finish(self) -> None:
        """Write what waits, and the end of the file."""
        self._write_waiting()
        self._writer.close()

    def abandon(self) -> None:
        """Write no more, whatever the file lacks; nothing happens after `finish`."""
        self._waiting.clear()
        with suppress(OSError, ValueError, pa.ArrowException):
            self._writer.close()
        self._writer.is_open = False  # its finaliser would try again

    def _write_waiting(self) -> None:
        if self._waiting:
            columns = zip(*self._waiting, strict=True)
            self.write([pa.array(column, type=field.type) for column, field in zip(columns, self.schema, strict=True)])
            self._waiting.clear()
            self._bytes = 0


def read_parts(path: Path, types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
    """Yield the parts of a Parquet file with the columns that are known.

    Args:
        path: its path.
        types: the types of the known columns; the file need not have all of them.

    Raises:
        TransferError: the file is no Parquet file, is damaged, or a column has another type.
    """
    pa.set_memory_pool(pa.system_memory_pool())  # Arrow's own allocator keeps what was freed
    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:  # it would keep the bytes of the file until its end
            found = file.schema_arrow
            for name, wanted in types.items():
                if name in found.names and not _is_alike(found.field(name).type, wanted):
                    raise TransferError(
                        f"{path} has {found.field(name).type} in the column {name}, not {wanted}: export again"
                    )
            names = [name for name in types if name in found.names]
            # Not by Arrow's threads: each keeps the memory that it has used for itself.
            for part in file.iter_batches(batch_size=_rows_at_once(file.metadata), columns=names, use_threads=False):
                yield part
                del part
                return_freed_memory()
    except (pa.ArrowException, OSError, EOFError) as error:
        raise TransferError(f"{path} is no Parquet file, or it is damaged: {error}") from error


def _rows_at_once(metadata: pq.FileMetaData) -> int:
    """Return the rows of a part: fewer where a row may hold a whole document."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    largest = max((group.total_byte_size / group.num_rows for group in groups if group.num_rows), default=0.0)
    return max(min(ROWS, int(_BYTES_READ / max(largest, 1.0))), 1)


def read_metadata(path: Path) -> dict[str, str]:
    """Return the metadata of a Parquet file's schema.

    Raises:
        TransferError: the file is no Parquet file, or is damaged.
    """
    try:
        found = pq.read_schema(path).metadata or {}
        return {key.decode(): value.decode() for key, value in found.items() if key != b"ARROW:schema"}
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        raise TransferError(f"{path} is no Parquet file, or it is damaged: {error}") from error


def _is_alike(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether values of a type read like those of another: lists of a fixed or any length, long or short texts."""
    if pa.types.is_fixed_size_list(wanted) or pa.types.is_list(wanted):
        is_list = pa.types.is_list(found) or pa.types.is_fixed_size_list(found) or pa.types.is_large_list(found)
        return is_list and _is_alike(found.value_type, wanted.value_type)
    if pa.types.is_string(wanted):
        return bool(pa.types.is_string(found) or pa.types.is_large_string(found))
    return bool(found == wanted)
