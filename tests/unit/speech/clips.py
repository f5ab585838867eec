"""Real recordings whose words are known, and sounds in which nobody speaks."""

import json
import warnings
from functools import cache

import jiwer
import numpy as np
import pytest
from faster_whisper.audio import decode_audio
from numpy.typing import NDArray
from whisper.normalizers import BasicTextNormalizer, EnglishTextNormalizer

from sourcebook.model.transcript import SAMPLE_RATE, Segment
from tests.checkout import SHARED_DATA

Samples = NDArray[np.float32]

CLIPS = SHARED_DATA / "speech"
needs_clips = pytest.mark.skipif(not CLIPS.is_dir(), reason=f"the shared data is not at {CLIPS}")


@cache
def sound(name: str) -> Samples:
    """Return a clip as engines hear it, decoded by another library than the product's."""
    samples: Samples = decode_audio(str(CLIPS / name), sampling_rate=SAMPLE_RATE)
    return samples


@cache
def words(name: str) -> str:
    """Return what is said in a clip."""
    known = json.loads((CLIPS / "transcripts.json").read_text(encoding="utf-8"))
    return next(str(clip["text"]) for clip in known if clip["file"] == name)


def normal(text: str, language: str = "en") -> str:
    """Return a text as Whisper's authors compare it: without case and punctuation."""
    normalised: str = _normalizer(language)(text)
    return normalised


@cache
def _normalizer(language: str) -> BasicTextNormalizer | EnglishTextNormalizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves the file of its spellings open
        return EnglishTextNormalizer() if language == "en" else BasicTextNormalizer()


def error_rate(reference: str, text: str, language: str = "en") -> float:
    """Return wrong, missing and invented words for each word that is spoken."""
    return float(jiwer.wer(normal(reference, language), normal(text, language)))


def text_of(segments: tuple[Segment, ...]) -> str:
    """Return what segments say, on one line."""
    return " ".join(segment.text for segment in segments)


def silence(seconds: float) -> Samples:
    """Return nothing at all."""
    return np.zeros(round(seconds * SAMPLE_RATE), np.float32)


def without_speech() -> dict[str, Samples]:
    """Return twenty seconds each of sounds in which nobody speaks, by name."""
    random, length = np.random.default_rng(0), 20 * SAMPLE_RATE
    time = np.arange(length) / SAMPLE_RATE
    beat = SAMPLE_RATE // 2
    within = np.arange(beat) / SAMPLE_RATE
    melody = np.concatenate(
        [
            np.sum([np.sin(2 * np.pi * note * harmonic * within) / harmonic for harmonic in range(1, 6)], axis=0)
            * np.exp(-4 * within)
            for note in random.choice([261.6, 293.7, 329.6, 349.2, 392.0, 440.0, 493.9, 523.3], length // beat)
        ]
    )
    drums = np.tile(random.normal(size=beat) * np.exp(-np.arange(beat) / 500), length // beat)
    chord = np.sum([np.sin(2 * np.pi * note * time) for note in (220.0, 277.2, 329.6)], axis=0)
    sounds = {
        "silence": np.zeros(length),
        "hiss": random.normal(size=length) * 0.01,
        "noise": random.normal(size=length),
        "tone": np.sin(2 * np.pi * 440 * time),
        "chord": chord,
        "melody": melody,
        "band": melody + drums,
        "clicks": (random.random(length) > 0.9995) * 1.0,
    }
    return {
        name: (sound / max(1.0, 3 * float(np.abs(sound).max()))).astype(np.float32) for name, sound in sounds.items()
    }
