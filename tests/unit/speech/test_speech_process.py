"""Transcribing in a child process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import numpy as np
import psutil
import pytest

from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import RecordingError, SpeechError, TemporaryRecordingError
from sourcebook.model.transcript import SAMPLE_RATE, Language, Window
from sourcebook.speech.process import SpeechProcess
from tests.sounds import tone, write_sound
from tests.unit.speech.clips import error_rate, needs_clips, silence, sound, text_of
from tests.unit.speech.clips import words as words_of
from tests.waiting import is_running, seconds_until_gone, wait_until, workers

FASTER = SpeechSettings(engine="faster-whisper")
PARENT = """
import sys, time
from pathlib import Path
from sourcebook.config.speech import SpeechSettings
from sourcebook.speech.process import SpeechProcess
process = SpeechProcess(SpeechSettings(engine="faster-whisper"), Path(sys.argv[1]))
{first}
print("started", flush=True)
{then}
"""
PROBE = "process.probe(sys.argv[2])"
TRANSCRIBE = "windows = process.transcribe(sys.argv[2])\nnext(windows)"


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine minutes: a first window with little speech, then so much that a child can be met at work."""
    path = tmp_path_factory.mktemp("recordings") / "meeting.flac"
    speech = sound("jfk.flac")
    write_sound(path, np.concatenate([speech, silence(220), np.tile(np.concatenate([speech, silence(1)]), 25)]))
    return path


@pytest.fixture
def short(tmp_path: Path) -> Path:
    path = tmp_path / "tone.wav"
    write_sound(path, tone(440, 2))
    return path


@pytest.fixture(scope="module")
def others() -> set[int]:
    """Processes of other modules' pools, which live as long as the tests."""
    return workers()


@pytest.fixture(scope="module")
def process(home: Path, others: set[int]) -> Iterator[SpeechProcess]:
    with SpeechProcess(FASTER, home) as started:
        yield started


def run_parent(first: str, then: str, home: Path, path: Path) -> tuple[subprocess.Popen[str], int]:
    """Start a program that starts a speech process; return it and the child's process id."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(first=first, then=then), str(home), str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as a terminal's job is
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "started\n"
    (child,) = wait_until(lambda: workers(psutil.Process(parent.pid)), what="the child runs")
    return parent, child


@needs_clips
def test_one_child_answers_one_request_after_the_other(
    process: SpeechProcess, others: set[int], tmp_path: Path
) -> None:
    """A recording is looked at and transcribed, then another one: the engine is loaded once."""
    for name in ("jfk.flac", "picovoice_en.wav"):
        path = tmp_path / f"{name}.flac"
        write_sound(path, sound(name))
        assert process.probe(str(path)).duration == pytest.approx(len(sound(name)) / SAMPLE_RATE, abs=0.01)
        (child,) = workers() - others
        (window,) = process.transcribe(str(path))
        assert isinstance(window, Window)
        assert window.language is not None
        assert window.language.code == "en"
        assert error_rate(words_of(name), text_of(window.segments)) == 0
        assert workers() - others == {child}


@needs_clips
def test_the_language_that_is_set_is_told(home: Path, tmp_path: Path) -> None:
    """It is certain, and nothing is detected."""
    path = tmp_path / "picovoice_fr.wav"
    write_sound(path, sound("picovoice_fr.wav"))
    settings = SpeechSettings(engine="faster-whisper", language="fr")
    with SpeechProcess(settings, home) as french:
        (window,) = french.transcribe(str(path))
    assert window.language is not None
    assert (window.language.code, window.language.probability) == ("fr", 1.0)


def test_a_recording_that_fails_fails_alone(
    process: SpeechProcess, others: set[int], short: Path, tmp_path: Path
) -> None:
    """A text named .mp3 is an error for its request; the same child serves the next one."""
    text = tmp_path / "notes.mp3"
    text.write_text("No sound at all.\n" * 100)
    with pytest.raises(RecordingError):
        process.probe(str(text))
    (child,) = workers() - others
    with pytest.raises(RecordingError):
        list(process.transcribe(str(text)))
    (window,) = process.transcribe(str(short))
    assert (window.end, window.language, window.segments) == (2.0, None, ())
    assert workers() - others == {child}


@needs_clips
def test_windows_that_nobody_reads_are_not_computed(
    process: SpeechProcess, others: set[int], recording: Path, short: Path
) -> None:
    """A child computes a window when it is asked for, and is free for the next recording at once."""
    next(process.transcribe(str(recording)))
    (child,) = workers() - others
    before = psutil.Process(child).cpu_times().user
    assert process.probe(str(short)).duration == pytest.approx(2.0)
    time.sleep(0.5)  # in which the next window would be computed
    assert psutil.Process(child).cpu_times().user - before < 0.5
    assert workers() - others == {child}


@needs_clips
def test_a_child_that_dies_fails_one_recording(
    process: SpeechProcess, others: set[int], recording: Path, short: Path
) -> None:
    """A child killed from outside (out of memory) says by what it ended; the next recording gets another child."""
    windows = process.transcribe(str(recording), start=200.0, language=Language("en", 1.0))
    process.probe(str(short))
    (child,) = workers() - others
    Timer(1.0, os.kill, (child, signal.SIGKILL)).start()
    with pytest.raises(TemporaryRecordingError, match=r"was ended by SIGKILL \(often a lack of memory: .*smaller"):
        list(windows)
    assert process.probe(str(short)).duration == pytest.approx(2.0)
    assert len(workers() - others - {child}) == 1


def test_a_child_that_dies_with_nothing_to_do_is_replaced(home: Path, short: Path) -> None:
    """The next recording gets another child."""
    others = workers()
    with SpeechProcess(FASTER, home) as idle:
        idle.probe(str(short))
        (child,) = workers() - others
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: idle._pool is not None and not idle._pool.is_active)
        assert idle.probe(str(short)).duration == pytest.approx(2.0)


def test_closing_ends_the_child_and_may_be_repeated(home: Path, short: Path) -> None:
    """`close` is prompt; a process that has been closed starts another child when it is asked again."""
    others = workers()
    process = SpeechProcess(FASTER, home)
    process.close()
    process.probe(str(short))
    (child,) = workers() - others
    before = time.monotonic()
    process.close()
    process.close()
    assert time.monotonic() - before < 30
    assert not is_running(child)


def test_an_interrupt_does_not_reach_the_child(process: SpeechProcess, others: set[int], short: Path) -> None:
    """The child ignores SIGINT: whether to stop is its parent's to decide."""
    process.probe(str(short))
    (child,) = workers() - others
    os.kill(child, signal.SIGINT)
    process.probe(str(short))
    assert workers() - others == {child}


