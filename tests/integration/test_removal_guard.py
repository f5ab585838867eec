"""The guard against emptying: a source that loses many documents at once keeps them until somebody accepts it."""

import json
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from sourcebook.admin.checks import run_checks
from sourcebook.model.selection import Selection
from sourcebook.stages.raw_files.update import BATCH, update_raw_files
from tests.git_repository import GitRepository
from tests.integration.git_stages import GitStages
from tests.integration.stages import Stages

NAMES = [f"{number:02}.md" for number in range(12)]


@pytest.fixture
def base(stages: Stages) -> Stages:
    """Twelve documents, each about a bird of its own number."""
    fill(stages)
    stages.configure()
    stages.run()
    return stages


def fill(stages: Stages, folder: str = "") -> None:
    for name in NAMES:
        stages.write(f"{folder}{name}", f"# Bird {name}\n\nThe cormorant of {name} dries its wings.\n")


def delete(stages: Stages, names: list[str]) -> None:
    for name in names:
        (stages.root / name).unlink()


def errors(stages: Stages) -> list[str]:
    return [problem.error for problem in stages.status().problems]


def test_what_goes_at_once_stays_searchable_and_is_said_until_it_is_accepted(base: Stages) -> None:
    """Ingest, status and a check name the collection, the number and the command; no run is due, and none removes."""
    delete(base, NAMES[:8])
    assert base.pending().work
    report = base.run()["raw_files"]
    assert (report.removed, report.failed) == (0, 1)
    assert base.found("cormorant") == set(NAMES)
    (reason,) = errors(base)
    assert "8 of its 12 documents are gone at once" in reason
    assert "sourcebook ingest handbook --accept" in reason
    assert base.status().problems[0].failure_class == "held"
    assert not base.pending().work, "a sensor starts no run for what waits for a person"
    with base.connection() as connection:
        outcomes = {outcome.name: outcome for outcome in run_checks(connection, base.collection)}
    assert outcomes["no_failed_items"].violations == 1

    for number in range(40):  # more documents do not make the same loss a small one
        base.write(f"new-{number}.md", f"# Gull {number}\n\nThe gull {number} calls.\n")
    assert base.run()["documents"].added == 40
    delete(base, NAMES[8:9])
    assert base.run()["raw_files"].removed == 0
    base.run(Selection(thorough=True))
    assert base.found("cormorant") == set(NAMES)
    assert "9 of its 12" in errors(base)[0]

    assert base.pending(Selection(accept=True)).gone_files == 9
    assert base.run(Selection(accept=True))["raw_files"].removed == 9
    assert base.found("cormorant") == set(NAMES[9:])
    assert not errors(base)
    assert not base.pending().work


def test_the_guard_ends_by_itself_when_the_files_are_back(base: Stages) -> None:
    hidden = base.root.with_name("unmounted")
    base.root.rename(hidden)
    base.root.mkdir()  # the empty folder below a disk that is not mounted
    base.run()
    assert "12 of its 12" in errors(base)[0]
    base.root.rmdir()
    hidden.rename(base.root)
    assert base.pending().work
    report = base.run()["raw_files"]
    assert (report.added, report.changed, report.removed, report.failed) == (0, 0, 0, 0)
    assert not errors(base)
    assert base.rows("SELECT FROM source WHERE held_of IS NULL")

    delete(base, NAMES[:8])
    base.run()
    for name in NAMES[:6]:
        base.write(name, f"# Bird {name}\n\nThe cormorant of {name} dries its wings.\n")
    assert base.run()["raw_files"].removed == 2, "two are a small loss"
    assert base.found("cormorant") == set(NAMES) - set(NAMES[6:8])


def test_a_renamed_folder_loses_nothing_and_goes_at_once(base: Stages) -> None:
    """What lies under another name now is moved in one run; nothing is parsed, and nothing waits for anybody."""
    (base.root / "birds").mkdir()
    for name in NAMES:
        (base.root / name).rename(base.root / "birds" / name)
    reports = base.run()
    assert reports["raw_files"].removed == 12
    assert reports["raw_files"].failed == 0
    live = base.rows("SELECT uri FROM document WHERE removed_at IS NULL")
    assert {row["uri"] for row in live} == {base.uri(f"birds/{name}") for name in NAMES}
    assert not base.pending().work


