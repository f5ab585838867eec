"""Databases and Parquet files are described, and nothing in them runs."""

import io
import random
import sqlite3
import sys
from pathlib import Path

import pytest

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from sourcebook.parsing.registry import file_type
from tests.unit.parsing.covering import assert_blocks_cover, texts


def database(path: Path, script: str, *, journal: str = "delete") -> bytes:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.executescript(script)
    connection.close()
    return path.read_bytes()


def read(content: bytes, name: str = "lock.sqlite") -> ParsedDocument:
    document = parse(content, name=name, media_type=detect_media_type(name, content[:4096]))
    assert_blocks_cover(document)
    return document


GATES = """
CREATE TABLE gate (id INTEGER PRIMARY KEY, name TEXT NOT NULL, drawing BLOB, lock REFERENCES lock (id));
CREATE TABLE lock (id INTEGER PRIMARY KEY);
CREATE VIEW heavy AS SELECT * FROM gate, gate AS other;
CREATE VIRTUAL TABLE search USING fts5(body);
INSERT INTO gate VALUES (1, 'Obertor | Größe', x'00ff', NULL), (2, 'lower', NULL, 7);
INSERT INTO search VALUES ('hidden');
"""
GATE_COLUMNS = """| column | type | note |
| --- | --- | --- |
| `id` | INTEGER | primary key |
| `name` | TEXT | not null |
| `drawing` | BLOB |  |
| `lock` |  |  |"""
GATE_ROWS = """| id | name | drawing | lock |
| --- | --- | --- | --- |
| 1 | Obertor \\| Größe | (2 bytes) |  |
| 2 | lower |  | 7 |"""


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_is_the_description_of_its_tables(tmp_path: Path, journal: str) -> None:
    """A section a table with columns, keys, number of rows and first rows; views and virtual tables are named."""
    document = read(database(tmp_path / "a", GATES, journal=journal))
    assert texts(document) == [
        "SQLite database with 2 tables: `gate`, `lock`.",
        "It has 1 view: `heavy`.",
        "Not read: 1 virtual table: `search`.",
        "## `gate`",
        "2 rows, 4 columns. Column `lock` refers to table `lock`.",
        GATE_COLUMNS,
        "The rows:",
        GATE_ROWS,
        "## `lock`",
        "0 rows, 1 column.",
        "| column | type | note |\n| --- | --- | --- |\n| `id` | INTEGER | primary key |",
    ]
    assert document.metadata == {"tables": 2, "rows": 2, "unread_tables": 1}
    assert [block.title for block in document.blocks if block.kind == "heading"] == ["gate", "lock"]


def test_what_is_shown_of_a_database_is_bounded(tmp_path: Path) -> None:
    """Tables, rows, columns and cells; the numbers are those of the file."""
    columns = ", ".join(f"c{number}" for number in range(60))
    tables = "".join(f"CREATE TABLE t{number} (a);" for number in range(250))
    numbers = "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 1000)"
    rows = f"{numbers} INSERT INTO big(c0, c1) SELECT value, printf('%.*c', 500, 'x') FROM n;"
    document = read(
        database(tmp_path / "a", f'CREATE TABLE big ({columns}); {tables} CREATE TABLE "a ""b" (x); {rows}')
    )
    assert document.metadata == {"tables": 252, "rows": 1000, "unread_tables": 52, "left_out": {"records": 980}}
    assert "1,000 rows, 60 columns." in document.markdown
    shown = next(text for text in texts(document) if text.startswith("| c0 | c1"))
    assert shown.count("\n") == 21
    assert "c39 |" in shown
    assert "c40" not in shown
    assert f"| {'x' * 199}… |" in shown
    assert '## `a "b`' in document.markdown


def test_a_database_takes_no_more_than_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that takes for ever is given up, and stays as it is."""
    content = database(tmp_path / "a", GATES)
    monkeypatch.setattr("sourcebook.parsing.tables.sqlite_database._STEPS", 0)
    monkeypatch.setattr("sourcebook.parsing.tables.sqlite_database._STEPS_A_CALL", 1)
    with pytest.raises(ParseError, match="takes too long") as raised:
        read(content)
    assert raised.value.failure_class is FailureClass.TOO_LARGE
    assert (tmp_path / "a").read_bytes() == content


@pytest.mark.parametrize("damage", ["cut", "header", "encrypted", "pages"])
def test_a_damaged_database_fails_with_its_reason(tmp_path: Path, damage: str) -> None:
    """Cut off, with a damaged header, encrypted, or with zeros instead of its pages."""
    content = database(tmp_path / "a", GATES)
    damaged = {
        "cut": content[:3000],
        "header": content[:16] + b"\xff" * 84 + content[100:],
        "encrypted": random.Random(0).randbytes(8192),
        "pages": content[:100] + bytes(len(content) - 100),
    }[damage]
    with pytest.raises(ParseError, match=r"database is damaged|no SQLite database") as raised:
        parse(damaged, name="a.sqlite", media_type="application/vnd.sqlite3")
    assert raised.value.failure_class is FailureClass.CORRUPT


def test_only_databases_of_sqlite_are_read_as_such() -> None:
    """`.db` is an ending of many formats: the content decides."""
    assert file_type("a.db", b"SQLite format 3\0" + bytes(90)).skip_reason is None
    assert file_type("a.db", b"\0\1\2\3" * 100).skip_reason == "binary file of unknown type"
    assert file_type("a.sqlite", b"\0\1\2\3" * 100).skip_reason is None


def parquet(columns: dict[str, list[object]]) -> bytes:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    packed = io.BytesIO()
    pq.write_table(pa.table(columns), packed)
    return packed.getvalue()


def test_a_parquet_file_is_the_description_of_its_table() -> None:
    """Columns, types and first rows; nothing else of a large file is read."""
    document = read(parquet({"day": ["Monday", "Größe | b"], "cm": [1, None], "all": [[1, 2], []]}), "levels.parquet")
    assert texts(document) == [
        "2 rows, 3 columns.",
        "| column | type |\n| --- | --- |\n| `day` | string |\n| `cm` | int64 |\n| `all` | list<element: int64> |",
        "The rows:",
        "| day | cm | all |\n| --- | --- | --- |\n| Monday | 1 | [1, 2] |\n| Größe \\| b |  | [] |",
    ]
    document = read(parquet({"n": list(range(5_000))}), "levels.parquet")
    assert document.metadata == {"rows": 5_000, "columns": 1, "left_out": {"records": 4_980}}
    assert texts(document)[2] == "The first rows:"
    assert texts(document)[-1].count("\n") == 21


def test_a_damaged_parquet_file_fails_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off, without its footer, or encrypted; without pyarrow the reason says what to install."""
    content = parquet({"day": ["Monday"] * 100})
    for damaged, reason in (
        (content[:-10], "damaged or cut off"),
        (content[: len(content) // 2] + b"PAR1", "damaged or cut off"),
        (content[:-4] + b"PARE", "encrypted"),
    ):
        with pytest.raises(ParseError, match=reason):
            read(damaged, "levels.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ParseError, match=r"install sourcebook\[server\]"):
        read(content, "levels.parquet")
