"""One collection over records of a SQLite table and of programs, with its stages."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.stages.raw_files import collection_sources
from sourcebook.stages.raw_files.source_records import fetch_records
from tests.integration.stages import Stages

NOTES = {
    "name": "notes",
    "key": "id",
    "title": "heading",
    "text": "body",
    "url": "link",
    "updated": "changed",
    "metadata": ["status"],
    "tags": ["notes"],
}


class RecordStages:
    """One collection over records, beside a SQLite database and a module of programs."""

    def __init__(self, stages: Stages, folder: Path, *, made: bool = False) -> None:
        self.stages = stages
        self.folder = folder
        self.database = sqlite3.connect(folder / "notes.db", isolation_level=None)
        if not made:
            self.do("CREATE TABLE notes (id, heading, body, link, changed, status)")

    def do(self, statement: str, *values: Any) -> None:
        self.database.execute(statement, values)

    def note(self, key: Any, body: str | bytes | None, changed: Any = "2024-01-01", heading: str | None = None) -> None:
        link = f"https://notes.example.com/{key}"
        self.do("INSERT INTO notes VALUES (?, ?, ?, ?, ?, 'open')", key, heading or f"Note {key}", body, link, changed)

    def configure(self, beside: dict[str, Any] | None = None, **settings: Any) -> None:
        """Configure the notes with some settings, and others beside them; None takes one out."""
        table = {"table": {"url": "sqlite:///notes.db", "name": "notes"}}
        written = {**NOTES, **({} if {"python", "pushed"} & {*settings} else table), **settings}
        records = [{name: value for name, value in written.items() if value is not None}]
        text = json.dumps({"collections": {self.stages.collection: {"records": records, **(beside or {})}}})
        self.stages.configure(text)

    def look(self, selection: Selection = EVERYTHING) -> str | None:
        """Look at the sources, and return why one could not be read."""
        with self.stages.connection() as connection:
            fetch_records(connection, self.stages.collection, selection)
            sources = collection_sources(connection, self.stages.collection)
        return next((each.records.error for each in sources if each.records is not None), None)

    def run(self, selection: Selection = EVERYTHING) -> dict[str, StageReport]:
        self.look(selection)
        return self.stages.run(selection)

    def failures(self) -> dict[str, str]:
        rows = self.stages.rows("SELECT uri, failure FROM raw_file WHERE failure IS NOT NULL AND removed_at IS NULL")
        return {row["uri"].removeprefix("record://notes/"): row["failure"] for row in rows}
