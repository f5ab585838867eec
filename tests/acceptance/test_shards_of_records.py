"""Records of a collection with shards, through the command: two workers take what one would, and each record once."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.acceptance.workplace import Json, Workplace

ROWS = 60
"""Too many for a small change: two processes work on the shards."""


@pytest.fixture
def notes(workplace: Workplace, model_was_exported: None) -> Iterator[sqlite3.Connection]:
    """The table behind a collection of two shards, with rows."""
    table = {"url": "sqlite:///notes.db", "name": "notes"}
    source = {"name": "notes", "table": table, "key": "id", "text": "body", "updated": "changed"}
    settings = {"collections": {"notes": {"records": [source], "shards": 2}}}
    workplace.configuration.write_text(json.dumps(settings))
    with closing(sqlite3.connect(workplace.folder / "notes.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body, changed INTEGER)")
        connection.executemany(
            "INSERT INTO notes VALUES (?, ?, 1)",
            ((number, f"# Note {number}\n\nThe gauge of day {number} is high.\n") for number in range(ROWS)),
        )
        yield connection


def documents(workplace: Workplace, state: str = "ready") -> set[str]:
    listed: Json = workplace.json("documents", "--state", state, "--limit", "999")
    return {each["uri"] for each in listed["documents"]}


def test_shards_of_records_lose_nothing_and_do_nothing_twice(workplace: Workplace, notes: sqlite3.Connection) -> None:
    """First ingest, no change, an edit with a deletion, one shard alone, and a table that is gone."""
    first = workplace.ingest("--workers", "2")["notes"]
    assert (first["documents"]["added"], first["embeddings"]["computed"]) == (ROWS, ROWS)
    assert documents(workplace) == {f"record://notes/{number}" for number in range(ROWS)}
    again = workplace.ingest("--workers", "2")["notes"]
    assert (again["documents"]["added"], again["documents"]["unchanged"]) == (0, ROWS)
    assert again["embeddings"]["computed"] == 0

    notes.execute("UPDATE notes SET body = 'The barnacle ' || id || ' sits.', changed = 2 WHERE id IN (7, 8)")
    notes.execute("DELETE FROM notes WHERE id = 9")
    edited = workplace.ingest("--workers", "2")["notes"]
    assert (edited["documents"]["changed"], edited["raw_files"]["removed"]) == (2, 1)
    assert edited["documents"]["added"] == 0
    hits = workplace.json("search", "barnacle", "--mode", "keyword")["results"]
    assert {hit["uri"] for hit in hits} == {"record://notes/7", "record://notes/8"}
    assert "record://notes/9" not in documents(workplace)

    notes.executemany(
        "INSERT INTO notes VALUES (?, ?, 3)", ((number, f"The limpet {number} sits.") for number in range(100, 160))
    )
    one = workplace.ingest("notes", "--shard", "notes:1of2")["notes"]["documents"]["added"]
    assert 0 < one < 60
    rest = workplace.ingest("--workers", "2")["notes"]["documents"]["added"]
    assert one + rest == 60

    notes.execute("DROP TABLE notes")
    workplace.ingest("--workers", "2", code=3)
    assert len(documents(workplace)) == ROWS - 1 + 60
