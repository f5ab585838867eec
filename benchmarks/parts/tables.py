"""Rows of a table against the same texts as Markdown files: the first ingest, no change, and one edit."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from benchmarks.corpora.markdown_files import write_corpus
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Library
from benchmarks.harness.report import Row
from benchmarks.parts.records import ingest_with_server

_BYTES = 300
"""Bytes of a text."""


def run(bench: Bench) -> list[Row]:
    """Take in the same texts both ways, then nothing, then one changed text."""
    number = bench.options.number
    files, table = bench.library("markdown-texts"), bench.library("table")
    write_corpus(files.files, number, size=_BYTES)
    database = table.folder / "notes.db"
    _fill(database, files.paths())
    _configure(table, database)
    first = {name: ingest_with_server(library, name) for name, library in (("files", files), ("table", table))}
    assert first["table"][0].counts["documents"]["added"] == number, first["table"][0].counts
    ingest_with_server(table, "table, at once")  # the row with the latest mark is read once more
    _, unchanged = ingest_with_server(table, "table, unchanged")
    whole = table.ingest().measurement.seconds
    with closing(sqlite3.connect(database)) as connection, connection:
        change = "UPDATE notes SET body = body || ' It was moved that winter.', changed = 9999999999 WHERE id = ?"
        connection.execute(change, (number // 2,))
    edited, processor = ingest_with_server(table, "table, one row edited")
    return [
        Row(
            f"a row of {number:,} against a Markdown file, processor time",
            first["table"][1] / first["files"][1],
            "×",
            1,
        ),
        Row("of the files, a file", 1000 * first["files"][1] / number, "ms"),
        Row("of the table, a row", 1000 * first["table"][1] / number, "ms"),
        Row("nothing changed, processor time", unchanged, "s"),
        Row("nothing changed, whole process with its server's start", whole, "s", 0.8),
        Row("one row edited, processor time", processor, "s"),
        Row("one row edited, whole process", edited.measurement.seconds, "s", 1.9),
        Row("one row edited, texts embedded", edited.computed, "texts", 1),
    ]


def _fill(database: Path, paths: list[Path]) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, heading, body, link, changed)")
        texts = (path.read_text(encoding="utf-8").removeprefix("# ").partition("\n\n") for path in paths)
        rows = (
            (number, title, text, f"https://notes.example.com/{number}", number)
            for number, (title, _, text) in enumerate(texts, 1)
        )
        connection.executemany("INSERT INTO notes VALUES (?, ?, ?, ?, ?)", rows)


def _configure(library: Library, database: Path) -> None:
    table = {"url": f"sqlite:///{database}", "name": "notes"}
    fields = {"key": "id", "title": "heading", "text": "body", "url": "link", "updated": "changed"}
    settings = {"records": [{"name": "notes", "table": table, **fields}]}
    library.configuration_path.write_text(json.dumps({"collections": {"library": settings}}), encoding="utf-8")
