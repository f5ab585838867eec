"""Folders without a change: they need no row of the inventory, and no change is missed for it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import psycopg
import pytest
from psycopg import sql
from psycopg.pq import TransactionStatus

from sourcebook.database.queries import queries
from sourcebook.files.listing import Listing, folder_uri
from sourcebook.files.reading import has_hash, local_path
from sourcebook.files.source import Source
from sourcebook.model.media_types import DOC
from sourcebook.model.selection import Selection
from sourcebook.parsing import registry
from sourcebook.stages.raw_files import collection_sources, compare
from sourcebook.stages.raw_files.update import settle
from tests.integration.stages import Stages
from tests.unit.parsing.office.office_files import ole_file

CONFIGURATION = "collections:\n  handbook:\n    files:\n      - {root: ./docs%s}\n"


def differences(stages: Stages) -> tuple[set[str], set[str]]:
    """Return the paths that a comparison wants to read, and those that it calls gone."""
    to_read: set[str] = set()
    gone: set[str] = set()
    with stages.connection() as connection:
        for source in collection_sources(connection, stages.collection):
            difference = compare(connection, source)
            to_read.update(entry.uri for entry in difference.to_read)
            gone.update(difference.gone)
    return {names(stages, uri) for uri in to_read}, {names(stages, uri) for uri in gone}


def names(stages: Stages, uri: str) -> str:
    return os.path.relpath(local_path(uri), stages.root)


def unsettled(stages: Stages) -> set[str]:
    rows = stages.rows("SELECT uri FROM listed_folder WHERE digest IS NULL")
    return {names(stages, row["uri"]) for row in rows}


@contextmanager
def inventory_locked(stages: Stages) -> Iterator[None]:
    """Let every statement that touches the inventory fail."""
    with psycopg.connect(stages.database.url) as other:
        other.execute("LOCK TABLE sourcebook.raw_file IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


def test_unchanged_folders_need_no_row_of_the_inventory(stages: Stages) -> None:
    """The first listing after an ingest reads none, and an edit reads the rows of its folder."""
    for number in range(30):
        stages.write(f"{number % 3}/{number}.md", f"number {number}")
    stages.configure()
    assert stages.raw_files().added == 30
    with stages.connection() as connection:
        (source,) = collection_sources(connection, stages.collection)
        connection.execute("SET lock_timeout = '200ms'")
        with inventory_locked(stages):
            unchanged = compare(connection, source)
            assert (unchanged.files, unchanged.to_read, unchanged.gone) == (30, [], [])
            stages.write("1/1.md", "another number")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                compare(connection, source)
    again = stages.raw_files()
    assert (again.changed, again.unchanged) == (1, 29)
    assert unsettled(stages) == {"1"}
    assert differences(stages) == (set(), set())
    assert unsettled(stages) == set()


def test_a_file_written_just_now_is_looked_at_again(stages: Stages) -> None:
    """Its time of change may stay the same with a second write; the folder is settled only later."""
    path = stages.root / "a.md"
    path.write_text("The flag is green.")
    stages.configure()
    stages.raw_files()
    before = path.stat()
    assert unsettled(stages) == {"."}
    path.write_text("The flag is white.")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert differences(stages) == ({"a.md"}, set())


def test_no_transaction_is_open_while_a_file_is_hashed_again(stages: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large remote file takes minutes; a transaction of that length would keep the old rows of every table."""
    stages.write("a.md", "The flag is green.")
    stages.configure()
    stages.raw_files()
    stages.rows("UPDATE raw_file SET hashed_at = to_timestamp(modified::numeric / 1e9) RETURNING 1")
    states: list[TransactionStatus] = []
    with stages.connection() as connection:

        def hashed(source: Source, uri: str, size: int, sha256: bytes | None) -> bool:
            states.append(connection.info.transaction_status)
            return has_hash(source, uri, size, sha256)

        monkeypatch.setattr("sourcebook.stages.raw_files.update.has_hash", hashed)
        (source,) = collection_sources(connection, stages.collection)
        assert compare(connection, source).to_read == []
    assert states == [TransactionStatus.IDLE]


