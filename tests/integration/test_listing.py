"""What a folder may hold beside plain files with plain names."""

import os
from pathlib import Path

import pytest

from tests.integration.stages import Stages, without_privileges


def test_an_unreadable_subfolder_keeps_everything_and_is_reported(stages: Stages, public_folder: Path) -> None:
    """What lies in it may still be there, so nothing of the source is called gone."""
    stages.root = public_folder / "docs"
    stages.write("open/a.md", "The tide is high.")
    stages.write("closed/b.md", "The tide is low.")
    stages.configure()
    stages.run()
    (stages.root / "open" / "a.md").unlink()
    (stages.root / "closed").chmod(0)
    try:
        with without_privileges():
            report = stages.raw_files()
        stages.documents()
        stages.search_index()
        assert (report.removed, report.failed) == (0, 1)
        assert str(stages.root / "closed") in report.failures[0].reason
        assert stages.found("tide") == {"a.md", "b.md"}
    finally:
        (stages.root / "closed").chmod(0o755)
    assert stages.run()["raw_files"].removed == 1
    assert stages.found("tide") == {"b.md"}


def test_an_unreadable_file_fails_alone_and_keeps_its_old_version(stages: Stages, public_folder: Path) -> None:
    stages.root = public_folder / "docs"
    stages.write("a.md", "The tide is high.")
    stages.write("b.md", "The tide is low.")
    stages.configure()
    stages.run()
    closed = stages.write("b.md", "The tide turns.")
    closed.chmod(0)
    with without_privileges():
        report = stages.raw_files()
        stages.documents()
    stages.chunks()
    stages.search_index()
    assert (report.unchanged, report.removed, report.failed) == (1, 0, 1)
    item = stages.item("b.md")
    assert (item["state"], item["version"]) == ("failed", 1)
    assert "Permission denied" in item["error"]
    assert stages.found("low") == {"b.md"}

    closed.chmod(0o644)
    assert stages.pending().changed_files, "with another mode it is read at once, not at its retry time"
    stages.run()
    assert stages.item("b.md")["state"] == "ready"
    assert stages.found("turns") == {"b.md"}
    assert stages.found("low") == set()


def test_the_same_file_in_two_sources_is_one_document(stages: Stages) -> None:
    stages.write("deep/a.md", "The tide is high.")
    both = (
        "collections:\n  handbook:\n    files:\n"
        "      - {root: ./docs/deep, tags: [deep]}\n      - {root: ./docs, tags: [all]}\n"
    )
    stages.configure(both)
    stages.run()
    before = stages.document("deep/a.md")
    assert len(stages.rows("SELECT FROM raw_file")) == 2
    assert before["tags"] == ["deep"]

    stages.configure("collections:\n  handbook:\n    files:\n      - {root: ./docs, tags: [all]}\n")
    reports = stages.run()
    after = stages.document("deep/a.md")
    assert (reports["documents"].added, reports["documents"].removed) == (0, 0)
    assert (after["id"], after["version"], after["tags"]) == (before["id"], 1, ["all"])
    assert stages.found("tide") == {"a.md"}


def test_links_are_followed_once_and_what_is_no_file_is_named(stages: Stages, tmp_path: Path) -> None:
    stages.write("a.md", "The tide is high.")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "linked.md").write_text("The tide is low.")
    stages.settle(outside / "linked.md")
    (stages.root / "folder").symlink_to(outside, target_is_directory=True)
    (stages.root / "loop").symlink_to(stages.root, target_is_directory=True)
    (stages.root / "self").symlink_to("self")
    (stages.root / "dangling.md").symlink_to("nothing.md")
    os.mkfifo(stages.root / "pipe.md")
    stages.configure("collections:\n  handbook:\n    files:\n      - {root: ./docs, follow_links: true}\n")
    report = stages.run()["raw_files"]
    assert (report.failed, report.extra["skipped"]) == (0, 4)
    assert stages.found("tide") == {"a.md", "linked.md"}
    told = {
        Path(row["uri"]).name: row["error"]
        for row in stages.rows("SELECT uri, error FROM item WHERE state = 'skipped'")
    }
    assert told == {
        "loop": "symbolic link to a parent folder: a loop",
        "self": "broken symbolic link",
        "dangling.md": "broken symbolic link",
        "pipe.md": "not a regular file",
    }
    assert not stages.pending().work


@pytest.mark.parametrize(
    "name",
    [
        b"with  spaces.md",
        b'it\'s "quoted".md',
        b"semi;colon -- comment.md",
        b"percent%20and%s.md",
        b"new\nline.md",
        "emoji 🌊.md".encode(),
        "über.md".encode(),
        b"not utf-8 \xff\xfe.md",
        b"{braces} [brackets] #hash?query.md",
        b"back\\slash.md",
    ],
)
def test_any_name_the_file_system_allows_is_searchable(stages: Stages, name: bytes) -> None:
    """The name survives in the URI byte by byte; a second pass knows it again."""
    path = os.fsencode(stages.root) + b"/" + name
    with open(path, "wb") as file:  # noqa: PTH123 - pathlib takes no bytes
        file.write(b"The tide is high.\n")
    os.utime(path, (1_600_000_000, 1_600_000_000))
    stages.configure()
    reports = stages.run()
    assert (reports["raw_files"].added, reports["raw_files"].failed) == (1, 0)
    (hit,) = stages.search("tide", mode="keyword")
    assert hit.title
    assert not stages.pending().work
    os.unlink(path)  # noqa: PTH108
    assert stages.run()["documents"].removed == 1


def test_a_file_over_the_limit_is_skipped_until_the_limit_is_raised(stages: Stages) -> None:
    stages.write("small.md", "The tide is high.")
    stages.write("large.md", "The tide is low. " * 100)
    text = "collections:\n  handbook:\n    files:\n      - {root: ./docs, max_bytes: %s}\n"
    stages.configure(text % 1000)
    assert stages.run()["raw_files"].extra == {"skipped": 1}
    item = stages.item("large.md")
    assert (item["state"], item["document_id"]) == ("skipped", None)
    assert item["error"] == "1,700 bytes, more than max_bytes of its source allows (1,000)"
    assert stages.raw_file("large.md")["sha256"] is None, "it is not even read"
    assert not stages.pending().work

    stages.configure(text % "2KB")
    assert stages.pending().work
    stages.run()
    assert stages.item("large.md")["state"] == "ready"
    assert stages.found("low") == {"large.md"}

    stages.configure(text % 1000)
    stages.run()
    assert stages.item("large.md")["state"] == "skipped"
    assert stages.found("low") == set()


def test_a_type_that_is_not_read_is_named_with_the_reason(stages: Stages) -> None:
    stages.write("letters.woff2", b"wOF2" + bytes(100))
    stages.write("data.bin", bytes(range(256)) * 4)
    stages.write("lie.md", b"7z\xbc\xaf\x27\x1c" + bytes(200))
    stages.configure()
    reports = stages.run()
    assert reports["raw_files"].extra["skipped"] == 3
    assert reports["documents"].added == 0
    assert stages.item("letters.woff2")["error"] == "fonts hold no text"
    assert stages.item("data.bin")["error"] == "binary file of unknown type"
    assert (
        stages.item("lie.md")["error"]
        == "archives of this kind are not opened; unpack it into the source, with 7-Zip for example"
    )
    assert not stages.pending().work
