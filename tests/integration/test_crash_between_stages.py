"""A run may stop anywhere: what was searchable before stays so, whole, and the next run ends where it would have."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sourcebook.stages import embeddings
from sourcebook.stages.embeddings import embed_missing
from tests.integration.stages import Stages
from tests.integration.test_publication import CONFIGURATION, page
from tests.waiting import wait_until

BATCH = 16
"""Texts per transaction in the test of an interruption."""
NEW = page(Power="The generator was replaced in spring. " * 5)
STEPS: tuple[Callable[[Stages], object], ...] = (
    Stages.raw_files,
    Stages.documents,
    Stages.chunks,
    Stages.embeddings,
    Stages.search_index,
)
BEFORE_PUBLISHING = pytest.mark.parametrize(
    "stopped_after", [1, 2, 3, 4], ids=["raw_files", "documents", "chunks", "embeddings"]
)


@pytest.fixture
def edited(stages: Stages) -> Stages:
    """One published document, with an edit that no stage has seen."""
    stages.write("a.md", page())
    stages.configure(CONFIGURATION)
    stages.run()
    stages.write("a.md", NEW)
    return stages


def test_the_old_version_is_searchable_until_the_new_one_is_published(edited: Stages) -> None:
    old = edited.chunk_ids("a.md")
    for step in STEPS[:-1]:
        step(edited)
        assert edited.found("batteries") == {"a.md"}
        assert edited.found("generator") == set()
        hits = edited.search("harbour power levelling", limit=50)
        assert {hit.text for hit in hits} == set(old)
        assert {hit.version for hit in hits} == {1}
        assert edited.chunk_ids("a.md") == old
    edited.search_index()
    assert edited.found("batteries") == set()
    assert edited.found("generator") == {"a.md"}
    assert {hit.version for hit in edited.search("harbour")} == {2}


@BEFORE_PUBLISHING
def test_a_second_run_ends_where_one_run_would_have(edited: Stages, stopped_after: int) -> None:
    for step in STEPS[:stopped_after]:
        step(edited)
    assert edited.pending().work
    edited.run()
    assert edited.found("generator") == {"a.md"}
    assert edited.document("a.md")["version"] == 2
    edited.assert_sound()
    assert not edited.pending().work


@BEFORE_PUBLISHING
def test_an_edit_taken_back_before_it_was_published_leaves_no_trace(edited: Stages, stopped_after: int) -> None:
    old = edited.chunk_ids("a.md")
    for step in STEPS[:stopped_after]:
        step(edited)
    edited.write("a.md", page())
    edited.run()
    assert edited.chunk_ids("a.md") == old
    assert edited.found("batteries") == {"a.md"}
    assert edited.found("generator") == set()
    edited.assert_sound()


@BEFORE_PUBLISHING
def test_a_file_removed_before_its_edit_was_published_returns_as_one_version(
    edited: Stages, stopped_after: int
) -> None:
    """Whichever version returns, the other one's passages do not come with it."""
    for step in STEPS[:stopped_after]:
        step(edited)
    (edited.root / "a.md").unlink()
    edited.run()
    assert edited.found("harbour") == set()
    edited.write("a.md", NEW)
    edited.run()
    assert edited.found("generator") == {"a.md"}
    assert edited.found("batteries") == set()
    edited.assert_sound()


@BEFORE_PUBLISHING
def test_a_file_renamed_before_its_edit_was_published_is_published_under_its_new_name(
    edited: Stages, stopped_after: int
) -> None:
    number = edited.document("a.md")["id"]
    for step in STEPS[:stopped_after]:
        step(edited)
    (edited.root / "a.md").rename(edited.root / "b.md")
    edited.run()
    assert edited.found("generator") == {"b.md"}
    assert edited.found("batteries") == set()
    if stopped_after > 1:
        assert edited.document("b.md")["id"] == number
    edited.assert_sound()


def test_a_third_edit_before_the_second_was_published_replaces_it(edited: Stages) -> None:
    for step in STEPS[:4]:
        step(edited)
    edited.write("a.md", page(Power="The windmill turns. " * 5))
    edited.run()
    assert edited.found("windmill") == {"a.md"}
    assert edited.found("generator") | edited.found("batteries") == set()
    edited.assert_sound()


def test_an_interrupted_embedding_keeps_the_vectors_it_had(
    stages: Stages, exported_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed run costs two batches at most: the next one computes the rest, and its progress starts from there."""
    monkeypatch.setattr(embeddings, "BATCH", BATCH)
    stages.configure(CONFIGURATION)
    days = (f"## Day {day}\n\n{f'The gauge of pier {day} read {day * 7} millimetres. ' * 2}\n\n" for day in range(110))
    stages.write("a.md", "# Log\n\n" + "".join(days))
    for step in STEPS[:3]:
        step(stages)
    total = _count(stages, "SELECT count(DISTINCT embedding_hash) FROM chunk")
    assert total > 4 * BATCH

    environment = {**os.environ, "PGAPPNAME": "interrupted"}
    command = [sys.executable, "-c", EMBED, str(exported_model), stages.collection, str(BATCH)]
    with subprocess.Popen(command, env=environment) as process:
        wait_until(lambda: process.poll() is not None or _count(stages, VECTORS) >= BATCH, seconds=240)
        assert process.poll() is None
        process.kill()
    wait_until(lambda: not _count(stages, SESSIONS), seconds=60)
    kept = _count(stages, VECTORS)
    assert kept == BATCH

    shown: list[tuple[int, int]] = []
    with stages.connection() as reader, stages.connection() as writer:
        report = embed_missing(
            reader,
            writer,
            stages.generation,
            lambda texts: stages.embedder,
            lambda done, of, failed=0: shown.append((done, of)),
        )
    assert report.extra == {"computed": total - kept, "reused": kept}
    assert shown[0] == (kept, total)
    assert shown[-1] == (total, total)
    assert [done for done, _ in shown] == sorted(done for done, _ in shown)
    stages.search_index()
    stages.assert_sound()


VECTORS = "SELECT count(*) FROM embedding"
SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'interrupted'"
EMBED = """
import signal
import sys
from pathlib import Path
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.embedding.model import find_model
from sourcebook.embedding.onnx.open import find_export, open_exported
from sourcebook.indexing.generations import ensure_generation
from sourcebook.stages import embeddings

home = Path(sys.argv[1])
embeddings.BATCH = int(sys.argv[3])
embedder = open_exported(find_export(home, find_model("all-MiniLM-L6-v2").identity))
with (
    Database(DatabaseLocation.find(home)) as database,
    database.connection() as reader,
    database.connection() as writer,
):
    embeddings.embed_missing(
        reader,
        writer,
        ensure_generation(reader, sys.argv[2]),
        lambda texts: embedder,
        progress=lambda done, of, failed=0: done and signal.pause(),
    )
"""
"""Embeds until a batch is stored and another one computed, and waits to be killed."""


def _count(stages: Stages, statement: str) -> int:
    (row,) = stages.rows(statement)
    return int(row["count"])
