"""Tables of records: real files of SQLite, DuckDB and Parquet."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sourcebook.config.records import RecordSource
from sourcebook.errors import ListingError
from sourcebook.records.tables import open_table
from sourcebook.stages.raw_files.source_records import latest_of

ROWS = [(1, "Tides rise.", 10), (2, "Knots hold.", 20), (3, None, 30)]


def _sqlite(path: Path) -> dict[str, str]:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE notes (id, body, changed)")
        connection.executemany("INSERT INTO notes VALUES (?, ?, ?)", ROWS)
    connection.close()
    return {"url": f"sqlite:///{path}", "name": "notes"}


def _duckdb(path: Path) -> dict[str, str]:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE notes (id INTEGER, body TEXT, changed INTEGER)")
        connection.executemany("INSERT INTO notes VALUES (?, ?, ?)", ROWS)
    return {"url": f"duckdb:///{path}", "schema": "main", "name": "notes"}


def _parquet(path: Path) -> dict[str, str]:
    columns = dict(zip(("id", "body", "changed"), map(list, zip(*ROWS, strict=True)), strict=True))
    pq.write_table(pa.table(columns), path.with_suffix(".parquet"))
    return {"url": path.with_suffix(".parquet").as_uri()}


def settings(table: dict[str, str], **fields: str) -> RecordSource:
    written = {"name": "notes", "table": table, "key": "id", "text": "body", "updated": "changed", **fields}
    return RecordSource.model_validate(written)


@pytest.mark.parametrize("make", [_sqlite, _duckdb, _parquet])
def test_every_kind_of_table_gives_marks_and_rows(make: Callable[[Path], dict[str, str]], tmp_path: Path) -> None:
    """All rows, rows with some keys, and the marks of all are the same from each."""
    table = make(tmp_path / "notes")
    with open_table(settings(table)) as opened:
        assert list(opened.fields()) == ["id", "body", "changed"]
        assert [tuple(mark) for mark in opened.marks("id", "changed")] == [(1, 10), (2, 20), (3, 30)]
        assert [tuple(row.values()) for row in opened.rows("id", None)] == ROWS
        assert [row["id"] for row in opened.rows("id", [2, 3, 99])] == [2, 3]
    with pytest.raises(ListingError, match="title: the table has no column heading; it has id, body, changed"):
        open_table(settings(table, title="heading")).__enter__()


def test_two_columns_of_one_name_are_not_taken_for_each_other(tmp_path: Path) -> None:
    """A join in PostgreSQL has such columns, too."""
    pq.write_table(pa.table([[1], [2], ["Tides"]], names=["id", "id", "body"]), tmp_path / "notes.parquet")
    with pytest.raises(ListingError, match="key: there are several columns id"):
        open_table(settings({"url": str(tmp_path / "notes.parquet")})).__enter__()


@pytest.mark.parametrize("make", [_sqlite, _duckdb])
def test_a_query_joins_and_never_writes(make: Callable[[Path], dict[str, str]], tmp_path: Path) -> None:
    """A query is read as a subquery with a comment and a semicolon at its end; one that writes is refused."""
    url = make(tmp_path / "notes")["url"]
    query = "SELECT id, upper(body) AS body, changed FROM notes WHERE id < 3 -- the first\n;"
    with open_table(settings({"url": url, "query": query})) as opened:
        assert [row["body"] for row in opened.rows("id", None)] == ["TIDES RISE.", "KNOTS HOLD."]
    for written in ("DELETE FROM notes", "DELETE FROM notes RETURNING *", "SELECT 1) q; DROP TABLE notes; SELECT (1"):
        with pytest.raises(ListingError, match="cannot be read"):
            open_table(settings({"url": url, "query": written})).__enter__()
    with open_table(settings({"url": url, "query": "SELECT * FROM notes"})) as opened:
        assert len(list(opened.rows("id", None))) == 3


def test_colons_and_percent_signs_in_a_query_are_no_parameters_of_sqlalchemy(tmp_path: Path) -> None:
    url = _sqlite(tmp_path / "notes")["url"].replace("sqlite:", "sqlite+pysqlite:")
    query = r"SELECT id, body, ':x \:y ::z 50%' AS said, 7%4 AS rest FROM notes WHERE body LIKE '%ides%' -- so:s"
    with open_table(settings({"url": url, "query": query}, updated="id")) as opened:
        (row,) = opened.rows("id", None)
    assert (row["said"], row["rest"]) == (r":x \:y ::z 50%", 3)


def test_the_latest_mark_is_that_of_numbers_and_times() -> None:
    """Numbers are compared as numbers, also those in a column of texts; marks of several types do not stop a look."""
    assert latest_of([9, 10, None]) == 10
    assert latest_of(["9", "10"]) == "10"
    assert latest_of(["2024-01-09", "2023-12-31"]) == "2024-01-09"
    assert latest_of([9, "ten", None]) == "ten"
    assert latest_of(["2024-01-09", "3"]) == "3", "compared as texts, as not all are numbers"
    assert latest_of([None]) is None
