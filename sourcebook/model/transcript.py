"""Recordings and their transcripts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

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
    language: str | None = None
    """Code of the language it was transcribed in, as in `Language`; None in transcripts of earlier versions."""
    language_probability: float = 0.0
    """Probability of this language, from 0 to 1."""
    channel: int | None = None
    """1 for the left and 2 for the right channel, where they hold different speakers; otherwise None."""


@dataclass(frozen=True, slots=True)
class Language:
    """The spoken language."""

    code: str
    """ISO 639-1 code, or Whisper's own code for languages without one."""
    probability: float
    """Probability from 0 to 1; 1 where the configuration names the language."""


class Chapter(NamedTuple):
    """A chapter of a recording, as of a podcast or an audio book."""

    start: float
    """Start in seconds from the beginning of the recording."""
    title: str
    """Title on one line; never empty."""


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
    """duration_seconds, container, codec, sample_rate, channels, bit_rate; artist, album and date from the tags;
    sound_tracks, sound_track, subtitle_tracks and chapters where there are any."""

    @property
    def track(self) -> int | None:
        """Number of the track that is transcribed, from 1; None where there is one only."""
        track = self.metadata.get("sound_track")
        return track if isinstance(track, int) else None

    @property
    def chapters(self) -> tuple[Chapter, ...]:
        """Chapters that the container names, in order of time."""
        return chapters_of(self.metadata.get("chapters"))


@dataclass(frozen=True, slots=True)
class Window:
    """A finished part of a transcript; the windows of a recording are adjacent."""

    end: float
    """End in seconds from the beginning of the recording, where the next window begins."""
    language: Language | None
    """Language of the last speech up to here; None until the first speech."""
    segments: tuple[Segment, ...]
    """Segments in order of time; those of one channel do not overlap."""
    seconds: float = 0.0
    """Time that it took, with the loading of the engine before the first one."""
    processor_seconds: float = 0.0
    """Processor time that it took, of all threads."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The transcript that the document of a recording is made from."""

    title: str | None
    """Title from the tags of the recording; None without one."""
    language: str | None
    """Language code; None for a recording without speech."""
    segments: tuple[Segment, ...]
    chapters: tuple[Chapter, ...] = ()


def chapters_of(listed: JsonValue) -> tuple[Chapter, ...]:
    """Return the chapters in the metadata of a recording: objects with `start_seconds` and `title`."""
    found = []
    for one in listed if isinstance(listed, list) else []:
        start, title = (one.get("start_seconds"), one.get("title")) if isinstance(one, dict) else (None, None)
        if isinstance(start, int | float) and isinstance(title, str) and title:
            found.append(Chapter(float(start), title))
    return tuple(found)


def most_spoken(segments: Iterable[Segment]) -> Language | None:
    """Return the language of most speech, by seconds and probability, and its mean probability; None without any."""
    seconds: defaultdict[str, float] = defaultdict(float)
    weights: defaultdict[str, float] = defaultdict(float)
    for segment in segments:
        if segment.language is not None:
            length = max(segment.end - segment.start, 0.01)
            seconds[segment.language] += length
            weights[segment.language] += length * segment.language_probability
    if not seconds:
        return None
    code = max(sorted(seconds), key=lambda code: (weights[code], seconds[code]))
    return Language(code, round(weights[code] / seconds[code], 4))
