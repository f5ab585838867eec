"""Runs that are killed while they transcribe, and transcripts that somebody changed."""

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import psycopg
import pytest

from benchmarks.harness.faults.index_state import different_parts, index_state
from sourcebook.model.selection import Selection
from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.decoding import Samples
from sourcebook.speech.transcriber import WINDOW
from tests.integration.stages import Stages
from tests.integration.transcripts.recordings import configure, put, windows
from tests.sounds import NOTE_WORD, write_sound
from tests.waiting import wait_until

_TRANSCRIBER = """
import signal
import sys
from pathlib import Path
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from sourcebook.speech import transcriber
from sourcebook.stages.transcripts.update import update_transcripts
folder, url, home = sys.argv[1:]
with Database(DatabaseLocation(Path(folder), url)) as database, database.connection() as connection:
    update_transcripts(
        connection, "handbook", progress=lambda done, total, failed=0: done and signal.pause(), home=Path(home)
    )
"""
"""Transcribes until a window is written, and waits to be killed."""


def killed_worker(place: str) -> None:
    """Run in the process for speech: it ends as by the kernel, for lack of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_recording_whose_process_was_killed_is_tried_again_at_once(
    stages: Stages, brief: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once; after a second kill it waits a minute, and after a third it is parked until somebody asks."""

    def waits() -> list[int | None]:
        rows = stages.rows("SELECT extract(epoch FROM next_retry_at - now())::integer AS wait FROM transcribed_file")
        return [row["wait"] for row in rows]

    configure(stages)
    put(stages, "note.m4a", brief)
    with monkeypatch.context() as killing:
        killing.setattr("sourcebook.speech.worker.probe", killed_worker)
        for seconds in (0, 60):
            assert stages.run()["transcripts"].failed == 1
            assert waits() == [pytest.approx(seconds, abs=5)]
            stages.due_now()
        assert stages.run()["transcripts"].failed == 1
        assert waits() == [None]
    assert not stages.pending().work
    assert stages.run(Selection(only_failed=True))["transcripts"].failed == 0
    assert stages.found(NOTE_WORD) == {"note.m4a"}


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("shared_speech")
def test_a_killed_run_goes_on_behind_its_last_window(stages: Stages, brief_samples: Samples, tmp_path: Path) -> None:
    """Windows that were written stay; the transcript is the one that a run without a break makes."""
    configure(stages)
    pause = np.zeros(WINDOW * SAMPLE_RATE, np.float32)  # what nobody says costs next to nothing
    long = np.concatenate([brief_samples, pause] * 2)
    write_sound(stages.root / "long.mp3", long, codec="libmp3lame")
    stages.settle(stages.root / "long.mp3")
    stages.raw_files()
    command = [sys.executable, "-c", _TRANSCRIBER, str(tmp_path), str(stages.database.url), str(stages.speech_home)]
    process = subprocess.Popen(command)
    wait_until(lambda: process.poll() is not None or windows(stages), what="a window is written", seconds=180)
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    written = windows(stages)
    assert written
    assert written[-1][1] < len(long) / SAMPLE_RATE - WINDOW / 2, "it was killed in the middle"

    heard: list[int] = []
    stages.transcripts(progress=lambda done, total, failed=0: heard.append(done))
    assert heard[0] == round(written[-1][1]), "progress goes on from there"
    resumed = windows(stages)
    assert resumed[: len(written)] == written
    assert resumed[-1][1] == pytest.approx(len(long) / SAMPLE_RATE, abs=0.2)
    assert all(one[1] == other[0] for one, other in itertools.pairwise(resumed))
    texts = stages.rows("SELECT segments FROM transcript_window ORDER BY starts_at")

    stages.transcripts(Selection(force=True))
    assert windows(stages) == resumed
    assert stages.rows("SELECT segments FROM transcript_window ORDER BY starts_at") == texts


@pytest.mark.usefixtures("shared_speech")
def test_damaged_recordings_are_named_and_made_again(stages: Stages, brief: Path) -> None:
    """The sound is transcribed again only where its transcript is not kept; the document stays the one that it was."""
    configure(stages)
    put(stages, "brief.m4a", brief)
    stages.run()
    document = stages.document("brief.m4a")
    with stages.connection() as connection:
        fresh = index_state(connection, stages.collection)
    for statement, reason, seconds in (
        ("UPDATE transcribed_file SET content_hash = sha256('x')", "the record of the recording was changed", 0),
        ("UPDATE recording SET metadata = '{}'", "the description of the recording is gone or was changed", 0),
        ("UPDATE transcript_window SET segments = '[]'", "its transcript is gone or was changed", 10),
    ):
        change(stages, statement)
        (finding,) = stages.status().damage
        assert (finding.uri, finding.reason) == (stages.uri("brief.m4a"), reason)
        report = stages.run()["transcripts"]
        assert (report.extra["damaged"], report.extra.get("seconds_of_sound", 0)) == (1, seconds)
        with stages.connection() as connection:
            assert not different_parts(fresh, index_state(connection, stages.collection)), statement
        after = stages.document("brief.m4a")
        assert (after["id"], after["version"]) == (document["id"], document["version"])
        assert not stages.pending().work
    change(stages, "DELETE FROM transcript_window")
    (finding,) = stages.status().damage
    assert finding.reason == "its transcript is gone or was changed"


def change(stages: Stages, statement: str) -> None:
    """Execute a statement in a session that is not the library's."""
    with psycopg.connect(stages.database.url, autocommit=True) as foreign:
        foreign.execute("SET search_path TO sourcebook, public")
        foreign.execute(statement.encode())


@pytest.mark.usefixtures("shared_speech")
def test_a_recording_that_the_database_refuses_fails_alone(stages: Stages, brief: Path) -> None:
    """Whichever of its rows is refused: the other one is transcribed, and a person's retry helps once it is taken."""
    configure(stages)
    write_sound(stages.root / "quiet.m4a", np.zeros(2 * SAMPLE_RATE, np.float32))
    stages.settle(stages.root / "quiet.m4a")
    put(stages, "zlast.m4a", brief)
    quiet = stages.uri("quiet.m4a")
    again = Selection(documents=(quiet,), force=True)
    stages.raw_files()
    for table, allowed, selection in (
        ("recording", "duration > 5", Selection()),
        ("transcript_window", "ends_at > 5", again),
        ("transcribed_file", "failure IS NOT NULL OR content_hash IS NULL OR uri !~ 'quiet'", again),
    ):
        with stages.connection() as connection:
            connection.execute(f"ALTER TABLE {table} ADD CONSTRAINT odd CHECK ({allowed}) NOT VALID".encode())
            report = stages.transcripts(selection)
            connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT odd".encode())
        assert [failure.uri for failure in report.failures] == [quiet], table
        assert "the database refuses" in report.failures[0].reason
        assert stages.item("quiet.m4a")["parked"]
        assert stages.run(Selection(only_failed=True))["transcripts"].failed == 0, table
        stages.run()
        assert stages.found(NOTE_WORD) == {"zlast.m4a"}
    assert not stages.pending().work
