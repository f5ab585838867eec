"""Kill -9 of commands at any moment: what is searchable stays whole, and ends where an uninterrupted run does.

`test_up_kills.py` has the kills of `sourcebook up`.
"""

import os
from pathlib import Path
from random import Random

import numpy as np
import pytest

from benchmarks.harness.kills.drill import command_drill
from benchmarks.harness.kills.home import COLLECTIONS, Home
from benchmarks.harness.library import Library
from sourcebook.admin.checks import run_checks
from sourcebook.database.database import Database
from tests.acceptance.workplace import Json, Workplace, rows

ROUNDS = 3
"""Kills of the main process and of the group; a backend and the postmaster are killed in every other round."""
SEED = int(os.environ.get("KILLS_SEED", "20260801"))
"""Seed of the moments; `KILLS_SEED` sets another one."""

CONTENT = """
    SELECT document.uri, document.title, document.language, document.media_type, document.content_hash,
           chunk.ordinal, chunk.text, chunk.context, chunk.heading_path, chunk.anchor, chunk.start_char, chunk.end_char,
           chunk.token_count, chunk.hash, entry.lexemes::text AS lexemes, indexed.published_title
    FROM document
    JOIN indexed_document indexed ON indexed.document_id = document.id
    LEFT JOIN search_entry entry ON entry.document_id = document.id
    LEFT JOIN chunk ON chunk.id = entry.chunk_id
    WHERE document.removed_at IS NULL
    ORDER BY document.uri, chunk.ordinal
"""
VECTORS = """
    SELECT entry.vector::vector::real[] AS vector
    FROM search_entry entry JOIN document ON document.id = entry.document_id JOIN chunk ON chunk.id = entry.chunk_id
    ORDER BY document.uri, chunk.ordinal
"""


@pytest.mark.timeout(900)
def test_kills_of_commands_leave_no_trace(workplace: Workplace, exported_model: Path) -> None:
    """The index is that of the files, and no process, lock or unfinished run is left."""
    print(f"KILLS_SEED={SEED}")
    home = Home(Library.make(workplace.folder / "library", collections=COLLECTIONS), Random(SEED))
    Workplace(home.library.folder, home.library.home).take_model(exported_model)
    killed = []
    for outcome in command_drill(home, ROUNDS, quick=True):
        print(f"{outcome.kind:15}{outcome.seconds:6.1f} s {'; '.join(outcome.wrong)}")
        assert not outcome.wrong, (outcome, SEED)
        killed.append(outcome.kind)
    kills = {"main process": ROUNDS, "process group": ROUNDS, "backend": 2, "postmaster": 2}
    assert {kind: killed.count(kind) for kind in kills} == kills

    fresh = Workplace(home.library.folder, workplace.folder / "fresh")
    fresh.take_model(exported_model)
    fresh.ingest()
    with home.library.database() as database, fresh.database() as other:
        assert_finished(database)
        assert rows(database, CONTENT) == rows(other, CONTENT)
        assert cosines(rows(database, VECTORS), rows(other, VECTORS)).min() >= 0.999
    for counts in home.library.ingest().collections.values():
        assert (counts["raw_files"]["changed"], counts["embeddings"]["computed"]) == (0, 0)


def assert_finished(database: Database) -> None:
    """Assert that nothing is left over from a run that was killed."""
    with database.connection() as connection:
        for collection in COLLECTIONS:
            for outcome in run_checks(connection, collection):
                assert not outcome.violations, outcome
    assert not rows(
        database,
        "SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id AND document.removed_at IS NULL "
        "WHERE NOT EXISTS (SELECT FROM search_entry entry WHERE entry.chunk_id = chunk.id)",
    )
    assert not rows(database, "SELECT FROM indexed_document WHERE published_config IS DISTINCT FROM config_hash "
                              "AND document_id IN (SELECT id FROM document WHERE removed_at IS NULL)")  # fmt: skip


def cosines(some: list[Json], others: list[Json]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return the cosine of each pair of rows."""
    first, second = (np.array([row["vector"] for row in these], np.float64) for these in (some, others))
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    products: np.ndarray[tuple[int], np.dtype[np.float64]] = (first * second).sum(axis=1) / lengths
    return products
