"""Where speech is in a stretch of sound, and how it is cut into pieces that Whisper hears at once."""

from itertools import pairwise
from typing import NamedTuple

from faster_whisper.vad import VadOptions, get_speech_timestamps

from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.engine import LONGEST_PIECE
from sourcebook.speech.samples import Samples

_SILENCE_MS = 160
"""Pauses below this are those within a sentence."""
_SHORTEST_MS = 100
MARGIN = round(0.4 * SAMPLE_RATE)
"""Sound kept around speech: voice activity detection is late at soft beginnings."""
_LONGEST = round((LONGEST_PIECE - 1) * SAMPLE_RATE)
_LONGEST_PAUSE = 3 * SAMPLE_RATE
"""A longer pause ends a piece: in longer silence Whisper invents words."""


class Span(NamedTuple):
    """Some samples: from `start` up to `end`, which is not among them."""

    start: int
    end: int


def speech_in(samples: Samples) -> list[Span]:
    """Return where somebody speaks, by silero-vad: in order, apart from each other by pauses."""
    found = get_speech_timestamps(
        samples,
        VadOptions(min_silence_duration_ms=_SILENCE_MS, min_speech_duration_ms=_SHORTEST_MS, speech_pad_ms=0),
    )
    return [Span(span["start"], min(span["end"], len(samples))) for span in found]


def last_pause(speech: list[Span], *, after: int) -> int | None:
    """Return the middle of the last pause that begins behind a sample, None where there is none."""
    pauses = [(one.end + other.start) // 2 for one, other in pairwise(speech) if one.end >= after]
    return pauses[-1] if pauses else None


def pieces_of(speech: list[Span], length: int) -> list[Span]:
    """Return pieces that hold all the speech, each with a little silence around it and at most 29 seconds long.

    Args:
        speech: of a stretch of sound, as `speech_in` returns it.
        length: of that stretch, in samples.
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
    # Where two are close, each has its half of the pause.
    borders = [0, *((one.end + other.start) // 2 for one, other in pairwise(groups)), length]
    return [
        Span(max(group.start - MARGIN, low), min(group.end + MARGIN, high))
        for group, (low, high) in zip(groups, pairwise(borders), strict=True)
    ]


def _short(speech: list[Span]) -> list[Span]:
    """Cut speech without a pause into equal parts where it is longer than a piece: no engine hears a tiny rest."""
    most = _LONGEST - 2 * MARGIN
    parts: list[Span] = []
    for span in speech:
        count = -(-(span.end - span.start) // most)
        cuts = [span.start + (span.end - span.start) * number // count for number in range(count + 1)]
        parts += [Span(start, end) for start, end in pairwise(cuts)]
    return parts