def test_a_model_that_cannot_be_loaded_is_no_fault_of_the_recording(tmp_path: Path, short: Path) -> None:
    """It is a `SpeechError`, again and again, while looking at recordings still works."""
    with SpeechProcess(SpeechSettings(model=str(tmp_path / "nothing")), tmp_path) as failing:
        for _ in range(2):
            with pytest.raises(SpeechError, match="there is no Whisper model at"):
                list(failing.transcribe(str(short)))
            assert failing.probe(str(short)).duration == pytest.approx(2.0)


@needs_clips
@pytest.mark.parametrize("first", [PROBE, TRANSCRIBE], ids=["idle", "computing"])
def test_the_child_leaves_when_its_parent_is_killed(first: str, home: Path, recording: Path) -> None:
    """`kill -9` on the parent leaves nothing behind, also in the middle of a recording."""
    parent, child = run_parent(first, "time.sleep(60)", home, recording)
    parent.kill()
    parent.wait()
    seconds_until_gone(child)
    parent.communicate()


@needs_clips
def test_ctrl_c_prints_nothing_of_the_child_s(home: Path, recording: Path) -> None:
    """A terminal interrupts the whole job: the parent's own handling is all that it shows."""
    then = "try:\n    print('reading', flush=True)\n    list(windows)\nexcept KeyboardInterrupt:\n    print('stopped')"
    parent, child = run_parent(TRANSCRIBE, then, home, recording)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "reading\n"
    os.killpg(parent.pid, signal.SIGINT)
    out, errors = parent.communicate(timeout=60)
    assert (out, errors, parent.returncode) == ("stopped\n", "", 0)
    seconds_until_gone(child)


def test_a_parent_that_forgets_to_close_ends_cleanly(home: Path, short: Path) -> None:
    """Leaving the interpreter ends the child: no traceback, exit status 0."""
    parent, child = run_parent(PROBE, "", home, short)
    _, errors = parent.communicate(timeout=60)
    assert (errors, parent.returncode) == ("", 0)
    seconds_until_gone(child)
