"""Whether the channels of a recording hold different speakers."""

from collections.abc import Callable

import numpy as np
import pytest

from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.channels import tracks_of
from tests.unit.speech.clips import Samples, needs_clips, silence, sound, without_speech

LENGTH = 20 * SAMPLE_RATE


def placed(name: str, second: float) -> Samples:
    """A clip in twenty seconds of silence."""
    samples = silence(LENGTH / SAMPLE_RATE)
    clip, first = sound(name), round(second * SAMPLE_RATE)
    samples[first : first + len(clip)] = clip
    return samples


def in_turn() -> Samples:
    return np.stack([placed("jfk.flac", 0), placed("picovoice_en.wav", 11)])


def at_once() -> Samples:
    return np.stack([placed("jfk.flac", 0), placed("picovoice_en.wav", 3)])


def crosstalk(part: float) -> Samples:
    left, right = in_turn()
    return np.stack([left + part * right, right + part * left]).astype(np.float32)


def hiss() -> Samples:
    return np.random.default_rng(0).normal(size=LENGTH).astype(np.float32)


def speaker() -> Samples:
    return placed("jfk.flac", 2)


APART: dict[str, Callable[[], Samples]] = {
    "in turn": in_turn,
    "at once": at_once,
    "one faint": lambda: in_turn() * np.array([[1], [0.02]], np.float32),
    "each faint in the other": lambda: crosstalk(0.05),
}
ONE_SOUND: dict[str, Callable[[], Samples]] = {
    "the same": lambda: np.stack([speaker(), speaker()]),
    "quieter": lambda: np.stack([speaker(), 0.1 * speaker()]),
    "later": lambda: np.stack([speaker(), np.roll(speaker(), 4800)]),
    "with hiss": lambda: np.stack([speaker(), 0.3 * speaker() + 0.01 * hiss()]),
    "panned": lambda: crosstalk(0.5),
    "voice over music": lambda: np.stack([speaker() + 0.2 * without_speech()[name] for name in ("band", "melody")]),
    "one without speech": lambda: np.stack([speaker(), 0.01 * hiss()]),
    "music": lambda: np.stack([without_speech()["band"], without_speech()["melody"]]),
    "silence": lambda: np.zeros((2, LENGTH), np.float32),
    "nothing": lambda: np.zeros((2, 0), np.float32),
}


@needs_clips
@pytest.mark.parametrize("name", list(APART))
def test_two_speakers_are_two_tracks(name: str) -> None:
    """Each track has the speech of its own channel, and nothing of the other's."""
    sound = APART[name]()
    left, right = tracks_of(sound)
    assert (left.channel, right.channel) == (1, 2)
    assert left.speech
    assert right.speech
    border = 3 if name == "at once" else 11
    assert all(span.end <= 11.1 * SAMPLE_RATE for span in left.speech)
    assert all(span.start >= (border - 0.1) * SAMPLE_RATE for span in right.speech)


@needs_clips
@pytest.mark.parametrize("name", list(ONE_SOUND))
def test_one_sound_is_one_track(name: str) -> None:
    """Speech that is on both channels is not doubled; the mix is heard."""
    sound = ONE_SOUND[name]()
    (track,) = tracks_of(sound)
    assert track.channel is None
    assert np.allclose(track.samples, sound.mean(axis=0))


def test_one_channel_is_one_track() -> None:
    """Its samples are as they came."""
    samples = 0.01 * hiss()
    (track,) = tracks_of(samples[np.newaxis])
    assert track.channel is None
    assert np.array_equal(track.samples, samples)


@needs_clips
def test_an_inverted_channel_does_not_silence_the_other() -> None:
    """The mix of both would be silence: one of them is heard alone."""
    (track,) = tracks_of(np.stack([speaker(), -0.95 * speaker()]))
    assert track.channel is None
    assert np.array_equal(track.samples, speaker())
    assert track.speech


@needs_clips
def test_speech_far_below_the_usual_loudness_is_found() -> None:
    """At -70 dB voice activity detection finds none until it is amplified; amplified silence stays silence."""
    faint = (speaker() / np.abs(speaker()).max() * 0.0003).astype(np.float32)
    (track,) = tracks_of(faint[np.newaxis])
    assert track.speech
    (track,) = tracks_of(0.0003 * hiss()[np.newaxis])
    assert track.speech == []
