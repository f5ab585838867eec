"""Changes come from the system's events, whole: once a file rests, for a folder that moved, for what is gone."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sourcebook.errors import ListingError
from sourcebook.files import watching
from sourcebook.files.listing import file_uri
from sourcebook.files.source import Source
from sourcebook.files.watching import MOST_FILES, SECONDS_AT_REST, Events, WatchedSource, changes_at_rest
from tests.waiting import wait_until


def source(root: Path, *, include: tuple[str, ...] = ("**/*",), exclude: tuple[str, ...] = ()) -> WatchedSource:
    return WatchedSource("handbook", Source(1, str(root), include, exclude, 1_000_000))


@contextmanager
def watched(*folders: Path) -> Iterator[Callable[[], dict[str, float]]]:
    """Lend the paths that came to rest, each with the time at which it did."""
    stop = threading.Event()
    rested: dict[str, float] = {}
    ready = threading.Event()

    def collect() -> None:
        for paths in changes_at_rest([str(folder) for folder in folders], stop, {}):
            ready.set()
            rested.update((path, time.monotonic()) for path in paths)

    thread = threading.Thread(target=collect)
    thread.start()
    assert ready.wait(60)
    try:
        yield lambda: rested
    finally:
        stop.set()
        thread.join(60)
    assert not thread.is_alive()


def test_a_path_that_never_rests_is_reported_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LONGEST_WRITING", 3.0)
    path = tmp_path / "log.md"
    path.write_text("Begun.\n")
    with watched(tmp_path) as rested:
        begun = time.monotonic()

        def is_reported_while_written() -> bool:
            with path.open("a") as file:
                file.write("More.\n")
            return str(path) in rested()

        wait_until(is_reported_while_written, every=0.2, what="it is taken as it is")
        assert rested()[str(path)] - begun >= 2.5, "until then it may come to rest"


def test_each_kind_of_change_is_reported(tmp_path: Path) -> None:
    (tmp_path / "edited.md").write_text("one")
    (tmp_path / "deleted.md").write_text("one")
    (tmp_path / "old.md").write_text("one")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    with watched(tmp_path) as rested:
        (tmp_path / "edited.md").write_text("two")
        (tmp_path / "deleted.md").unlink()
        (tmp_path / "old.md").rename(tmp_path / "new.md")
        (tmp_path / "deep" / "er" / "added.md").write_text("one")
        expected = {
            str(tmp_path / name) for name in ("edited.md", "deleted.md", "old.md", "new.md", "deep/er/added.md")
        }
        wait_until(lambda: expected <= rested().keys(), what="all five changes are reported")


def test_a_file_that_is_being_written_is_not_reported_before_it_rests(tmp_path: Path) -> None:
    with watched(tmp_path) as rested:
        path = tmp_path / "growing.md"
        end = time.monotonic() + 3 * SECONDS_AT_REST
        with path.open("w") as file:
            while time.monotonic() < end:
                file.write("a line\n")
                file.flush()
                assert not rested()
                time.sleep(0.05)  # the pace of the writer
            written = time.monotonic()
        wait_until(lambda: str(path) in rested(), what="the file is reported")
        assert rested()[str(path)] >= written + SECONDS_AT_REST - 0.5


def test_changes_that_did_not_rest_yet_are_kept_for_the_next_watch(tmp_path: Path) -> None:
    last_events: dict[str, Events] = {}
    stop = threading.Event()
    watch = changes_at_rest([str(tmp_path)], stop, last_events)
    assert next(watch) == []
    (tmp_path / "a.md").write_text("one")
    wait_until(lambda: not next(watch) and last_events, what="the event arrives", every=0)
    watch.close()
    again = changes_at_rest([str(tmp_path)], stop, last_events)
    wait_until(lambda: str(tmp_path / "a.md") in next(again), what="the change is reported", every=0)
    again.close()


def test_a_folder_that_cannot_be_watched_is_named(tmp_path: Path) -> None:
    with pytest.raises(ListingError, match="gone"):
        next(changes_at_rest([str(tmp_path / "gone")], threading.Event(), {}))


def test_a_folder_that_vanishes_as_the_watch_starts_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    with watched(tmp_path / "gone", tmp_path / "here") as rested:
        (tmp_path / "here" / "a.md").write_text("one")
        wait_until(lambda: str(tmp_path / "here" / "a.md") in rested(), what="the change is reported")


def test_patterns_decide_which_paths_count(tmp_path: Path) -> None:
    handbook = source(tmp_path, include=("**/*.md",), exclude=("drafts",))
    (tmp_path / "drafts").mkdir()
    for name in ("a.md", "a.txt", "drafts/b.md", ".hidden.md"):
        (tmp_path / name).write_text("one")
    assert handbook.changed_files(str(tmp_path / "a.md")) == [file_uri(str(tmp_path / "a.md"))]
    for name in ("a.txt", "drafts/b.md", ".hidden.md"):
        assert handbook.changed_files(str(tmp_path / name)) == []
    assert handbook.changed_files(f"{tmp_path}-beside/a.md") == []


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for name in ("in/a.md", "in/deep/b.md", "in/.git.md"):
        (tmp_path / name).write_text("one")
    found = source(tmp_path).changed_files(str(tmp_path / "in"))
    assert found is not None
    assert sorted(found) == [file_uri(str(tmp_path / name)) for name in ("in/a.md", "in/deep/b.md")]


def test_a_vanished_path_stands_for_itself_even_if_it_was_a_folder(tmp_path: Path) -> None:
    handbook = source(tmp_path, include=("**/*.md",), exclude=("drafts",))
    assert handbook.changed_files(str(tmp_path / "gone")) == [file_uri(str(tmp_path / "gone"))]
    assert handbook.changed_files(str(tmp_path / ".git" / "index.lock")) == []
    assert handbook.changed_files(str(tmp_path / "drafts" / "gone.md")) == []


def test_recordings_and_large_folders_are_left_to_a_whole_ingest(tmp_path: Path) -> None:
    (tmp_path / "talk.mp3").write_bytes(b"ID3")
    (tmp_path / "many").mkdir()
    for number in range(MOST_FILES + 1):
        (tmp_path / "many" / f"{number}.md").write_text("one")
    assert source(tmp_path).changed_files(str(tmp_path / "talk.mp3")) is None
    assert source(tmp_path).changed_files(str(tmp_path / "many")) is None


def test_a_source_of_one_file_is_watched(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    assert source(tmp_path / "a.md").changed_files(str(tmp_path / "a.md")) == [file_uri(str(tmp_path / "a.md"))]
