"""Find speech in sound, and cut it into pieces that Whisper transcribes at once."""

from itertools import pairwise
from typing import NamedTuple

from faster_whisper.vad import VadOptions, get_speech_timestamps

from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.decoding import Samples
from sourcebook.speech.engine import LONGEST_PIECE

_SILENCE_MS = 160
"""Milliseconds of the longest pause within a sentence."""
_SHORTEST_MS = 100
"""Milliseconds of the shortest speech."""
MARGIN = round(0.4 * SAMPLE_RATE)
"""Samples kept before and after speech: voice activity detection is late at soft beginnings."""
_LONGEST = round((LONGEST_PIECE - 1) * SAMPLE_RATE)
"""Samples of the longest piece."""
_LONGEST_PAUSE = 3 * SAMPLE_RATE
"""Samples of the longest pause within a piece: in longer silence Whisper invents words."""


class Span(NamedTuple):
    """Samples from `start` up to, but not including, `end`."""

    start: int
    end: int


def speech_in(samples: Samples) -> list[Span]:
    """Return the spans of speech in order, with pauses between them, by silero-vad."""
    found = get_speech_timestamps(
        samples,
        VadOptions(min_silence_duration_ms=_SILENCE_MS, min_speech_duration_ms=_SHORTEST_MS, speech_pad_ms=0),
    )
    return [Span(span["start"], min(span["end"], len(samples))) for span in found]


def last_pause(speech: list[Span], *, after: int) -> int | None:
    """Return the middle of the last pause that begins after a sample; None if there is none."""
    pauses = [(one.end + other.start) // 2 for one, other in pairwise(speech) if one.end >= after]
    return pauses[-1] if pauses else None


def pieces_of(speech: list[Span], length: int) -> list[Span]:
    """Return pieces of at most 29 seconds that hold all the speech, each with a little silence around it.

    Args:
        speech: Spans of speech, as `speech_in` returns them.
        length: Length of the sound in samples.
    """
    groups: list[Span] = []
    for span in _short(speech):
        if (
            groups
            and span.end - groups[-1].start + 2 * MARGIN <= _LONGEST
            and span.start - groups[-1].end <= _LONGEST_PAUSE
        ):
            groups[-1] = Span(groups[-1].start, span.end)
        else:
            groups.append(span)
    if not groups:
        return []
    # Two close pieces share the pause between them.
    borders = [0, *((one.end + other.start) // 2 for one, other in pairwise(groups)), length]
    return [
        Span(max(group.start - MARGIN, low), min(group.end + MARGIN, high))
        for group, (low, high) in zip(groups, pairwise(borders), strict=True)
    ]


def _short(speech: list[Span]) -> list[Span]:
    """Cut speech that is longer than a piece into equal parts, so that no tiny rest remains."""
    most = _LONGEST - 2 * MARGIN
    parts: list[Span] = []
    for span in speech:
        count = -(-(span.end - span.start) // most)
        cuts = [span.start + (span.end - span.start) * number // count for number in range(count + 1)]
        parts += [Span(start, end) for start, end in pairwise(cuts)]
    return parts
