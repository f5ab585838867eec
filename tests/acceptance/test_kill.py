"""Kill -9 at any moment: what is searchable stays whole, and a rerun ends where an uninterrupted run does."""

import random
import subprocess
from contextlib import ExitStack, suppress

import numpy as np
import psutil
import psycopg
import pytest

from sourcebook.admin.checks import run_checks
from sourcebook.database.database import Database
from tests.acceptance.workplace import Json, Workplace, rows

KILLS = 20
KILLS_WITH_THE_SERVER = 6
"""After so many, starting the database is no longer part of what is killed."""
FILES = 40
WORDS = ["tide", "gauge", "harbour", "pier", "battery", "levelling", "radar", "storm", "island", "winter", "chart"]

# An entry is of its document's published version when its text stands where the chunk says in that version's text.
ENTRIES = """
    SELECT document.uri, document.removed_at IS NULL AS live, indexed.chunk_count, indexed.published_hash,
           indexed.published_hash = indexed.input_hash AND indexed.published_config = indexed.config_hash AS settled,
           array_agg(chunk.ordinal ORDER BY chunk.ordinal) FILTER (WHERE entry.chunk_id IS NOT NULL) AS ordinals,
           coalesce(
               bool_and(substr(parsed.markdown, chunk.start_char + 1, chunk.end_char - chunk.start_char)
                        = right(chunk.text, chunk.end_char - chunk.start_char))
               FILTER (WHERE entry.chunk_id IS NOT NULL), true) AS of_its_version
    FROM indexed_document indexed
    JOIN document ON document.id = indexed.document_id
    LEFT JOIN search_entry entry USING (generation_id, document_id)
    LEFT JOIN chunk ON chunk.id = entry.chunk_id
    LEFT JOIN LATERAL (
        SELECT markdown FROM parsed_content WHERE content_hash = indexed.published_hash LIMIT 1) parsed ON true
    GROUP BY document.id, indexed.generation_id, indexed.document_id
"""
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


def text(chance: random.Random) -> str:
    """Return a small document of a few sections."""
    sections = [
        f"## {chance.choice(WORDS).title()} {chance.randrange(1000)}\n\n{' '.join(chance.choices(WORDS, k=60))}.\n"
        for _ in range(chance.randrange(1, 5))
    ]
    return f"# {chance.choice(WORDS).title()}\n\n" + "\n".join(sections)


def disturb(workplace: Workplace, chance: random.Random) -> None:
    """Edit, rename, remove and add a few files."""
    files = sorted(workplace.docs.iterdir())
    for path in chance.sample(files, 4):
        path.write_text(text(chance))
    renamed, removed = chance.sample(files, 2)
    renamed.rename(renamed.with_name(f"{chance.randrange(10**6):06}.md"))
    removed.unlink()
    (workplace.docs / f"{chance.randrange(10**6):06}.md").write_text(text(chance))


def assert_whole(database: Database) -> None:
    """Assert that every document is searchable in one version, completely, or not at all."""
    for row in rows(database, ENTRIES):
        ordinals = row["ordinals"] or []
        assert ordinals == list(range(len(ordinals))), row
        assert row["of_its_version"], row
        if row["published_hash"] is None:
            assert not ordinals, row
        elif row["settled"]:
            assert len(ordinals) == row["chunk_count"], row


def assert_finished(database: Database) -> None:
    """Assert that nothing is left over from a run that was killed."""
    with database.connection() as connection:
        for outcome in run_checks(connection, "handbook"):
            assert not outcome.violations, outcome
    assert not rows(
        database,
        "SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id AND document.removed_at IS NULL "
        "WHERE NOT EXISTS (SELECT FROM search_entry entry WHERE entry.chunk_id = chunk.id)",
    )
    assert not rows(database, "SELECT FROM indexed_document WHERE published_config IS DISTINCT FROM config_hash "
                              "AND document_id IN (SELECT id FROM document WHERE removed_at IS NULL)")  # fmt: skip


def unfinished_runs(database: Database) -> list[tuple[str, str]]:
    """Return the runs that Dagster believes to be going on."""
    with psycopg.connect(database.dagster_url()) as connection:
        return connection.execute(
            "SELECT run_id, status FROM runs WHERE status NOT IN ('SUCCESS', 'FAILURE', 'CANCELED')"
        ).fetchall()


def kill_after(workplace: Workplace, seconds: float) -> bool:
    """Start an ingest and kill it; return whether it was still running. Its children must end by themselves."""
    with workplace.start("ingest", "--json") as process:
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        children = []
        with suppress(psutil.NoSuchProcess):
            children = [
                child
                for child in psutil.Process(process.pid).children(recursive=True)
                if "postgres" not in child.name()
            ]
        running = process.poll() is None
        process.kill()
        _, err = process.communicate(timeout=60)
        assert running or process.returncode == 0, err
    _, alive = psutil.wait_procs(children, timeout=15)
    alive = [child for child in alive if not _is_of_the_server(child)]
    assert not alive, [child.cmdline() for child in alive]
    return running


def _is_of_the_server(process: psutil.Process) -> bool:
    """Return whether it makes or starts the database, which goes on to its end."""
    try:
        return "-D" in process.cmdline()
    except psutil.Error:
        return True


@pytest.mark.timeout(900)
def test_twenty_kills_leave_no_trace(workplace: Workplace) -> None:
    chance = random.Random(20_260_801)
    workplace.configure(handbook="docs")
    for number in range(FILES):
        workplace.write(f"docs/{number:06}.md", text(chance))

    killed = 0
    with ExitStack() as held:
        for number in range(KILLS):
            killed += kill_after(workplace, chance.uniform(0.3, 6.5))
            with workplace.database() as database:
                assert_whole(database)
            disturb(workplace, chance)
            if number == KILLS_WITH_THE_SERVER:  # from here on somebody else keeps it running
                held.enter_context(workplace.database())
    assert killed >= KILLS // 2, "most of the kills hit a run"

    workplace.ingest()
    fresh = Workplace(workplace.folder, workplace.folder / "fresh")
    fresh.ingest()
    with workplace.database() as database, fresh.database() as other:
        assert_finished(database)
        assert_finished(other)
        assert rows(database, CONTENT) == rows(other, CONTENT)
        assert cosines(rows(database, VECTORS), rows(other, VECTORS)).min() >= 0.999
    again = workplace.ingest()
    assert again["handbook"]["raw_files"]["changed"] == 0
    assert again["handbook"]["embeddings"]["computed"] == 0
    with workplace.database() as database:
        assert not unfinished_runs(database), "runs that were killed are recorded as failed"


def cosines(some: list[Json], others: list[Json]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return the cosine of each pair of rows."""
    first, second = (np.array([row["vector"] for row in these], np.float64) for these in (some, others))
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    products: np.ndarray[tuple[int], np.dtype[np.float64]] = (first * second).sum(axis=1) / lengths
    return products
