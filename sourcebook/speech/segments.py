"""Make segments of the words that an engine heard in a piece of sound."""

from collections.abc import Iterator, Sequence

from sourcebook.model.transcript import Segment
from sourcebook.speech.engine import Heard, Word

_SENTENCE_ENDS = frozenset(".?!…。？！؟।")
_CLOSING = "\"'”’»)]"
_PAUSE = 0.6
"""Seconds: a longer pause ends a segment in the middle of a sentence."""
_FEWEST_WORDS = 3
"""A sentence of fewer words is likely to be the beginning of one: `Mr.`"""
_LONGEST = 15.0
"""Seconds: a segment ends after the word that would make it longer."""
_REPETITIVE = 2.4
"""Whisper's own threshold for the compression of a text that goes round in a circle."""
_IMPROBABLE = -1.0
"""Whisper's own threshold for words that the sound does not tell."""
_NO_SPEECH = 0.6
_UNSURE = -0.4
"""Where Whisper holds it likely that nobody speaks, words have to be more probable than this; those of people are."""


def is_invented(heard: Heard) -> bool:
    """Whether a text is better dropped: it repeats itself, or its words are improbable."""
    return (
        heard.compression_ratio > _REPETITIVE
        or not heard.average_log_probability >= _IMPROBABLE  # of sound that is no number, it is none either
        or (heard.no_speech_probability > _NO_SPEECH and heard.average_log_probability < _UNSURE)
    )


def segments_of(
    heard: Heard, start: float, end: float, *, origin: float, speech: Sequence[tuple[float, float]]
) -> Iterator[Segment]:
    """Yield the segments of a piece: sentences, or parts of them between pauses; in order, without overlap.

    Args:
        heard: what the engine made of the piece.
        start: the earliest moment at which one may begin, in seconds of the recording.
        end: where the piece ends.
        origin: where it begins.
        speech: where somebody speaks. The pause before a word is often counted to it, and is cut off again.
    """
    last = start
    for words in _parts(heard.words):
        text = " ".join("".join(word.text for word in words).replace("\0", "").split())
        if not text:
            continue
        begin, stop = _without_pauses(origin + words[0].start, origin + words[-1].end, speech)
        begin = min(max(begin, last), end)
        last = min(max(stop, begin), end)
        yield Segment(
            round(begin, 2),
            round(last, 2),
            text,
            round(heard.average_log_probability, 3),
            round(heard.no_speech_probability, 3),
        )


def _without_pauses(begin: float, end: float, speech: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the part of a time span in which somebody speaks; all of it where nobody does."""
    spoken = [(max(begin, start), min(end, stop)) for start, stop in speech if start < end and stop > begin]
    return (spoken[0][0], spoken[-1][1]) if spoken else (begin, end)


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
