"""What can be said about folders before an ingest begins."""

from pathlib import Path

import pytest

from sourcebook.admin.unmatched_roots import root_problem
from sourcebook.config.collection import FilesSource


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with two texts, one of them in a folder, and a hidden file."""
    (tmp_path / "old").mkdir()
    for name in ("a.md", "old/b.txt", ".hidden.md"):
        (tmp_path / name).write_text("text")
    return tmp_path


@pytest.mark.parametrize(
    ("include", "exclude", "told"),
    [
        (("**/*",), (), None),
        (("**/*.md",), (), None),
        (("old/**",), (), None),
        (("**/*.pdf",), (), "matches **/*.pdf; without the patterns there are 2 files (1 .md, 1 .txt)"),
        (("**/*",), ("**/*.md", "old/"), "matches **/* and none of **/*.md, old/**; without the patterns there are 2"),
    ],
)
def test_a_pattern_that_matches_nothing(
    root: Path, include: tuple[str, ...], exclude: tuple[str, ...], told: str | None
) -> None:
    """The sentence says what there would be without the patterns; a folder with one matching file gives none."""
    found = root_problem(FilesSource(root=str(root), include=include, exclude=exclude))
    assert found is None if told is None else told in (found or "")


def test_missing_and_empty_folders(root: Path) -> None:
    """A folder that does not exist, and one with nothing in it; a file as root and a store are no matter of folders."""
    (root / "empty").mkdir()
    assert root_problem(FilesSource(root=str(root / "empty"))) == f"no file in {root / 'empty'}: the folder is empty"
    assert "does not exist" in (root_problem(FilesSource(root=str(root / "absent"))) or "")
    assert root_problem(FilesSource(root=str(root / "a.md"))) is None
    assert root_problem(FilesSource(root="s3://bucket/absent")) is None
