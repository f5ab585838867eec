"""Recordings made of clips whose words are known: sparse speech, several languages, a speaker on each channel."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np
from numpy.typing import NDArray

from sourcebook.model.transcript import SAMPLE_RATE

Samples = NDArray[np.float32]
_FRAME = SAMPLE_RATE // 100
_AUDIBLE = 10 ** (-25 / 20)
"""Loudness, as a part of the loudest frame's, from which a frame belongs to a phrase."""
_ABOVE_NOISE = 4.0
"""Loudness, as a multiple of the clip's noise, that such a frame has at least; the noise is its tenth percentile."""
_PAUSE_FRAMES = 30
"""Frames of the longest pause within a phrase."""
_FEWEST_FRAMES = 50
"""Frames of the shortest phrase; what is shorter is a breath or a click."""
_HISS = 0.0005


@dataclass(frozen=True)
class Utterance:
    """A phrase of a clip, without the silence around it."""

    samples: Samples
    text: str
    """Text of the clip, with its first phrase; empty with the others."""
    language: str


@dataclass(frozen=True)
class Scene:
    """A recording and what is said in it."""

    samples: Samples
    """Sound, (channels, n)."""
    utterances: tuple[Utterance, ...]
    starts: tuple[float, ...]
    """Second at which each utterance begins."""

    @property
    def text(self) -> str:
        """Texts of the utterances, in order."""
        return " ".join(one.text for one in self.utterances)


def phrases(samples: Samples, text: str, language: str) -> list[Utterance]:
    """Return the parts of a clip between pauses of more than 0.3 s; the first one has the text of the whole clip."""
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    loudness = np.sqrt(np.square(frames).mean(axis=1))
    audible = np.flatnonzero(loudness > max(_AUDIBLE * loudness.max(), _ABOVE_NOISE * np.percentile(loudness, 10)))
    parts = np.split(audible, np.flatnonzero(np.diff(audible) > _PAUSE_FRAMES) + 1)
    cut = [samples[part[0] * _FRAME : (part[-1] + 1) * _FRAME] for part in parts if len(part) >= _FEWEST_FRAMES]
    return [Utterance(part, text if number == 0 else "", language) for number, part in enumerate(cut)]


def in_turn(utterances: Sequence[Utterance], count: int, pauses: Sequence[float]) -> Scene:
    """Return utterances in turn over a faint hiss, with pauses of so many seconds in turn before each."""
    chosen = list(islice(cycle(utterances), count))
    random = np.random.default_rng(0)
    parts: list[Samples] = []
    starts: list[float] = []
    position = 0
    for one, pause in zip(chosen, cycle(pauses), strict=False):
        parts += [np.zeros(round(pause * SAMPLE_RATE), np.float32), one.samples]
        starts.append((position + len(parts[-2])) / SAMPLE_RATE)
        position += len(parts[-2]) + len(one.samples)
    sound = np.concatenate([*parts, np.zeros(SAMPLE_RATE, np.float32)])
    sound = sound + random.normal(size=len(sound)).astype(np.float32) * _HISS
    return Scene(sound[np.newaxis].astype(np.float32), tuple(chosen), tuple(starts))


def two_channels(left: Samples, right: Samples) -> Samples:
    """Return a stereo recording, (2, n), as long as the longer channel."""
    length = max(len(left), len(right))
    return np.stack([np.pad(one, (0, length - len(one))) for one in (left, right)])
