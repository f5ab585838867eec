"""The stage `raw_files`: what lies in the sources, and what may be called gone."""

import os
import time

from sourcebook.model.selection import Selection
from sourcebook.stages.raw_files.update import BATCH, update_raw_files
from tests.integration.stages import Stages


def test_counts_what_was_added_changed_unchanged_removed_and_what_returned(stages: Stages) -> None:
    for name in ("a.md", "b.md", "c.md"):
        stages.write(name, f"# {name}\n\nFirst text of {name}.\n")
    stages.configure()
    first = stages.raw_files()
    assert (first.added, first.changed, first.unchanged, first.removed, first.failed) == (3, 0, 0, 0, 0)

    stages.write("a.md", "# a\n\nAnother text.\n")
    (stages.root / "b.md").unlink()
    stages.write("d.md", "# d\n")
    second = stages.raw_files()
    assert (second.added, second.changed, second.unchanged, second.removed) == (1, 1, 1, 1)
    assert stages.raw_file("b.md")["removed_at"] is not None

    stages.write("b.md", "# b.md\n\nFirst text of b.md.\n")
    third = stages.raw_files()
    assert (third.added, third.changed, third.unchanged, third.removed) == (1, 0, 3, 0)
    assert stages.raw_file("b.md")["removed_at"] is None


def test_the_version_names_the_content_and_nothing_else(stages: Stages) -> None:
    """Two passes over the same content give the same version, whenever the files were written."""
    path = stages.write("a.md", "one")
    stages.configure()
    version = stages.raw_files().version
    stages.settle(path)
    again = stages.raw_files()
    assert again.version == version
    stages.write("a.md", "two")
    assert stages.raw_files().version != version


def test_nothing_is_pending_once_everything_is_taken_in(stages: Stages) -> None:
    stages.write("a.md", "# Tide\n\nThe gauge stands in the harbour.\n")
    stages.write("picture.psd", b"8BPS\0\1")
    stages.configure()
    assert stages.pending().work
    stages.run()
    assert not stages.pending().work
    again = stages.run()
    assert not any(report.worked for report in again.values())


def test_an_edit_that_leaves_size_and_time_as_they_were_is_noticed(stages: Stages) -> None:
    """A file that was hashed within two seconds of its last change is not trusted yet."""
    path = stages.root / "a.md"
    path.write_text("The flag is green.")
    stages.configure()
    stages.run()
    before = path.stat()
    path.write_text("The flag is white.")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns

    assert stages.pending().work
    reports = stages.run()
    assert reports["raw_files"].changed == 1
    assert reports["documents"].changed == 1
    assert stages.found("white") == {"a.md"}
    assert stages.found("green") == set()


def test_a_file_from_the_future_is_not_read_again_for_ever(stages: Stages) -> None:
    """A clock that was wrong, or an archive, leaves such times; the sensor would start a run at every look."""
    path = stages.root / "a.md"
    path.write_text("From the future.")
    tomorrow = time.time() + 86_400
    os.utime(path, (tomorrow, tomorrow))
    stages.configure()
    stages.run()
    stages.raw_files()
    assert not stages.pending().work


def test_a_root_that_vanishes_removes_nothing_and_is_reported(stages: Stages) -> None:
    stages.write("a.md", "The tide is high.")
    stages.configure()
    stages.run()
    hidden = stages.root.with_name("unmounted")
    stages.root.rename(hidden)

    assert stages.pending().newly_unlisted
    report = stages.run()["raw_files"]
    assert (report.removed, report.failed) == (0, 1)
    assert "does not exist or is not mounted" in report.failures[0].reason
    assert stages.found("tide") == {"a.md"}
    (source,) = stages.rows("SELECT listing_error, listed_at FROM source")
    assert str(stages.root) in source["listing_error"]
    assert not stages.pending().newly_unlisted, "what is recorded once is not reason enough for another run"

    hidden.rename(stages.root)
    report = stages.run()["raw_files"]
    assert (report.unchanged, report.removed, report.failed) == (1, 0, 0)
    assert stages.rows("SELECT FROM source WHERE listing_error IS NULL")


def test_one_root_that_vanishes_does_not_keep_another_from_being_read(stages: Stages) -> None:
    stages.write("a.md", "The tide is high.")
    stages.configure("collections:\n  handbook:\n    files:\n      - root: ./nowhere\n      - root: ./docs\n")
    report = stages.run()["raw_files"]
    assert (report.added, report.failed) == (1, 1)
    assert stages.found("tide") == {"a.md"}


def test_a_file_that_vanishes_between_listing_and_reading_fails_alone(stages: Stages) -> None:
    """It is retried, and the next complete listing says that it is gone."""
    for number in range(BATCH + 1):
        stages.write(f"{number:03}.txt", f"number {number}")
    last = f"{BATCH:03}.txt"
    stages.configure()

    def remove_last(done: int, total: int, failed: int = 0) -> None:
        (stages.root / last).unlink(missing_ok=True)

    with stages.connection() as connection:
        report = update_raw_files(connection, stages.collection, progress=remove_last)
    assert (report.added, report.failed) == (BATCH, 1)
    assert "vanished" in report.failures[0].reason
    assert stages.item(last)["state"] == "failed"
    assert stages.raw_files().removed == 1
    assert not stages.rows("SELECT FROM item WHERE state = 'failed'")


def test_selected_documents_alone_are_read(stages: Stages) -> None:
    for name in ("a.md", "b.md"):
        stages.write(name, "first")
    stages.configure()
    stages.run()
    for name in ("a.md", "b.md"):
        stages.write(name, "second text")
    reports = stages.run(Selection(documents=(stages.uri("a.md"),)))
    assert reports["raw_files"].changed == 1
    assert stages.found("second") == {"a.md"}
    stages.run()
    assert stages.found("second") == {"a.md", "b.md"}


def test_a_source_that_left_the_configuration_loses_its_documents(stages: Stages) -> None:
    stages.write("a.md", "The tide is high.")
    stages.write("more/b.md", "The tide is low.")
    one = "collections:\n  handbook:\n    files:\n      - {root: ./docs, exclude: [more]}\n"
    both = one + "      - {root: ./docs/more}\n"
    stages.configure(both)
    stages.run()
    assert stages.found("tide") == {"a.md", "b.md"}
    stages.configure(one)
    reports = stages.run()
    assert reports["documents"].removed == 1
    assert stages.found("tide") == {"a.md"}
    stages.configure(both)
    reports = stages.run()
    assert reports["embeddings"].extra == {"computed": 0, "reused": 1}
    assert stages.found("tide") == {"a.md", "b.md"}
    stages.assert_sound()
