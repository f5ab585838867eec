"""Symbolic links that lead out of the root of a source publish nothing, unless the source follows them."""

from pathlib import Path

import pytest

from sourcebook.stages.raw_files import collection_sources, compare
from sourcebook.stages.raw_files.read import read_files
from tests.integration.stages import Stages

REASON = "symbolic link that leads out of the root of its source; follow_links: true follows it"


@pytest.fixture
def secret(stages: Stages, tmp_path: Path) -> Path:
    """A file outside the root."""
    path = tmp_path / "outside" / "secret.md"
    path.parent.mkdir()
    path.write_text("The password is barnacle.")
    stages.settle(path)
    return path


def test_linked_files_and_folders_are_skipped_until_the_source_follows_links(stages: Stages, secret: Path) -> None:
    stages.write("a.md", "The tide is high.")
    (stages.root / "file.md").symlink_to(secret)
    (stages.root / "folder").symlink_to(secret.parent)
    stages.configure()
    report = stages.run()["raw_files"]
    assert (report.added, report.failed, report.extra["skipped"]) == (3, 0, 2)
    assert stages.found("barnacle") == set()
    assert {problem.uri: problem.error for problem in stages.status().problems} == {
        stages.uri("file.md"): REASON,
        stages.uri("folder"): REASON,
    }
    assert not stages.pending().work

    stages.configure("collections:\n  handbook:\n    files:\n      - {root: ./docs, follow_links: true}\n")
    stages.run()
    assert stages.found("barnacle") == {"file.md", "secret.md"}
    assert not stages.status().problems

    stages.configure()
    stages.run()
    assert stages.found("barnacle") == set()
    assert stages.found("tide") == {"a.md"}
    stages.assert_sound()


@pytest.mark.parametrize("after", ["listing", "hashing"])
def test_a_file_that_becomes_a_link_before_it_is_read_is_not_published(
    stages: Stages, secret: Path, after: str
) -> None:
    victim = stages.write("b.md", "The tide is low.")
    stages.configure()
    if after == "listing":
        stages.write("a/a.md", "The tide is high.")

    def replace(*_: object) -> None:
        victim.unlink(missing_ok=True)
        victim.symlink_to(secret)

    if after == "hashing":
        stages.raw_files()
        replace()
        assert stages.documents().failed == 1
    else:
        with stages.connection() as connection:
            (source,) = collection_sources(connection, stages.collection)
            listed = compare(connection, source).to_read
            replace()
            reasons = {Path(file.entry.path).name: file.failure for file in read_files(source, listed)}
        assert reasons == {"a.md": None, "b.md": f"it cannot be read: {REASON}"}
    stages.run()
    assert stages.found("barnacle") == set()
    assert stages.item("b.md")["error"] == REASON


def test_a_document_whose_file_becomes_a_link_is_withdrawn(stages: Stages, secret: Path) -> None:
    victim = stages.write("b.md", "The tide is low.")
    stages.configure()
    stages.run()
    victim.unlink()
    victim.symlink_to(secret)
    assert stages.pending().changed_files == 1
    stages.run()
    assert stages.found("tide") == stages.found("barnacle") == set()
    assert stages.item("b.md")["state"] == "skipped"
    victim.unlink()
    stages.write("b.md", "The tide is low.")
    stages.run()
    assert stages.found("tide") == {"b.md"}
