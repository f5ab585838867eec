"""Recordings transcribed window by window, with real engines."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

from sourcebook.model.transcript import SAMPLE_RATE, Language, Window
from sourcebook.speech import channels, transcriber
from sourcebook.speech.engine import Engine, Heard
from sourcebook.speech.pieces import Span
from sourcebook.speech.transcriber import transcribe
from tests.unit.speech.clips import (
    Samples,
    error_rate,
    needs_clips,
    silence,
    sound,
    text_of,
    without_speech,
    words,
)
from tests.unit.speech.conftest import Load

ENGLISH = ("jfk.flac", "picovoice_en.wav")
ORIGIN = 7.0
"""Seconds of silence before the first word of `speech`."""


def blocks(samples: Samples, seconds: float) -> Iterator[Samples]:
    size = round(seconds * SAMPLE_RATE)
    return (samples[np.newaxis, first : first + size] for first in range(0, len(samples), size))


def heard(
    samples: Samples,
    engine: Engine,
    *,
    start: float = 0.0,
    language: Language | None = None,
    is_set: bool = False,
    block: float = 10.0,
) -> list[Window]:
    """Transcribe what follows `start`; it comes in blocks of so many seconds."""
    rest = samples[round(start * SAMPLE_RATE) :]
    return list(transcribe(blocks(rest, block), engine, start=start, language=language, is_set=is_set))


def said(windows: list[Window]) -> str:
    return " ".join(text_of(window.segments) for window in windows)


def speech(times: int) -> tuple[Samples, str]:
    """Silence, then the English clips several times with pauses between them, and their words."""
    parts = [silence(ORIGIN)]
    for _ in range(times):
        for name in ENGLISH:
            parts += [sound(name), silence(0.7)]
    return np.concatenate(parts), " ".join(words(name) for name in ENGLISH * times)


@pytest.fixture
def fast(load: Load) -> Engine:
    return load("faster-whisper")


@pytest.fixture
def short_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcriber, "WINDOW", 20)


@dataclass(frozen=True)
class Unbroken:
    """A recording, its words, and its short windows as a run gives them that nothing breaks off."""

    samples: Samples
    text: str
    windows: list[Window]


@pytest.fixture(scope="module")
def unbroken(load: Load) -> Unbroken:
    samples, text = speech(2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transcriber, "WINDOW", 20)
        return Unbroken(samples, text, heard(samples, load("faster-whisper")))


@needs_clips
@pytest.mark.parametrize(("engine_name", "times"), [("openai-whisper", 1), ("faster-whisper", 2)])
def test_several_utterances_are_heard_with_their_times(engine: Engine, times: int) -> None:
    """All that is said, though an engine may end a piece early; each segment lies where its words are spoken."""
    samples, text = speech(times)
    (window,) = heard(samples, engine)
    assert window.end == len(samples) / SAMPLE_RATE
    assert window.language is not None
    assert window.language.code == "en"
    assert window.language.probability > 0.8
    assert error_rate(text, text_of(window.segments)) <= 0.05
    assert all(one.end <= other.start for one, other in pairwise(window.segments))
    assert window.segments[0].start == pytest.approx(ORIGIN, abs=0.6)
    second = ORIGIN + len(sound("jfk.flac")) / SAMPLE_RATE + 0.7
    quilter = next(segment for segment in window.segments if "quilter" in segment.text.lower())
    assert quilter.start == pytest.approx(second, abs=1.0)  # the clip begins with half a second of silence


@needs_clips
@pytest.mark.usefixtures("short_windows")
def test_windows_follow_each_other_and_can_be_resumed_behind_each(fast: Engine, unbroken: Unbroken) -> None:
    """Going on from the end of any window gives exactly the windows that an unbroken run gives.

    Windows depend on the sound alone: what is resumed comes in other blocks than the unbroken run.
    """
    samples, text, windows = unbroken.samples, unbroken.text, unbroken.windows
    assert len(windows) >= 3
    assert windows[-1].end == len(samples) / SAMPLE_RATE
    for before, after in pairwise(windows):
        assert before.end < after.end <= before.end + 20 + 10
        assert not before.segments or before.segments[-1].end <= before.end
        assert not after.segments or after.segments[0].start >= before.end
    assert error_rate(text, said(windows)) <= 0.05
    for number, window in enumerate(windows, start=1):
        assert heard(samples, fast, start=window.end, language=window.language, block=3.7) == windows[number:]


@needs_clips
@pytest.mark.usefixtures("short_windows")
def test_each_stretch_is_transcribed_in_its_own_language(fast: Engine) -> None:
    """A window in which nobody has spoken yet knows none; a sentence of French is French, an English one English."""
    french, english = sound("picovoice_fr.wav"), sound("picovoice_en.wav")
    samples = np.concatenate([silence(25), french, silence(0.2), english, silence(1)])
    windows = heard(samples, fast)
    assert windows[0].language is None
    for language, name in (("fr", "picovoice_fr.wav"), ("en", "picovoice_en.wav")):
        text = " ".join(one.text for window in windows for one in window.segments if one.language == language)
        assert error_rate(words(name), text, language) <= 0.25
    assert {one.language for window in windows for one in window.segments} == {"fr", "en"}
    assert windows[-1].language is not None
    assert windows[-1].language.code == "en"


@needs_clips
def test_a_speaker_on_each_channel_is_heard(fast: Engine) -> None:
    """Both speak at once, one of them faintly: each channel has its own words, and both are in order of time."""
    left, right = sound("jfk.flac"), sound("picovoice_en.wav")
    samples = np.zeros((2, len(left)), np.float32)
    samples[0], samples[1, -len(right) :] = left, right * 0.02
    (window,) = transcribe([samples], fast, start=0.0, language=None)
    for channel, name in ((1, "jfk.flac"), (2, "picovoice_en.wav")):
        text = " ".join(one.text for one in window.segments if one.channel == channel)
        assert error_rate(words(name), text) <= 0.05
    starts = [one.start for one in window.segments]
    assert starts == sorted(starts)


@needs_clips
def test_a_language_that_is_set_is_not_detected(fast: Engine) -> None:
    """It comes back as it was given, in ISO's code where Whisper has another."""
    javanese = Language("jv", 1.0)
    (window,) = heard(sound("picovoice_en.wav"), fast, language=javanese, is_set=True)
    assert window.language == javanese
    assert window.segments


