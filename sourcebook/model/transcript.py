"""Recordings and their transcripts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sourcebook.model.document import JsonValue

SAMPLE_RATE = 16_000
"""Samples per second of the sound that engines receive: one channel, float32 from -1 to 1."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of speech as an engine returned it: a sentence or a part of one."""

    start: float
    """Start in seconds from the beginning of the recording."""
    end: float
    text: str
    """Spoken text without surrounding white space; never empty."""
    average_log_probability: float
    """Mean natural logarithm of the token probabilities: 0 is certain, below -1 doubtful."""
    no_speech_probability: float
    """Probability of silence according to the engine, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Language:
    """The spoken language."""

    code: str
    """ISO 639-1 code, or Whisper's own code for languages without one."""
    probability: float
    """Probability from 0 to 1; 1 where the configuration names the language."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The sound of a file, as its container describes it."""

    sound_sha256: bytes
    """SHA-256 of the encoded sound, independent of file name, tags and container."""
    duration: float
    """Duration in seconds."""
    title: str | None
    """Title from the tags of the file; None without one."""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    """duration_seconds, container, codec, sample_rate, channels, bit_rate; artist, album and date from the tags."""


@dataclass(frozen=True, slots=True)
class Window:
    """A finished part of a transcript; the windows of a recording are adjacent."""

    end: float
    """End in seconds from the beginning of the recording, where the next window begins."""
    language: Language | None
    """Detected language; None until the first speech."""
    segments: tuple[Segment, ...]
    """Segments in order of time, without overlap."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The transcript that the document of a recording is made from."""

    title: str | None
    """Title from the tags of the recording; None without one."""
    language: str | None
    """Language code; None for a recording without speech."""
    segments: tuple[Segment, ...]
