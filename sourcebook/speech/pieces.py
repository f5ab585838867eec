"""Find speech in sound, and join it to pieces that Whisper transcribes at once."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple, Self

import numpy as np
from faster_whisper.vad import VadOptions, get_speech_timestamps
from numpy.typing import NDArray

from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.decoding import Samples
from sourcebook.speech.engine import LONGEST_PIECE

_SILENCE_MS = 160
"""Milliseconds of the longest pause within a sentence."""
_SILENCE = _SILENCE_MS * SAMPLE_RATE // 1000
_FRAME = SAMPLE_RATE // 100
"""Samples of a frame, whose loudness is one number."""
_FEW = 5
"""Fewest frames further before speech that tell what is heard behind it; otherwise the faintest one before it does."""
_ABOVE_NOISE = 8.0
"""Decibels above what is heard behind speech from which a frame may be its beginning."""
_AROUND = 3 * SAMPLE_RATE
"""Samples before speech that tell what is heard in the background."""
_MANY = 50
"""Fewest frames of these whose loudest tenth counts."""
_ABOVE_MUSIC = 4.0
"""Decibels above that tenth from which a frame may be the beginning of speech."""
_BELOW_SPEECH = 40.0
"""Decibels below the loudest frame of speech that its beginning may have."""
_STOP = 6
"""Frames of the longest silence within a beginning, as before a plosive."""
_SHORTEST_MS = 100
"""Milliseconds of the shortest speech."""
MARGIN = round(0.4 * SAMPLE_RATE)
"""Samples kept before and after speech: voice activity detection is late at soft beginnings."""
_LONGEST = round((LONGEST_PIECE - 1) * SAMPLE_RATE)
"""Samples of the longest piece."""
_LONGEST_PAUSE = 3 * SAMPLE_RATE
"""Samples of the longest pause within an utterance: in longer silence Whisper invents words."""


class Span(NamedTuple):
    """Samples from `start` up to, but not including, `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Sound that Whisper transcribes at once: utterances in order, joined without the silence between them."""

    utterances: tuple[Span, ...]

    def __len__(self) -> int:
        """Return the samples of the joined sound."""
        return sum(span.end - span.start for span in self.utterances)

    def sound_in(self, samples: Samples) -> Samples:
        """Return the joined sound.

        Args:
            samples: the sound that the utterances are in, one channel.
        """
        return np.concatenate([samples[span.start : span.end] for span in self.utterances])

    def offsets(self) -> list[int]:
        """Return the sample of the joined sound at which each utterance begins."""
        return [0, *accumulate(span.end - span.start for span in self.utterances)][:-1]

    def position(self, offset: int) -> int:
        """Return the sample of the whole sound at a sample of the joined sound."""
        place = max((begin, number) for number, begin in enumerate(self.offsets()) if begin <= offset)
        return self.utterances[place[1]].start + offset - place[0]

    def alone(self) -> "list[Self]":
        """Return each utterance as a piece of its own."""
        return [type(self)((span,)) for span in self.utterances]


def speech_in(samples: Samples) -> list[Span]:
    """Return the spans of speech in order, with pauses between them, by silero-vad."""
    found = get_speech_timestamps(
        samples,
        VadOptions(min_silence_duration_ms=_SILENCE_MS, min_speech_duration_ms=_SHORTEST_MS, speech_pad_ms=0),
    )
    return [Span(span["start"], min(span["end"], len(samples))) for span in found]


def from_onsets(samples: Samples, speech: Sequence[Span]) -> list[Span]:
    """Return the spans from where they become audible: after long silence, detection is up to 0.3 s late.

    They are for times alone. What an engine hears is cut by the detected spans: cut by these it made more mistakes.
    """
    spans: list[Span] = []
    for span in speech:
        earliest = max(span.start - MARGIN, spans[-1].end + _SILENCE if spans else 0)
        begin = span.start - max(span.start - earliest, 0) // _FRAME * _FRAME
        before = _loudness(samples[begin : span.start])
        if len(before):
            around = _loudness(samples[max(begin - _AROUND, spans[-1].end + _SILENCE if spans else 0) : begin])
            quiet = around[-(MARGIN // _FRAME) :]
            noise = float(np.median(quiet)) if len(quiet) >= _FEW else float(before.min())
            if len(around) >= _MANY:  # music rises and falls: what it often reaches is no beginning of speech
                noise = max(noise, float(np.percentile(around, 90)) + _ABOVE_MUSIC - _ABOVE_NOISE)
            least = max(noise + _ABOVE_NOISE, float(_loudness(samples[span.start : span.end]).max()) - _BELOW_SPEECH)
            audible = np.flatnonzero(before > least)[::-1]
            onset = len(before)
            for frame in audible:
                if onset - frame > _STOP:
                    break
                onset = int(frame)
            begin += onset * _FRAME
        spans.append(Span(begin, span.end))
    return spans


def _loudness(samples: Samples) -> NDArray[np.float64]:
    """Return the loudness of each whole frame in decibels."""
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    return np.asarray(10 * np.log10(np.square(frames, dtype=np.float64).mean(axis=1) + 1e-12))


def merged(tracks: Iterable[Sequence[Span]]) -> list[Span]:
    """Return the spans in which anybody speaks; pauses that are shorter than one within a sentence do not count."""
    spans: list[Span] = []
    for span in sorted(span for track in tracks for span in track):
        if spans and span.start - spans[-1].end < _SILENCE:
            spans[-1] = Span(spans[-1].start, max(spans[-1].end, span.end))
        else:
            spans.append(span)
    return spans


def last_pause(speech: list[Span], *, after: int) -> int | None:
    """Return the middle of the last pause that begins after a sample; None if there is none."""
    pauses = [(one.end + other.start) // 2 for one, other in pairwise(speech) if one.end >= after]
    return pauses[-1] if pauses else None


def utterances_of(speech: Sequence[Span], length: int, breaks: Container[int] = ()) -> list[Span]:
    """Return utterances of at most 29 seconds that hold all the speech, each with a little silence around it.

    Args:
        speech: spans of speech, as `speech_in` returns them.
        length: length of the sound in samples.
        breaks: starts of spans that begin another utterance, however short the pause before them is.
    """
    groups: list[Span] = []
    for span in _short(speech):
        if (
            groups
            and span.end - groups[-1].start + 2 * MARGIN <= _LONGEST
            and span.start - groups[-1].end <= _LONGEST_PAUSE
            and span.start not in breaks
        ):
            groups[-1] = Span(groups[-1].start, span.end)
        else:
            groups.append(span)
    if not groups:
        return []
    # Two close utterances share the pause between them.
    borders = [0, *((one.end + other.start) // 2 for one, other in pairwise(groups)), length]
    return [
        Span(max(group.start - MARGIN, low), min(group.end + MARGIN, high))
        for group, (low, high) in zip(groups, pairwise(borders), strict=True)
    ]


def joined(utterances: Iterable[Span]) -> list[Piece]:
    """Return pieces of at most 29 seconds that hold utterances in order.

    A pass of Whisper takes as long for a second of speech as for 30, so that short utterances share one.
    """
    pieces: list[Piece] = []
    for span in utterances:
        if pieces and len(pieces[-1]) + span.end - span.start <= _LONGEST:
            pieces[-1] = Piece((*pieces[-1].utterances, span))
        else:
            pieces.append(Piece((span,)))
    return pieces


def _short(speech: Sequence[Span]) -> list[Span]:
    """Cut speech that is longer than a piece into equal parts, so that no tiny rest remains."""
    most = _LONGEST - 2 * MARGIN
    parts: list[Span] = []
    for span in speech:
        count = -(-(span.end - span.start) // most)
        cuts = [span.start + (span.end - span.start) * number // count for number in range(count + 1)]
        parts += [Span(start, end) for start, end in pairwise(cuts)]
    return parts
