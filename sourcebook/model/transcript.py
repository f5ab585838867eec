"""What is known of a recording, and what was said in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sourcebook.model.document import JsonValue

SAMPLE_RATE = 16_000
"""Samples a second of the sound that engines are given: one channel, float32 from -1 to 1."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of speech that an engine gave as one, a sentence or a part of one."""

    start: float
    """Seconds from the beginning of the recording."""
    end: float
    text: str
    """Without white space around it; never empty."""
    average_log_probability: float
    """Of its tokens, natural logarithm: 0 is certain, below -1 doubtful."""
    no_speech_probability: float
    """How likely the engine holds it that nobody speaks, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Language:
    """The language spoken."""

    code: str
    """ISO 639-1, or Whisper's own code where that has none."""
    probability: float
    """From 0 to 1; 1 where the configuration names the language."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A file's sound, as its container describes it."""

    sound_sha256: bytes
    """Of the encoded sound alone: the same under another name, with other tags, or in another container."""
    duration: float
    """Seconds."""
    title: str | None
    """From its tags."""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    """duration_seconds, container, codec, sample_rate, channels, bit_rate; artist, album, date where its tags say."""


@dataclass(frozen=True, slots=True)
class Window:
    """A finished part of a transcript. Windows follow each other without gap."""

    end: float
    """Seconds from the beginning of the recording up to which everything was heard; where the next one begins."""
    language: Language | None
    """None while nobody has spoken."""
    segments: tuple[Segment, ...]
    """In order, without overlap."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said in a recording, as its document is made of it."""

    title: str | None
    """From the recording's tags."""
    language: str | None
    """None where nobody speaks."""
    segments: tuple[Segment, ...]