@pytest.mark.parametrize("seed", range(6))
def test_no_change_of_a_random_tree_is_missed(stages: Stages, seed: int) -> None:
    """Edits, equal sizes, times set back, renames of files and folders, deletions and links, in random order.

    The expectation comes from the tree and the inventory alone: a file is read again where size or time differ.
    """
    random = Random(seed)
    numbers = iter(range(1, 100_000))
    root = stages.root

    def write(path: Path, text: str | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text or f"{random.choice(['tide', 'gauge', 'harbour'])} {random.randrange(100):02}")
        moment = 1_600_000_000 + next(numbers)
        os.utime(path, (moment, moment))

    def some_file() -> Path | None:
        files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
        return random.choice(files) if files else None

    def change() -> None:
        path = some_file()
        match random.randrange(9):
            case 0 | 1:
                write(root / random.choice(["", "x", "x/y", "x/y/z", "ü v", ".hidden"]) / f"{next(numbers)}.md")
            case 2 if path:
                write(path)
            case 3 if path:  # a time before the last one, with the same size
                write(path, "x" * path.stat().st_size)
                os.utime(path, (1_500_000_000 + next(numbers),) * 2)
            case 4 if path:
                path.unlink()
            case 5 if path:
                path.rename(path.with_name(f"{next(numbers)}.md"))
            case 6 if path and path.parent != root:
                path.parent.rename(root / f"moved{next(numbers)}")
            case 7 if path:
                (path.parent / f"link{next(numbers)}.md").symlink_to(path)
            case 8 if path:  # another file takes its name
                other = path.with_name("other")
                write(other)
                other.replace(path)

    def expected() -> tuple[set[str], set[str]]:
        rows = {
            names(stages, row["uri"]): (row["size"], row["modified"], row["skip_reason"])
            for row in stages.rows("SELECT * FROM raw_file WHERE removed_at IS NULL")
        }
        files: dict[str, tuple[int, str, str | None]] = {}
        for folder, folders, found in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in found:
                path = Path(folder, name)
                if path.exists():
                    files[str(path.relative_to(root))] = (path.stat().st_size, str(path.stat().st_mtime_ns), None)
                else:
                    files[str(path.relative_to(root))] = (0, "", "broken symbolic link")
        return {name for name in files if rows.get(name) != files[name]}, set(rows) - set(files)

    write(root / "first.md")
    stages.configure()
    stages.raw_files()
    for _ in range(25):
        for _ in range(random.randrange(4)):
            change()
        assert differences(stages) == expected()
        if random.random() < 0.7:
            stages.raw_files()
            assert differences(stages) == (set(), set()) == expected()
        if random.random() < 0.2:
            stages.rows("DELETE FROM raw_file WHERE removed_at IS NOT NULL RETURNING 1")


def test_a_failed_file_is_retried_when_its_time_has_come(stages: Stages, public_folder: Path) -> None:
    """Nothing in the folder tells it."""
    stages.root = public_folder / "docs"
    stages.write("a.md", "The tide is high.")
    stages.configure()
    stages.raw_files()
    assert differences(stages) == (set(), set())
    stages.rows("UPDATE raw_file SET failure = 'it broke', next_retry_at = now() + interval '1 hour' RETURNING 1")
    assert differences(stages) == (set(), set())
    stages.due_now()
    assert differences(stages) == ({"a.md"}, set())


def test_a_change_of_a_row_unsettles_its_folder_alone(stages: Stages) -> None:
    stages.write("x/a.md", "The tide is high.")
    stages.write("y/b.md", "The tide is low.")
    stages.configure()
    stages.raw_files()
    assert unsettled(stages) == set()
    stages.rows("UPDATE raw_file SET removed_at = now() WHERE uri = %(uri)s RETURNING 1", uri=stages.uri("x/a.md"))
    assert unsettled(stages) == {"x"}
    assert differences(stages) == ({"x/a.md"}, set())
    stages.rows("DELETE FROM raw_file WHERE uri = %(uri)s RETURNING 1", uri=stages.uri("y/b.md"))
    assert differences(stages) == ({"x/a.md", "y/b.md"}, set())


