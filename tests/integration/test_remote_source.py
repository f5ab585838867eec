"""Sources behind fsspec URLs, on fsspec's own in-memory file system."""

from collections.abc import Iterator

import fsspec
import pytest

from tests.integration.stages import Stages


@pytest.fixture
def bucket() -> Iterator[fsspec.AbstractFileSystem]:
    system = fsspec.filesystem("memory")
    system.pipe("/bucket/docs/tides.md", b"# Tides\n\nThe barnacle line marks high water.\n")
    system.pipe("/bucket/docs/drafts/ideas.md", b"# Ideas\n\nNot yet.\n")
    yield system
    system.rm("/bucket", recursive=True)


CONFIGURATION = """
collections:
  handbook:
    files:
      - root: memory://bucket/docs
        exclude: [drafts]
"""


def test_a_remote_file_goes_in_changes_and_leaves(stages: Stages, bucket: fsspec.AbstractFileSystem) -> None:
    """Files behind a URL are found, followed when they change, and leave when they are gone."""
    stages.configure(CONFIGURATION)
    assert stages.run()["documents"].added == 1
    assert stages.found("barnacle") == {"tides.md"}
    assert not stages.pending().work

    bucket.pipe("/bucket/docs/tides.md", b"# Tides\n\nThe limpet line marks high water.\n")
    assert stages.run()["documents"].changed == 1
    assert stages.found("limpet") == {"tides.md"}
    assert stages.found("barnacle") == set()

    bucket.rm("/bucket/docs/tides.md")
    assert stages.run()["documents"].removed == 1
    assert stages.found("limpet") == set()
    stages.assert_sound()


def test_an_unreachable_remote_source_removes_nothing(stages: Stages, bucket: fsspec.AbstractFileSystem) -> None:
    """A bucket that has gone is reported as not listed; what it held stays searchable."""
    stages.configure(CONFIGURATION)
    stages.run()
    bucket.mv("/bucket/docs", "/bucket/elsewhere", recursive=True)
    report = stages.run()["raw_files"]
    assert (report.removed, report.failed) == (0, 1)
    assert "does not exist" in report.failures[0].reason
    assert stages.found("barnacle") == {"tides.md"}
