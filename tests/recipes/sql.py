"""A SQL database: a table of notes in SQLite."""

import os
import sqlite3
import tempfile
from pathlib import Path
from typing import Self

from tests.recipes.service import Change, Service


class Notes(Service):
    """Notes that are written, edited, marked as gone, and deleted; a look may find the table renamed."""

    recipe = "sql"
    faults = ("down",)

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory()
        self._file = Path(self._folder.name) / "notes.db"
        self._database = sqlite3.connect(self._file, isolation_level=None)
        self._database.execute("CREATE TABLE notes (id INTEGER, heading, body, link, changed, gone, status)")
        self._table = "notes"
        os.environ["NOTES_DATABASE_URL"] = f"sqlite:///{self._file}"
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()
        self._folder.cleanup()

    def settings(self, text: str) -> str:
        return text

    def begin(self, fault: str | None, at: int) -> None:
        super().begin(fault, at)
        self._rename("away" if fault == "down" else "notes")

    def change(self) -> Change:
        self._rename("notes")
        keys = [key for (key,) in self._database.execute("SELECT id FROM notes WHERE NOT gone")]
        kind = self.random.choice(("add", "add", "edit", "edit", "mark", "delete")) if len(keys) > 4 else "add"
        if kind == "add":
            self.numbers += 1
            key, values = self.numbers, (self.numbers, self.word(), self.word(), self.stamp())
            self._database.execute(
                "INSERT INTO notes VALUES (?, ?, ?, 'https://notes.example.com', ?, 0, 'open')", values
            )
            return Change(str(key))
        key = self.random.choice(keys)
        statement = {
            "edit": "UPDATE notes SET body = ?1, changed = ?2 WHERE id = ?3",
            "mark": "UPDATE notes SET gone = ?1 IS NOT NULL, changed = ?2 WHERE id = ?3",
            "delete": "DELETE FROM notes WHERE id = ?3 AND ?1 <> ?2",
        }[kind]
        self._database.execute(statement, (self.word(), self.stamp(), key))
        return Change(str(key))

    def truth(self) -> dict[str, list[str]]:
        self._rename("notes")
        rows = self._database.execute("SELECT id, heading, body FROM notes WHERE NOT gone")
        return {str(key): [heading, body] for key, heading, body in rows}

    def _rename(self, name: str) -> None:
        if name != self._table:
            self._database.execute(f"ALTER TABLE {self._table} RENAME TO {name}")
            self._table = name