def test_settings_unsettle_every_folder(stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns, limits, links, and a parser that was installed meanwhile."""
    stages.write("x/a.md", "The tide is high. " * 10)
    stages.write("x/b.txt", "The tide is low.")
    stages.write("x/letter.doc", ole_file("WordDocument"))
    outside = tmp_path / "outside.md"
    outside.write_text("outside")
    os.utime(outside, (1_600_000_000, 1_600_000_000))
    (stages.root / "x/linked.md").symlink_to(outside)
    parser = registry._BY_MEDIA_TYPE[DOC]
    monkeypatch.delitem(registry._BY_MEDIA_TYPE, DOC)
    stages.configure(CONFIGURATION % "")
    stages.raw_files()
    assert differences(stages) == (set(), set())
    for settings, expected in {
        ", include: ['**/*.txt']": (set(), {"x/a.md", "x/letter.doc", "x/linked.md"}),
        ", exclude: ['*/a.md']": (set(), {"x/a.md"}),
        ", max_bytes: 100": ({"x/a.md"}, set()),
        ", follow_links: true": ({"x/linked.md"}, set()),
        "": (set(), set()),
    }.items():
        stages.configure(CONFIGURATION % settings)
        assert differences(stages) == expected, settings
    monkeypatch.setitem(registry._BY_MEDIA_TYPE, DOC, parser)
    assert differences(stages) == ({"x/letter.doc"}, set())


def test_a_selection_looks_at_every_row(stages: Stages) -> None:
    stages.write("a.md", "The tide is high.")
    stages.configure()
    stages.raw_files()
    with stages.connection() as connection:
        (source,) = collection_sources(connection, stages.collection)
        for selection in (Selection(force=True), Selection(documents=(stages.uri("a.md"),), force=True)):
            assert len(compare(connection, source, selection).to_read) == 1
        assert compare(connection, source, Selection(only_failed=True)).to_read == []


def test_a_listing_older_than_the_rows_settles_nothing(stages: Stages) -> None:
    """A comparison of the sensor may end after an ingest that began later."""
    path = stages.write("a.md", "The tide is high.")
    stages.write("b.md", "The gauge stands in the harbour.")
    stages.configure()
    stages.raw_files()
    with stages.connection() as connection:
        (source,) = collection_sources(connection, stages.collection)
        before = path.stat()
        folders = list(Listing(source, {}, b"settings"))
        (known,) = stages.rows("SELECT * FROM listed_folder")
        stages.write("a.md", "The tide is low.")
        stages.raw_files()
        settle(connection, source, folders)
        connection.execute(
            queries["settle_folders"],
            {
                "source_id": source.id,
                "uris": [known["uri"]],
                "digests": [known["digest"]],
                "files": [1],
                "revisions": [known["revision"]],
            },
        )
        assert unsettled(stages) == {"."}
    path.write_text("The tide is high.")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert differences(stages) == ({"a.md"}, set())


def test_a_folder_that_left_is_forgotten_and_may_return(stages: Stages) -> None:
    kept = stages.write("x/a.md", "The tide is high.")
    stages.write("b.md", "The tide is low.")
    stages.configure()
    stages.raw_files()
    (stages.root / "x").rename(stages.root.parent / "x")
    assert differences(stages) == (set(), {"x/a.md"})
    assert stages.raw_files().removed == 1
    assert differences(stages) == (set(), set())
    assert {row["uri"] for row in stages.rows("SELECT uri FROM listed_folder")} == {folder_uri(stages.uri("b.md"))}
    (stages.root.parent / "x").rename(stages.root / "x")
    assert kept.exists()
    assert differences(stages) == ({"x/a.md"}, set())


@pytest.mark.parametrize("uri", ["file:///a/b.md", "s3://bucket/a%2Fb/c?d=/e", "memory://a\nb/c\nd", "plain", "/"])
def test_the_database_and_python_agree_on_the_folder_of_a_file(stages: Stages, uri: str) -> None:
    (row,) = stages.rows("SELECT folder_of(%(uri)s) AS folder", uri=uri)
    assert row["folder"] == folder_uri(uri)


def test_the_rows_of_a_folder_are_found_by_its_index(stages: Stages) -> None:
    with stages.connection() as connection, connection.transaction():
        connection.execute("SET LOCAL enable_seqscan = off")
        plan = connection.execute(
            sql.SQL("EXPLAIN ") + queries["known_files"],
            {"source_id": 1, "folders": ["file:///a/"], "retry_now": False},
        )
        assert any("raw_file_folder" in line for (line,) in plan)
