"""`sourcebook watch`: a small change of a local folder is searchable within seconds, and is a run that can be seen."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from sourcebook import KnowledgeBase
from sourcebook.database.lock import collection_lock
from tests.acceptance.workplace import Workplace, rows
from tests.waiting import wait_until

SECONDS_UNTIL_SEARCHABLE = 20.0


@contextmanager
def watching(workplace: Workplace) -> Iterator[Path]:
    """Run the watch until the block ends; lend its log."""
    log = workplace.folder / "watch.log"
    with workplace.start("watch", errors_to=log) as process:
        try:
            wait_until(lambda: "watching " in log.read_text(), seconds=120, what="the watch has begun")
            yield log
            assert process.poll() is None, log.read_text()
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    assert process.returncode == 0
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="module")
def handbook(shared_workplace: Workplace, exported_model: Path) -> Workplace:
    """A workplace with two ingested collections, which the tests share; each writes files of its own."""
    shared_workplace.begin_prepared(exported_model)
    shared_workplace.configure(handbook="docs", diary="diary")
    shared_workplace.write("docs/a.md", "# Flags\n\nThe flag is green.\n")
    shared_workplace.write("docs/b.md", "# Tides\n\nThe mark is blue.\n")
    shared_workplace.write("diary/a.md", "# Sunday\n\nThe wind is calm.\n")
    shared_workplace.ingest()
    return shared_workplace


@pytest.fixture(scope="module")
def log(handbook: Workplace) -> Iterator[Path]:
    """The log of a watch that runs through all tests and ends without an error."""
    with watching(handbook) as log:
        yield log


@pytest.fixture(scope="module")
def knowledge(handbook: Workplace) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.connect(home=handbook.home) as knowledge:
        yield knowledge


def runs(workplace: Workplace) -> list[str]:
    """Return the states of the runs in Dagster's ledger, once all that have ended are recorded there."""
    with workplace.database() as database:
        wait_until(lambda: not rows(database, "SELECT FROM finished_run"), seconds=60, what="every run is recorded")
        with psycopg.connect(database.dagster_url()) as connection:
            return [status for (status,) in connection.execute("SELECT status FROM runs ORDER BY id")]


@pytest.mark.timeout(600)
def test_every_small_change_is_searchable_within_seconds(
    handbook: Workplace, log: Path, knowledge: KnowledgeBase
) -> None:
    """Edit, add, rename, move in a folder, delete: each a run of its own in the ledger of runs."""
    docs = handbook.docs
    before, logged = len(runs(handbook)), log.read_text().count(": run ")

    def found(word: str) -> list[str]:
        return [result.uri.rpartition("/")[2] for result in knowledge.search(word, mode="keyword")]

    def within_seconds(word: str, expected: list[str]) -> None:
        since = time.monotonic()
        wait_until(lambda: found(word) == expected, seconds=120, what=f"{word} is found in {expected}")
        assert time.monotonic() - since <= SECONDS_UNTIL_SEARCHABLE, log.read_text()

    handbook.write("docs/a.md", "# Flags\n\nThe flag is white.\n")
    within_seconds("white", ["a.md"])
    assert found("green") == []
    handbook.write("docs/c.md", "# Storms\n\nThe cone is black.\n")
    within_seconds("black", ["c.md"])
    (docs / "c.md").rename(docs / "d.md")
    within_seconds("black", ["d.md"])
    handbook.write("beside/deep/e.md", "# Ice\n\nThe line is violet.\n")
    (handbook.folder / "beside").rename(docs / "beside")
    within_seconds("violet", ["e.md"])
    (docs / "b.md").unlink()
    within_seconds("blue", [])

    def is_complete() -> bool:
        made = log.read_text().count(": run ") - logged
        return made >= 5 and runs(handbook)[before:] == ["SUCCESS"] * made

    wait_until(is_complete, seconds=60, what="each change is a run in the log and in the ledger")


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("log")
def test_a_half_written_file_holds_up_no_other_and_is_taken_whole(
    handbook: Workplace, knowledge: KnowledgeBase
) -> None:
    handbook.write("docs/quick.md", "# Quick\n\nThe buoy is orange.\n")
    with (handbook.docs / "slow.md").open("w") as file:
        file.write("# Slow\n\nThe buoy is purple.\n")

        def found_while_writing() -> bool:
            file.write("More of it.\n")
            file.flush()
            assert not knowledge.search("purple", mode="keyword"), "nothing of a file that is being written"
            return bool(knowledge.search("orange", mode="keyword"))

        wait_until(found_while_writing, seconds=120, every=0.1, what="the other file is searchable")
        file.write("The last word is turquoise.\n")
    wait_until(lambda: knowledge.search("turquoise", mode="keyword"), seconds=120, what="the whole file is found")
    with handbook.database() as database:
        versions = rows(database, "SELECT version FROM document WHERE uri LIKE '%%slow.md'")
    assert [row["version"] for row in versions] == [1]


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("log")
def test_a_busy_collection_holds_up_no_other_and_is_taken_afterwards(
    handbook: Workplace, knowledge: KnowledgeBase
) -> None:
    with handbook.database() as database, collection_lock(database, "handbook"):
        handbook.write("docs/gauge.md", "# Gauge\n\nThe mark is crimson.\n")
        handbook.write("diary/monday.md", "# Monday\n\nThe wind is brisk.\n")
        wait_until(lambda: knowledge.search("brisk", mode="keyword"), seconds=120, what="the diary is up to date")
        assert not knowledge.search("crimson", mode="keyword")
    wait_until(lambda: knowledge.search("crimson", mode="keyword"), seconds=120, what="the handbook follows")


@pytest.mark.timeout(600)
def test_a_mistake_in_the_configuration_and_a_new_collection_stop_nothing(
    handbook: Workplace, log: Path, knowledge: KnowledgeBase
) -> None:
    good = handbook.configuration.read_text()
    handbook.configuration.write_text("collections: [nonsense\n")
    handbook.write("docs/pole.md", "# Pole\n\nThe tide pole is scarlet.\n")
    wait_until(lambda: knowledge.search("scarlet", mode="keyword"), seconds=120, what="the file is searchable")
    assert "the last good configuration stays in use" in log.read_text()
    watched = log.read_text().count("watching ")
    handbook.configuration.write_text(good + "  notes:\n    files:\n      - root: ./notes\n")
    handbook.write("notes/a.md", "# Lamp\n\nThe lamp is dim.\n")
    handbook.run("apply")
    wait_until(lambda: log.read_text().count("watching ") > watched, seconds=60, what="the new folder is watched")
    wait_until(lambda: knowledge.search("dim", mode="keyword"), seconds=120, what="its older file is searchable")
    handbook.write("notes/b.md", "# Mirror\n\nThe mirror is bright.\n")
    wait_until(lambda: knowledge.search("bright", mode="keyword"), seconds=120, what="the notes are up to date")
