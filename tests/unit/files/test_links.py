"""Symbolic links in a folder: what is listed, what is read, and where a walk ends."""

import os
from pathlib import Path

import pytest

from sourcebook.files.confinement import LEADS_OUT
from sourcebook.files.listing import Listing, file_uri
from sourcebook.files.reading import digest_file, read_file
from sourcebook.files.source import Source

LOOP = "symbolic link to a parent folder: a loop"
LISTED = "symbolic link to a folder that is listed already"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file, beside a folder outside of it."""
    write(tmp_path / "docs/a.md")
    write(tmp_path / "outside/secret.md")
    return tmp_path / "docs"


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def source(root: Path, *, include: str = "**/*", exclude: tuple[str, ...] = (), follow_links: bool = False) -> Source:
    return Source(1, str(root), (include,), exclude, 1_000_000, follow_links=follow_links)


def listed(source: Source) -> dict[str, str | None]:
    """Return every listed path relative to the root, with the reason for skipping it."""
    listing = Listing(source, {}, b"")
    entries = [entry for folder in listing for entry in folder.entries or ()]
    assert listing.error is None
    assert len({entry.uri for entry in entries}) == len(entries)
    return {os.path.relpath(entry.path, source.location): entry.skip_reason for entry in entries}


def test_a_link_to_a_file_outside_is_skipped_with_the_reason(root: Path) -> None:
    (root / "passwd.txt").symlink_to("/etc/passwd")
    assert listed(source(root)) == {"a.md": None, "passwd.txt": LEADS_OUT}
    assert listed(source(root, follow_links=True)) == {"a.md": None, "passwd.txt": None}


def test_a_link_to_a_folder_outside_is_skipped_with_the_reason(root: Path) -> None:
    (root / "more").symlink_to(root.parent / "outside")
    assert listed(source(root)) == {"a.md": None, "more": LEADS_OUT}
    assert listed(source(root, follow_links=True)) == {"a.md": None, "more/secret.md": None}


def test_a_chain_of_links_is_judged_by_its_end(root: Path) -> None:
    (root / "one.md").symlink_to("two.md")
    (root / "two.md").symlink_to(root.parent / "outside/secret.md")
    (root.parent / "outside/back.md").symlink_to(root / "a.md")
    (root / "three.md").symlink_to(root.parent / "outside/back.md")
    assert listed(source(root)) == {"a.md": None, "one.md": LEADS_OUT, "two.md": LEADS_OUT, "three.md": None}


def test_a_root_beside_a_folder_whose_name_begins_alike_does_not_contain_it(root: Path) -> None:
    write(root.parent / "docs-private/secret.md")
    (root / "private.md").symlink_to("../docs-private/secret.md")
    assert listed(source(root))["private.md"] == LEADS_OUT


def test_a_link_to_the_folder_above_the_root_leads_out(root: Path) -> None:
    (root / "up").symlink_to("..")
    assert listed(source(root)) == {"a.md": None, "up": LEADS_OUT}
    followed = listed(source(root, follow_links=True))
    assert followed == {"a.md": None, "up/outside/secret.md": None}, "the root is listed once"


def test_each_linked_file_within_the_root_is_a_document_of_its_own(root: Path) -> None:
    (root / "b.md").symlink_to("a.md")
    assert listed(source(root)) == {"a.md": None, "b.md": None}


def test_folders_that_link_to_each_other_are_listed_once(root: Path) -> None:
    for name in "abcd":
        write(root / name / f"{name}.md")
    for name in "abcd":
        for other in "abcd":
            (root / name / f"to-{other}").symlink_to(root / other)
    found = listed(source(root))
    assert {path for path, reason in found.items() if reason is None} == {
        "a.md", "a/a.md", "b/b.md", "c/c.md", "d/d.md",
    }  # fmt: skip
    assert {reason for path, reason in found.items() if "to-" in path} == {LOOP, LISTED}
    assert len(found) == 5 + 16
    assert listed(source(root, follow_links=True)) == found


def test_folders_outside_that_link_to_each_other_and_back_are_listed_once(root: Path) -> None:
    outside = root.parent / "outside"
    (outside / "docs").symlink_to(root)
    (outside / "again").symlink_to(outside)
    (root / "one").symlink_to(outside)
    (root / "two").symlink_to(outside)
    assert listed(source(root, follow_links=True)) == {
        "a.md": None,
        "one/secret.md": None,
        "one/docs": LOOP,
        "one/again": LOOP,
        "two": LISTED,
    }


def test_links_without_any_file_end_too(tmp_path: Path) -> None:
    for name in ("a", "b", "c/d"):
        (tmp_path / name).mkdir(parents=True)
    for number, (place, target) in enumerate([("a", "b"), ("b", "a"), ("b", "c"), ("c/d", "a"), ("c", "b")]):
        (tmp_path / place / f"link{number}").symlink_to(tmp_path / target)
    found = listed(source(tmp_path))
    assert set(found.values()) <= {LOOP, LISTED}


def test_a_folder_that_only_a_link_makes_visible_is_listed_through_it(root: Path) -> None:
    """Releases in a hidden or excluded folder, with a link to the current one."""
    write(root / ".releases/5/notes.md")
    write(root / "old/4/notes.md")
    (root / "current").symlink_to(".releases/5")
    (root / "latest").symlink_to("old/4")
    assert listed(source(root, exclude=("old",))) == {
        "a.md": None,
        "current/notes.md": None,
        "latest/notes.md": None,
    }
    assert listed(source(root, include="latest/**")) == {"latest/notes.md": None}


def test_a_root_that_is_a_link_is_listed_like_its_target(root: Path) -> None:
    (root / "b.md").symlink_to("a.md")
    (root.parent / "link").symlink_to(root)
    linked = source(root.parent / "link")
    assert listed(linked) == {"a.md": None, "b.md": None}
    for name in ("a.md", "b.md"):
        assert read_file(linked, file_uri(str(root.parent / "link" / name))).content == b"text"


def test_an_excluded_folder_is_not_even_opened(root: Path) -> None:
    write(root / "closed/b.md")
    (root / "closed").chmod(0)
    try:
        assert listed(source(root, exclude=("closed",))) == {"a.md": None}
    finally:
        (root / "closed").chmod(0o755)


@pytest.mark.parametrize("read", [read_file, lambda source, uri: digest_file(source, uri, 4)])
class TestAFileReplacedAfterTheListing:
    """The check belongs to the opened file, not to the path that was listed."""

    def test_by_a_link_to_a_file_outside_is_refused(self, root: Path, read: object) -> None:
        self._replace(root / "a.md", root.parent / "outside/secret.md")
        with pytest.raises(OSError, match="leads out of the root"):
            self._read(read, source(root), root / "a.md")
        self._read(read, source(root, follow_links=True), root / "a.md")

    def test_by_a_link_within_the_root_is_read(self, root: Path, read: object) -> None:
        write(root / "b.md")
        self._replace(root / "a.md", root / "b.md")
        self._read(read, source(root), root / "a.md")

    def test_with_its_folder_is_refused(self, root: Path, read: object) -> None:
        inner = write(root / "sub/secret.md")
        inner.unlink()
        inner.parent.rmdir()
        inner.parent.symlink_to(root.parent / "outside")
        with pytest.raises(OSError, match="leads out of the root"):
            self._read(read, source(root), inner)

    def test_by_a_pipe_is_refused_without_waiting(self, root: Path, read: object) -> None:
        (root / "a.md").unlink()
        os.mkfifo(root / "a.md")
        with pytest.raises(OSError, match="not a regular file"):
            self._read(read, source(root), root / "a.md")

    def _replace(self, path: Path, target: Path) -> None:
        path.unlink()
        path.symlink_to(target)

    def _read(self, read: object, source: Source, path: Path) -> None:
        assert callable(read)
        read(source, file_uri(str(path)))
