"""The watch over a real folder, in this process."""

import threading
import time
from contextlib import suppress
from pathlib import Path

import fsspec
import pytest

from orchestration import turns
from orchestration.instance import STORAGE_VARIABLE, open_instance
from orchestration.turns import Turns
from orchestration.watch import MOST_ITEMS, FolderWatch
from sourcebook.admin.pending import find_pending
from sourcebook.database.lock import collection_lock
from sourcebook.files.source import Source
from sourcebook.files.watching import SECONDS_AT_REST, WatchedSource
from sourcebook.model.selection import Selection
from tests.exported import link_model
from tests.integration.stages import Stages
from tests.waiting import wait_until

LISTED = "SELECT listed_at FROM source WHERE location LIKE 'memory:%'"
TITLES = "SELECT title FROM document WHERE removed_at IS NULL ORDER BY title"


def test_a_change_of_a_folder_lists_no_remote_store(
    stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exported_model: Path
) -> None:
    """A store that answers slowly would hold up each change of the folder beside it."""
    link_model(exported_model, tmp_path / "home")
    monkeypatch.setenv(STORAGE_VARIABLE, stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DAGSTER_HOME", "")
    store = fsspec.filesystem("memory")
    store.pipe("/watched/far.md", b"# Far\n\nThe light is white.\n")
    stages.configure(
        f"collections:\n  handbook:\n    files:\n      - root: ./{stages.root.name}\n      - root: memory://watched\n"
    )
    stages.write("near.md", "# Near\n\nThe light is green.\n")
    stages.run()
    with stages.database.connection() as connection:
        listed = connection.execute(LISTED).fetchall()
        stop = threading.Event()
        watch = threading.Thread(
            target=FolderWatch(stages.root.parent / "sourcebook.yaml", stages.database, stop).run, daemon=True
        )
        watch.start()
        try:
            wait_until(lambda: b"inotify" in watched(), seconds=120, what="the folder is watched")
            stages.write("new.md", "# New\n\nThe light is red.\n")
            wait_until(lambda: ("New",) in connection.execute(TITLES).fetchall(), seconds=120, what="it is ingested")
        finally:
            stop.set()
            watch.join(60)
        assert connection.execute(TITLES).fetchall() == [("Far",), ("Near",), ("New",)]
        assert connection.execute(LISTED).fetchall() == listed
    store.rm("/watched", recursive=True)


def test_a_collection_that_takes_documents_is_ingested_after_the_one_that_it_takes_them_from(
    stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exported_model: Path
) -> None:
    """Its own folders are not listed for that."""
    link_model(exported_model, tmp_path / "home")
    monkeypatch.setenv(STORAGE_VARIABLE, stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DAGSTER_HOME", "")
    other = tmp_path / "other"
    other.mkdir()
    rule = "{files: [{root: ./other}], from: {collection: handbook, tags: [policy]}}"
    stages.configure(f"collections:\n  a: {rule}\n  handbook: {{files: [{{root: ./docs}}]}}\n")
    stages.write("near.md", "# Near\n\nThe light is green.\n")
    stages.run_all("handbook", "a")
    file = stages.write("near.md", "---\ntags: [policy]\n---\n# Near\n\nThe light is green.\n")
    other.joinpath("unseen.md").write_text("# Unseen\n\nThe light is white.\n")
    watch = FolderWatch(tmp_path / "sourcebook.yaml", stages.database, threading.Event())
    watch._waiting = {"handbook": {file.as_uri(): time.monotonic()}}
    try:
        watch._ingest("handbook")
    finally:
        watch._embedders.close()
    found = stages.rows("SELECT collection, title, tags FROM document WHERE removed_at IS NULL ORDER BY 1")
    assert [tuple(row.values()) for row in found] == [("a", "Near", ["policy"]), ("handbook", "Near", ["policy"])]


def test_of_many_changes_the_watch_keeps_no_more_than_it_ingests(stages: Stages, tmp_path: Path) -> None:
    """A checkout of 10,000 files is left to the sensor; another collection's change beside it is not."""
    several = [WatchedSource(name, Source(1, str(tmp_path / name), ("**/*",), (), 1_000)) for name in ("many", "few")]
    watch = FolderWatch(tmp_path / "sourcebook.yaml", stages.database, threading.Event())
    watch._note(several, [str(tmp_path / "many" / f"{number}.md") for number in range(10_000)])
    watch._note(several, [str(tmp_path / "few" / "a.md")])
    assert {name: len(uris) for name, uris in watch._waiting.items()} == {"many": MOST_ITEMS + 1, "few": 1}


def test_a_change_lets_the_watch_take_whatever_is_at_rest(stages: Stages, tmp_path: Path) -> None:
    """Also what a killed watch has lost; a file that is being written, or more than it ingests, changes that."""
    stages.configure()
    lost, changed = stages.write("lost.md", "# Lost\n"), stages.write("near.md", "# Near\n")
    watch = FolderWatch(tmp_path / "sourcebook.yaml", stages.database, threading.Event())
    folders = (str(stages.root),)
    assert watch._selection("handbook", [changed.as_uri()]) == Selection(sources=folders, at_rest=SECONDS_AT_REST)
    with stages.connection() as connection:
        assert find_pending(connection, "handbook", Selection(sources=folders, at_rest=2)).changed_files == 2
    part = Selection(documents=(changed.as_uri(),), sources=folders)
    assert watch._selection("handbook", [changed.as_uri()]) == part, "it has just compared the folders"
    watch._compared.clear()
    changed.write_text("# Near\n\nThe light is green.\n")
    assert watch._selection("handbook", [changed.as_uri()]) == part, "it is being written, and taken nevertheless"
    watch._compared.clear()
    stages.settle(changed)
    for number in range(MOST_ITEMS):
        stages.write(f"{number}.md", "# Many\n")
    assert watch._selection("handbook", [changed.as_uri()]) == part
    assert watch._selection("handbook", [stages.root.as_uri()]) is None, "the start alone is left to the sensor"
    lost.unlink()


def test_collections_take_turns(stages: Stages, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One pauses for as long as it was worked on, and lets those in that wait: for its lock, and in Dagster's queue."""
    monkeypatch.setenv(STORAGE_VARIABLE, stages.database.url)
    monkeypatch.setenv("DAGSTER_HOME", "")
    open_instance(tmp_path / "home", stages.database).dispose()
    monkeypatch.setattr(turns, "_WINDOW", 1.5)
    taking = Turns(stages.database)
    assert taking.is_free("handbook")
    with taking.taken("handbook"):
        time.sleep(1)  # the work, as long as which it pauses
    assert not taking.is_free("handbook")
    assert taking.is_free("notes")
    wait_until(lambda: taking.is_free("handbook"), what="the pause is over")
    with collection_lock(stages.database, "handbook"):
        assert not taking.is_free("handbook")
    assert taking.is_free("handbook")
    stages.rows(
        "INSERT INTO public.runs (run_id, pipeline_name, status, partition, run_body)"
        " VALUES ('1', 'ingest', 'QUEUED', 'handbook:2of4', '') RETURNING 1"
    )
    assert not taking.is_free("handbook")
    assert taking.is_free("hand")
    monkeypatch.setattr(turns, "_SECONDS_FOR_THE_QUEUE", 0.0)
    assert taking.is_free("handbook"), "the queue may wait for something else"


def watched() -> bytes:
    """Return the kinds of this process's open files; a watch is one of them. Other threads open and close files."""
    kinds = []
    for file in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            kinds.append(bytes(file.readlink()))
    return b" ".join(kinds)


def test_a_folder_of_a_collection_of_the_api_is_watched_without_a_configuration(
    stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exported_model: Path
) -> None:
    link_model(exported_model, tmp_path / "home")
    monkeypatch.setenv(STORAGE_VARIABLE, stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DAGSTER_HOME", "")
    stages.write("near.md", "# Near\n\nThe light is green.\n")
    stages.knowledge.folders = (stages.root,)
    stages.knowledge.create_collection("handbook", {"files": [{"root": str(stages.root)}]})
    stages.run()
    missing = stages.root.parent / "sourcebook.yaml"
    assert not missing.exists()
    with stages.database.connection() as connection:
        stop = threading.Event()
        watch = threading.Thread(target=FolderWatch(missing, stages.database, stop).run, daemon=True)
        watch.start()
        try:
            wait_until(lambda: b"inotify" in watched(), seconds=120, what="the folder is watched")
            stages.write("new.md", "# New\n\nThe light is red.\n")
            wait_until(lambda: ("New",) in connection.execute(TITLES).fetchall(), seconds=120, what="it is ingested")
        finally:
            stop.set()
            watch.join(60)