def test_a_small_loss_goes_at_once(base: Stages) -> None:
    """Four files, a loss within the settings, and what a pattern leaves out are a person's doing."""
    delete(base, NAMES[:3])
    assert base.run()["raw_files"].removed == 3
    root = f"files: [{{root: ./{base.root.name}, exclude: ['*.md']}}]"
    base.configure(f"collections: {{{base.collection}: {{{root}}}}}")
    assert base.run()["raw_files"].removed == 9
    assert base.found("cormorant") == set()


def test_the_share_and_the_floor_are_settings(base: Stages) -> None:
    root = f"files: [{{root: ./{base.root.name}}}]"
    base.configure(f"collections: {{{base.collection}: {{{root}, removals: {{share: 0.5, at_least: 2}}}}}}")
    delete(base, NAMES[:6])
    assert base.run()["raw_files"].removed == 6
    delete(base, NAMES[6:10])
    assert base.run()["raw_files"].removed == 0
    base.configure(f"collections: {{{base.collection}: {{{root}, removals: {{share: 1}}}}}}")
    assert base.run()["raw_files"].removed == 4


def test_files_that_have_become_empty_are_lost_like_those_that_are_gone(base: Stages) -> None:
    """A full disk truncates what it cannot write."""
    for name in NAMES[:8]:
        base.write(name, "")
    base.write(NAMES[8], "# Bird\n\nThe cormorant is a heron.\n")
    reports = base.run()
    assert (reports["raw_files"].changed, reports["raw_files"].failed) == (1, 1)
    assert base.found("cormorant") == set(NAMES)
    assert not base.pending().work
    base.run(Selection(accept=True))
    assert base.found("cormorant") == set(NAMES[8:])


def test_a_killed_run_holds_nothing_less(base: Stages) -> None:
    """It ends after new files were recorded and before the loss was: the next one still sees the loss."""
    delete(base, NAMES[:8])
    for number in range(BATCH + 1):
        base.write(f"new-{number}.txt", f"number {number}")

    def die(done: int, total: int, failed: int = 0) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), base.connection() as connection:
        update_raw_files(connection, base.collection, progress=die)
    assert base.run()["raw_files"].removed == 0
    assert base.found("cormorant") == set(NAMES)


@pytest.fixture
def bucket() -> Iterator[fsspec.AbstractFileSystem]:
    system = fsspec.filesystem("memory")
    yield system
    system.rm("/bucket", recursive=True)


def test_a_store_that_lacks_a_prefix_is_held_back(stages: Stages, bucket: fsspec.AbstractFileSystem) -> None:
    for name in NAMES:
        bucket.pipe(
            f"/bucket/docs/{'old' if name < '08' else 'new'}/{name}", b"# Bird\n\nThe cormorant " + name.encode()
        )
    stages.configure(json.dumps({"collections": {stages.collection: {"files": [{"root": "memory://bucket/docs"}]}}}))
    stages.run()
    bucket.rm("/bucket/docs/old", recursive=True)
    assert stages.run()["raw_files"].removed == 0
    assert len(stages.found("cormorant")) == 12
    assert stages.run(Selection(accept=True))["raw_files"].removed == 8


def test_a_checkout_that_lacks_half_is_held_back(stages: Stages, tmp_path: Path) -> None:
    repository = GitRepository.create(tmp_path / "repository")
    for name in NAMES:
        repository.write(name, f"# Bird {name}\n\nThe cormorant of {name}.\n")
    repository.commit()
    git = GitStages(stages, repository, tmp_path / "home")
    git.configure()
    git.run()
    for name in NAMES[:8]:
        (repository.folder / name).unlink()
    repository.commit()
    assert git.run()["raw_files"].removed == 0
    assert len(stages.found("cormorant")) == 12
    assert git.run(Selection(accept=True))["raw_files"].removed == 8


def test_uploads_that_are_removed_by_name_go_at_once(
    stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody named each; rows that vanish from the table are nobody's wish."""
    monkeypatch.setenv("SOURCEBOOK_UPLOADS", str(tmp_path / "uploads"))
    stages.root.mkdir(exist_ok=True)
    stages.configure()
    for name in NAMES:
        stages.knowledge.upload(stages.collection, name, f"# Bird\n\nThe cormorant {name}".encode())
    stages.run()
    stages.rows("DELETE FROM upload WHERE name < '06' RETURNING 1")
    assert stages.run()["raw_files"].removed == 0
    for name in NAMES[6:]:
        stages.knowledge.remove_upload(stages.collection, name)
    assert stages.run()["raw_files"].removed == 6
    assert len(stages.found("cormorant")) == 6