class EarlyEnd:
    """An engine that ends each piece after the first third of it, as Whisper does at times."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.calls = 0

    def detect_languages(self, sounds: list[Samples]) -> list[dict[str, float]]:
        return self._engine.detect_languages(sounds)

    def transcribe(self, pieces: list[Samples], language: str, *, again: bool = False) -> list[Heard]:
        self.calls += 1
        found = self._engine.transcribe(pieces, language, again=again)
        if self.calls > 1:
            return found
        kept = [tuple(one.words[: len(one.words) // 3]) for one in found]
        return [replace(one, words=few, end=few[-1].end) for one, few in zip(found, kept, strict=True)]


@needs_clips
def test_what_follows_an_early_end_is_heard_again(fast: Engine) -> None:
    """Nothing is lost, in order, and nothing is heard twice."""
    samples, text = speech(1)
    early = EarlyEnd(fast)
    (window,) = heard(samples, early)  # type: ignore[arg-type]
    assert early.calls >= 2
    assert error_rate(text, text_of(window.segments)) <= 0.1
    assert all(one.end <= other.start for one, other in pairwise(window.segments))


@pytest.mark.parametrize("name", list(without_speech()))
def test_where_nobody_speaks_nothing_is_heard(fast: Engine, name: str) -> None:
    """Noise, tones, music and silence give a window without text, and no language."""
    samples = without_speech()[name]
    assert heard(samples, fast) == [Window(len(samples) / SAMPLE_RATE, None, ())]


@needs_clips
def test_a_second_of_real_silence_has_no_words(engine: Engine) -> None:
    """A recording of a quiet room is no speech."""
    (window,) = heard(sound("silent_1s.wav"), engine)
    assert (window.language, window.segments) == (None, ())


def test_an_engine_gives_away_what_it_invents(fast: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a tone taken for speech, its text would still be dropped."""
    samples = without_speech()["tone"]
    monkeypatch.setattr(channels, "speech_in", lambda sound: [Span(0, len(sound))])
    (window,) = heard(samples, fast, language=Language("en", 1.0), is_set=True)
    assert window.segments == ()


def test_a_recording_without_samples_has_no_windows(fast: Engine) -> None:
    """Also one that goes on at its end."""
    assert heard(silence(0), fast) == []
    assert heard(silence(5), fast, start=5.0) == []
