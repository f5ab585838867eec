"""Edits that keep size and modification time, and what looks like one and is none: a copy, another mode, a link."""

import os
import shutil
from pathlib import Path

import pytest

from sourcebook.admin.pending import find_pending
from sourcebook.stages.raw_files import update
from tests.integration.stages import Stages

NAMES = [f"{number}.md" for number in range(8)]


@pytest.fixture
def base(stages: Stages) -> Stages:
    for name in NAMES:
        stages.write(name, f"The flag of {name} is green.")
    stages.configure()
    stages.run()
    assert not stages.pending().work
    return stages


def edit(path: Path) -> None:
    """Write as `touch -d`, `rsync -t` and builds with SOURCE_DATE_EPOCH do: size and time are as before."""
    before = path.stat()
    path.write_text(path.read_text().replace("green", "white"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def reads(stages: Stages) -> list[object]:
    """Return when each file was read last."""
    return [row["hashed_at"] for row in stages.rows("SELECT hashed_at FROM raw_file ORDER BY uri")]


def test_an_edit_that_keeps_size_and_time_is_pending_and_taken_in(base: Stages) -> None:
    edit(base.root / "1.md")
    assert base.pending().changed_files == 1
    assert base.run()["documents"].changed == 1
    assert (base.found("white"), "1.md" in base.found("green")) == ({"1.md"}, False)


def test_a_file_that_replaces_another_one_is_read(base: Stages, tmp_path: Path) -> None:
    """As by a program that writes a new file and renames it."""
    new = Path(shutil.copy2(base.root / "1.md", tmp_path / "new"))
    edit(new)
    new.replace(base.root / "1.md")
    assert base.run()["documents"].changed == 1
    assert base.found("white") == {"1.md"}


def test_another_mode_and_a_link_cost_one_reading(base: Stages) -> None:
    """They change the change time alone: the content is read once, and nothing is due."""
    (base.root / "1.md").chmod(0o600)
    os.link(base.root / "2.md", base.root.parent / "link")
    before = reads(base)
    assert not base.pending().work
    after = reads(base)
    assert [number for number, (one, other) in enumerate(zip(before, after, strict=True)) if one != other] == [1, 2]
    assert not base.pending().work
    assert reads(base) == after
    assert {row["version"] for row in base.rows("SELECT version FROM document")} == {1}


@pytest.mark.parametrize("looks", [3, 2_000])
def test_a_restored_folder_is_hashed_and_not_parsed(base: Stages, monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
    """Every file has another inode and change time; what a comparison may not look at, the next run does."""
    monkeypatch.setattr(update, "MOST_LOOKS", looks)
    copy = base.root.with_name("copy")
    shutil.copytree(base.root, copy)
    shutil.rmtree(base.root)
    copy.rename(base.root)
    edit(base.root / "7.md")
    with base.connection() as connection:
        assert find_pending(connection, base.collection).changed_files == (5 if looks == 3 else 1)
    reports = base.run()
    assert (reports["raw_files"].changed, reports["documents"].changed, reports["documents"].added) == (1, 1, 0)
    assert not base.pending().work
    before = reads(base)
    assert not base.pending().work
    assert reads(base) == before


def test_rows_of_an_earlier_version_are_trusted_where_the_file_is_older_than_its_reading(base: Stages) -> None:
    """An upgrade reads no file that was not touched since it was read; an edit since then is seen."""
    old = "UPDATE raw_file SET touched = NULL, hashed_at = now() {} RETURNING 1"
    base.rows(old.format("+ interval '1 hour'"))
    before = reads(base)
    assert not base.pending().work
    assert not base.pending().work
    assert reads(base) == before
    base.rows(old.format("- interval '1 hour'"))
    edit(base.root / "1.md")
    assert base.pending().changed_files == 1
    assert base.run()["documents"].changed == 1
    assert base.rows("SELECT FROM raw_file WHERE touched IS NULL") == []
