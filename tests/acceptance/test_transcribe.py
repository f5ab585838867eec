"""Recordings by the command: found with their time; a kill in the middle costs one window at most.

The beginning of the example library's note serves both; `test_demo.py` has the whole one.
"""

import re

import numpy as np
import pytest

from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.decoding import Samples, decode
from sourcebook.speech.transcriber import WINDOW
from tests.acceptance.workplace import Workplace, rows
from tests.sounds import BRIEF_SECONDS, NOTE, NOTE_WORD, write_sound
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("model_was_exported")
CONFIGURATION = """\
collections:
  notes:
    files:
      - root: ./docs
    speech: {engine: faster-whisper}
"""
WINDOWS = "SELECT starts_at, ends_at FROM transcript_window ORDER BY starts_at"


@pytest.fixture
def notes(workplace: Workplace) -> Workplace:
    workplace.configuration.write_text(CONFIGURATION)
    workplace.docs.mkdir()
    return workplace


@pytest.fixture(scope="module")
def brief() -> Samples:
    """The beginning of the note."""
    return np.concatenate(list(decode(str(NOTE))))[: round(BRIEF_SECONDS * SAMPLE_RATE)]


def test_a_recording_is_found_with_its_time(notes: Workplace, brief: Samples) -> None:
    """The passage has its time, `show` prints subtitles, and a second run finds nothing to do."""
    write_sound(notes.docs / "note.m4a", brief)
    told = notes.ingest()["notes"]
    assert (told["transcripts"]["added"], told["transcripts"]["failed"]) == (1, 0)
    (hit, *_) = notes.json("search", NOTE_WORD, "-c", "notes", "-n", "1")["results"]
    assert re.fullmatch(r"\d+:\d\d–\d+:\d\d", hit["time_span"])
    assert hit["start_seconds"] < hit["end_seconds"]
    found = notes.run("search", NOTE_WORD, "-n", "1")
    assert hit["time_span"] in found
    assert f"#t={int(hit['start_seconds'])}," in found
    captions = notes.run("show", hit["uri"], "--vtt")
    assert captions.startswith("WEBVTT\n")
    assert NOTE_WORD in captions
    assert "00:00:0" in notes.run("show", hit["uri"], "--srt")
    assert notes.ingest()["notes"]["transcripts"]["unchanged"] == 1
    (status,) = notes.json("status")["collections"]
    assert (status["documents"], status["stale"], status["failed"]) == (1, 0, 0)


@pytest.mark.timeout(400)
def test_an_ingest_that_is_killed_while_it_transcribes_goes_on(notes: Workplace, brief: Samples) -> None:
    """The next one keeps the windows that were written, and waits for no place that the dead run holds."""
    pause = np.zeros(WINDOW * SAMPLE_RATE, np.float32)  # what nobody says costs next to nothing
    long = np.concatenate([brief, pause, brief, pause[: 50 * SAMPLE_RATE], brief, pause[: 50 * SAMPLE_RATE]])
    write_sound(notes.docs / "long.mp3", long, codec="libmp3lame")
    with notes.database() as database:
        with notes.start("ingest") as process:
            wait_until(lambda: process.poll() is not None or rows(database, WINDOWS), what="a window", seconds=180)
            assert process.poll() is None, process.communicate()
            process.kill()
        written = rows(database, WINDOWS)
        assert written[-1]["ends_at"] < len(long) / SAMPLE_RATE - 60, "it was killed in the middle"
        told = notes.ingest()["notes"]
        assert (told["transcripts"]["added"], told["search_index"]["added"] > 0) == (1, True)
        assert rows(database, WINDOWS)[: len(written)] == written
        (document,) = rows(database, "SELECT metadata FROM document")
        assert document["metadata"]["duration_seconds"] == pytest.approx(len(long) / SAMPLE_RATE, abs=0.2)
