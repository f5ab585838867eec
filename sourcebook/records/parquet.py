"""A Parquet file, on this machine or at any fsspec URL, as a table of records."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sourcebook.records.record import Row

_BATCH: Final = 10_000
_BATCH_BYTES: Final = 16_000_000
"""Rows and bytes of a batch."""


@contextmanager
def open_parquet(url: str) -> Iterator["_ParquetTable"]:
    """Open a Parquet file."""
    import fsspec
    import pyarrow.parquet as pq

    with fsspec.open(url, "rb") as file:
        yield _ParquetTable(pq.ParquetFile(file))


class _ParquetTable:
    def __init__(self, file: Any) -> None:
        self._file = file

    def fields(self) -> Sequence[str]:
        return list(self._file.schema_arrow.names)

    def marks(self, key: str, updated: str) -> Iterator[tuple[object, object]]:
        for batch in self._file.iter_batches(_BATCH, columns=[key, updated]):
            yield from zip(batch[key].to_pylist(), batch[updated].to_pylist(), strict=True)

    def rows(self, key: str, wanted: Sequence[object] | None) -> Iterator[Row]:
        keys = None if wanted is None else set(wanted)
        groups = map(self._file.metadata.row_group, range(self._file.num_row_groups))
        largest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
        for batch in self._file.iter_batches(min(_BATCH, _BATCH_BYTES // max(largest, 1) or 1)):
            if keys is not None and keys.isdisjoint(batch[key].to_pylist()):
                continue
            yield from (row for row in batch.to_pylist() if keys is None or row[key] in keys)
