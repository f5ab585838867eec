"""Kills at any moment of `activate`, `retire`, `reconcile` and `restore`: nothing is lost, nothing stays locked.

The active generation is whole after each kill, and the same command then ends well. Imports have such a drill in
`test_import_refusals.py`, ingests and `up` in the acceptance tests. `KILLS=200` makes the long version of each.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from benchmarks.harness.faults.index_state import different_parts, index_state
from sourcebook.indexing.damage import find_damage
from sourcebook.indexing.generations import ensure_generations
from sourcebook.stages import index_upkeep
from sourcebook.transfer.backup import backup
from tests.integration.kill_drills import (
    KILLS,
    SEED,
    WORDS,
    Moments,
    Work,
    assert_nothing_is_held,
    assert_whole,
    build,
    configure,
    ends_well,
)
from tests.integration.killed_work import BLOCK, REFUSED
from tests.integration.stages import Stages

FAULTS = (
    "DELETE FROM search_entry WHERE chunk_id % 3 = {number} % 3",
    "DELETE FROM chunk WHERE id % 5 = {number} % 5",
    "UPDATE chunk SET text = text || '!' WHERE id % 7 = {number} % 7",
    "UPDATE lexeme SET entries = entries + 1 WHERE id % 2 = {number} % 2",
    "DELETE FROM keyword_entry WHERE chunk_id % 4 = {number} % 4",
    "DELETE FROM indexed_document WHERE document_id % 3 = {number} % 3",
    "UPDATE document SET title = 'changed' WHERE id % 4 = {number} % 4",
    "UPDATE raw_file SET sha256 = sha256('changed') WHERE size % 3 = {number} % 3",
    "UPDATE parsed_content SET markdown = 'changed' WHERE get_byte(sha256, 0) % 4 = {number} % 4",
    "UPDATE tally SET items = items + 1",
    "TRUNCATE keyword_entry",
    "DELETE FROM listed_folder",
)
"""Faults that need no vector computed again, as statements with a number."""


@pytest.fixture
def base(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> Stages:
    """A collection of four documents, with blocks of the keyword leg."""
    monkeypatch.setattr(index_upkeep, "BLOCK", BLOCK)
    monkeypatch.setattr(index_upkeep, "FEWEST_OF_A_BLOCK", 1)
    for word in WORDS:
        sections = "\n\n".join(
            f"## Part {number}\n\n" + f"The {word} of station {number} is read at noon. " * 8 for number in range(3)
        )
        stages.write(f"{word}.md", f"# {word.title()}\n\n{sections}\n")
    configure(stages, 64)
    stages.run()
    stages.finish()
    return stages


@pytest.fixture
def work(base: Stages, tmp_path: Path) -> Iterator[Work]:
    with Work(base.database, tmp_path / "home") as work:
        yield work


def test_killed_activations(base: Stages, work: Work) -> None:
    """One generation or the other is active, as the last activation says; both are whole."""
    before = base.generation.id
    other = build(base, 128).id
    _, seconds = work.run("activate", other)
    moments = Moments(seconds)
    for number, moment in moments:
        target = other if base.generation.id == before else before
        moments.add(killed=work.kill(moment, "activate", target, with_sessions=bool(number % 2)))
        assert_whole(base)
        (last,) = base.rows("SELECT generation_id FROM activation ORDER BY id DESC LIMIT 1")
        assert last["generation_id"] == base.generation.id
        assert base.generation.id in (before, other)
        ends_well(work, "activate", target)
        assert base.generation.id == target
    assert moments.killed >= KILLS // 2
    assert_whole(base)


def test_killed_retirements(base: Stages, work: Work) -> None:
    """The active generation keeps everything, and of the other one nothing is left in the end."""
    work.run("retire", surplus(base))
    _, seconds = work.run("retire", surplus(base))
    moments = Moments(seconds)
    for number, moment in moments:
        generation = surplus(base)
        moments.add(killed=work.kill(moment, "retire", generation, with_sessions=bool(number % 2)))
        assert_whole(base)
        code, _ = work.run("retire", generation)
        is_gone = not base.rows("SELECT FROM generation WHERE id = %(number)s", number=generation)
        assert code == 0 or (code == REFUSED and is_gone), "there is no such generation any more"
        assert is_gone
        assert not base.rows(
            "SELECT FROM pg_class WHERE relname IN (%(entries)s, %(keywords)s)",
            entries=f"search_entry_{generation}",
            keywords=f"keyword_entry_{generation}",
        )
        assert_nothing_is_held(base)
    assert moments.killed >= KILLS // 2
    assert not base.pending().work
    base.assert_sound()


def surplus(stages: Stages) -> int:
    """Build a generation that the settings then give up, and return its id."""
    built = build(stages, 128)
    configure(stages, 64)
    with stages.connection() as connection:
        ensure_generations(connection, stages.collection)
    return built.id


def test_killed_reconciliations(base: Stages, work: Work) -> None:
    """What is mended stays so, no other document is lost, and a run that is not killed ends the repair."""
    random = Random(SEED)
    fresh = state(base)
    damage(base, random)
    _, seconds = work.run("reconcile", base.collection)
    moments = Moments(seconds)
    for number, moment in moments:
        damage(base, random)
        entries = count_entries(base)
        moments.add(killed=work.kill(moment, "reconcile", base.collection, with_sessions=bool(number % 2)))
        assert_nothing_is_held(base)
        assert count_entries(base) >= entries
        if number % 3 == 2 or number == KILLS - 1:
            ends_well(work, "reconcile", base.collection)
            assert not different_parts(fresh, state(base))
            assert not base.pending().work
            assert_whole(base)
    assert moments.killed >= KILLS // 2
    base.assert_sound()


def damage(stages: Stages, random: Random) -> None:
    """Make two faults."""
    with psycopg.connect(stages.database.url, autocommit=True) as foreign:
        foreign.execute("SET search_path TO sourcebook, public")
        for fault in random.sample(FAULTS, 2):
            foreign.execute(fault.format(number=random.randrange(100)).encode())


def state(stages: Stages) -> dict[str, list[tuple[Any, ...]]]:
    with stages.connection() as connection:
        return index_state(connection, stages.collection)


def count_entries(stages: Stages) -> int:
    return int(stages.rows("SELECT count(*) AS number FROM search_entry")[0]["number"])


def test_killed_restorations(base: Stages, work: Work, tmp_path: Path) -> None:
    """The base is what it was, or what the backup holds, and nothing in between."""
    files: dict[str, Path] = {}
    contents: dict[str, list[tuple[Any, ...]]] = {}
    for name in ("before", "after"):
        if name == "after":
            base.write("lighthouse.md", "# Lighthouse\n\nA lighthouse stands behind the pier's end.\n")
            base.run()
        files[name], contents[name] = tmp_path / name, passages(base)
        backup(base.database, files[name])
    _, seconds = work.run("restore", str(files["before"]))
    moments = Moments(seconds)
    for number, moment in moments:
        target = "after" if passages(base) == contents["before"] else "before"
        moments.add(killed=work.kill(moment, "restore", str(files[target]), with_sessions=bool(number % 2)))
        found = [name for name in files if passages(base) == contents[name]]
        assert len(found) == 1
        assert_nothing_is_held(base)
        assert not base.rows("SELECT FROM pg_namespace WHERE nspname = 'sourcebook_replaced'")
        with base.connection() as connection:
            assert not find_damage(connection, base.generation, deep=True)
        assert base.found("tide") == {"tide.md"}
        if number % 5 == 4 or number == KILLS - 1:
            ends_well(work, "restore", str(files[target]))
            assert passages(base) == contents[target]
    assert moments.killed >= KILLS // 2
    base.run()
    assert [row[:3] for row in passages(base)] == [row[:3] for row in contents["after"]]
    base.assert_sound()


def passages(stages: Stages) -> list[tuple[Any, ...]]:
    rows = stages.rows(
        "SELECT document.uri, version, chunk.text, entry.vector::text "
        "FROM document JOIN chunk ON document_id = document.id "
        "JOIN search_entry entry ON chunk_id = chunk.id ORDER BY 1, 2, 3"
    )
    return [tuple(row.values()) for row in rows]
