"""Join the words of an utterance into segments, and redact these."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from sourcebook.model.transcript import Segment
from sourcebook.redaction.documents import DocumentRedaction, redact_document
from sourcebook.redaction.redactor import Redactor
from sourcebook.speech.engine import Heard, Word

_SENTENCE_ENDS = frozenset(".?!…。？！؟।")
_CLOSING = "\"'”’»)]"
_PAUSE = 0.6
"""Seconds of the longest pause within a segment."""
_FEWEST_WORDS = 3
"""Words of the shortest sentence; fewer are likely an abbreviation: `Mr.`"""
_LONGEST = 15.0
"""Seconds of the longest segment."""
_MISPLACED = 0.5
"""Seconds by which an engine may place the border between two segments before or behind the pause that it is in."""
_REPETITIVE = 2.4
"""Compression ratio above which a text repeats itself; Whisper's threshold."""
_IMPROBABLE = -1.0
"""Average log probability below which words are guesses; Whisper's threshold."""
_NO_SPEECH = 0.6
"""Probability of silence above which words must be more probable than `_UNSURE`."""
_UNSURE = -0.4
"""Average log probability that words need where silence is likely; spoken words have it."""


def is_repetitive(heard: Heard) -> bool:
    """Return whether a text repeats itself, as an engine in a loop does."""
    return heard.compression_ratio > _REPETITIVE


def is_invented(heard: Heard) -> bool:
    """Return whether a text is to be dropped: it repeats itself, or its words are improbable."""
    return (
        is_repetitive(heard)
        or not heard.average_log_probability >= _IMPROBABLE  # sound with NaN gives NaN
        or (heard.no_speech_probability > _NO_SPEECH and heard.average_log_probability < _UNSURE)
    )


def segments_of(
    heard: Heard, start: float, end: float, *, origin: float, speech: Sequence[tuple[float, float]]
) -> Iterator[Segment]:
    """Yield the segments of an utterance: sentences, or parts of them between pauses; in order, without overlap.

    Args:
        heard: the engine's transcript of the utterance; its words count from the beginning of the utterance.
        start: earliest beginning of a segment, in seconds of the recording.
        end: end of the utterance in seconds.
        origin: beginning of the utterance in seconds.
        speech: spans of speech in seconds. Engines often count the pause before a word to it; it is cut off.
    """
    parts = [
        (text, words)
        for words in _parts([_spoken(word, origin, speech) for word in heard.words])
        if (text := " ".join("".join(word.text for word in words).replace("\0", "").split()))
    ]
    times = [_without_pauses(origin + words[0].start, origin + words[-1].end, speech) for _, words in parts]
    last: Word | None = None
    for place, (_, words) in enumerate(parts):
        if pause := _pause_between(last, words[0], speech, origin=origin, earliest=start):
            times[place] = (pause[1], max(times[place][1], pause[1]))
            if place:
                times[place - 1] = (times[place - 1][0], max(pause[0], times[place - 1][0]))
        last = words[-1]
    before = start
    for (text, _), (begin, stop) in zip(parts, times, strict=True):
        begin = min(max(begin, before), end)
        before = min(max(stop, begin), end)
        yield Segment(
            round(begin, 2),
            round(before, 2),
            text,
            round(heard.average_log_probability, 3),
            round(heard.no_speech_probability, 3),
        )


def _pause_between(
    last: Word | None, word: Word, speech: Sequence[tuple[float, float]], *, origin: float, earliest: float
) -> tuple[float, float] | None:
    """Return the pause that a segment begins behind, the nearest to its first word; None if there is none.

    Words are aligned to within half a second, and pauses are found to within a hundredth. Of both words more is spoken
    on their own side of the pause than on the other one.

    Args:
        last: word before; None for the first segment of an utterance.
        word: first word of the segment.
        speech: spans of speech in seconds.
        origin: beginning of the utterance in seconds, from which words count.
        earliest: earliest beginning of a segment in seconds.
    """
    border, stop = origin + word.start, origin + word.end
    first = earliest if last is None else origin + last.start
    found: list[tuple[float, float, float]] = []
    for (_, end), (loud, _) in pairwise([(-math.inf, -math.inf), *speech]):
        quiet = max(end, first) if last is None else end
        away = max(quiet - border, border - loud, 0.0)
        is_within = first <= quiet <= loud < stop and stop - loud > quiet - border
        if is_within and away <= _MISPLACED and (last is None or quiet - first > border - loud):
            found.append((away, quiet, loud))
    return min(found)[1:] if found else None


def _without_pauses(begin: float, end: float, speech: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the part of a time span with speech; the whole span if there is none."""
    spoken = [(max(begin, start), min(end, stop)) for start, stop in speech if start < end and stop > begin]
    return (spoken[0][0], spoken[-1][1]) if spoken else (begin, end)


def _spoken(word: Word, origin: float, speech: Sequence[tuple[float, float]]) -> Word:
    """Return a word without the long pauses that the engine counts to it: its time is where most of it is spoken."""
    begin, end = origin + word.start, origin + word.end
    spoken: list[tuple[float, float]] = []
    for start, stop in speech:
        part = (max(begin, start), min(end, stop))
        if part[0] < part[1]:
            is_near = spoken and part[0] - spoken[-1][1] <= _PAUSE
            spoken = [*spoken[:-1], (spoken[-1][0], part[1])] if is_near else [*spoken, part]
    if not spoken:
        return word
    begin, end = max(spoken, key=lambda part: part[1] - part[0])
    return Word(word.text, begin - origin, end - origin)


def _parts(words: Sequence[Word]) -> Iterator[list[Word]]:
    part: list[Word] = []
    for word in words:
        if part and (word.start - part[-1].end > _PAUSE or word.end - part[0].start > _LONGEST):
            yield part
            part = []
        part.append(word)
        if len(part) >= _FEWEST_WORDS and word.text.rstrip().rstrip(_CLOSING)[-1:] in _SENTENCE_ENDS:
            yield part
            part = []
    if part:
        yield part


def redacted_segments(redactor: Redactor, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return segments, redacted by their joined text.

    A value that two segments share, such as a number that is spoken across their border, is replaced in both.
    """
    joined, starts = "", []
    for segment in segments:
        starts.append(len(joined))
        joined += segment.text + " "
    redaction: DocumentRedaction = redact_document(redactor, joined)
    return tuple(
        replace(segment, text=redaction.passage(joined, segment.text, start, start + len(segment.text)).redacted.text)
        for segment, start in zip(segments, starts, strict=True)
    )
