"""Parquet files are read in parts of a bounded size."""

from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from sourcebook.transfer.parquet_files import ROWS, read_parts  # noqa: E402 - needs pyarrow

LENGTH = 100_000


def test_a_part_has_fewer_rows_where_rows_are_large(tmp_path: Path) -> None:
    """However many rows whoever wrote the file has put into one group."""
    texts = [f"{number:06}" * (LENGTH // 6) for number in range(300)]
    pq.write_table(pa.table({"markdown": texts}), tmp_path / "large.parquet", use_dictionary=False)
    parts = list(read_parts(tmp_path / "large.parquet", {"markdown": pa.string()}))
    assert max(part.num_rows for part in parts) * LENGTH < 10_000_000
    assert [text for part in parts for text in part.column("markdown").to_pylist()] == texts


def test_what_was_read_is_not_kept(tmp_path: Path) -> None:
    """Of a file of any size, a part at a time is in memory: neither as values nor as bytes of the file."""
    contents = [Random(number).randbytes(10_000) for number in range(1_000)]
    pq.write_table(pa.table({"content": contents}), tmp_path / "large.parquet", row_group_size=10, use_dictionary=False)
    before, most, rows = allocated(), 0, 0
    for part in read_parts(tmp_path / "large.parquet", {"content": pa.binary()}):
        rows += part.num_rows
        most = max(most, allocated() - before)
    assert rows == len(contents)
    assert most < sum(map(len, contents)) // 2


def allocated() -> int:
    """Return the bytes that Arrow holds, in whichever of its allocators: it reads files with its default one."""
    total = 0
    for name in ("system", "jemalloc", "mimalloc"):
        with suppress(NotImplementedError):  # it is not in every build
            total += getattr(pa, f"{name}_memory_pool")().bytes_allocated()
    return total


def test_a_part_of_small_rows_is_full(tmp_path: Path) -> None:
    pq.write_table(pa.table({"number": list(range(2 * ROWS))}), tmp_path / "small.parquet")
    parts = list(read_parts(tmp_path / "small.parquet", {"number": pa.int64()}))
    assert [part.num_rows for part in parts] == [ROWS, ROWS]


def test_a_file_without_rows_has_no_part(tmp_path: Path) -> None:
    pq.write_table(pa.table({"number": pa.array([], pa.int64())}), tmp_path / "empty.parquet")
    assert list(read_parts(tmp_path / "empty.parquet", {"number": pa.int64()})) == []
