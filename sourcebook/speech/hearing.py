"""Transcribe the utterances of one language: joined to pieces, and again where the engine fails."""

import zlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.decoding import Samples
from sourcebook.speech.engine import Engine, Heard, Word
from sourcebook.speech.pieces import MARGIN, Piece, Span, joined
from sourcebook.speech.segments import is_invented, is_repetitive

_LEAST_LEFT = round(0.4 * SAMPLE_RATE)
"""Samples of speech after an early end that are worth another transcription."""
_LEAST_UNTOLD = 2 * SAMPLE_RATE
"""Samples of speech after the last word that are worth another one, where the engine claims to have heard them."""
_LEAST_HEARD = SAMPLE_RATE
"""Samples that an engine must transcribe of a piece; otherwise it would repeat itself forever."""

_LEAST_MISSED = SAMPLE_RATE
"""Samples of speech without a word, in an utterance among others, that are worth a transcription of their own."""
_LEAST_PART = 2 * SAMPLE_RATE
"""Samples of the shortest part of an utterance that is heard by itself where the text of the whole repeats itself."""
_TOUCHED = round(0.1 * SAMPLE_RATE)
"""Samples by which the word before a pause may reach into the speech behind it, which alone make no word of that."""
_PAUSE = round(0.4 * SAMPLE_RATE)
"""Samples of the shortest pause between such parts."""


class Utterance(NamedTuple):
    """An utterance and what was heard of it."""

    span: Span
    heard: Heard
    """Its words count from the beginning of the utterance; the other numbers are those of its piece."""


def hear(
    engine: Engine, samples: Samples, utterances: Sequence[Span], speech: Sequence[Span], code: str
) -> list[Utterance]:
    """Return what is said in utterances, in order; without those whose words are invented.

    Args:
        engine: engine that transcribes them.
        samples: sound that holds the utterances, one channel.
        utterances: spans in order, without overlap.
        speech: spans of speech in the sound.
        code: whisper's code of their language.
    """
    found: list[Utterance] = []
    pieces = joined(utterances)
    while pieces:
        heard = _with_second_tries(engine, [piece.sound_in(samples) for piece in pieces], pieces, speech, code)
        left: list[Piece] = []
        rests: list[Span] = []
        for piece, one in zip(pieces, heard, strict=True):
            parts = _parted(piece, one, speech)
            is_wrong = any(is_invented(part.heard) for part in parts)
            if is_wrong and len(parts) > 1:
                left += piece.alone()  # one of them may be noise, and the others speech
                continue
            if smaller := _divided(piece, one, speech):
                left += smaller  # people do repeat themselves, and an engine in a loop does not do so in short parts
                continue
            found += [] if is_wrong else parts
            rest = _rest(piece, one, speech)
            left += _missed(parts, rest, speech)
            rests += rest
        pieces = [*left, *joined(rests)]
    return sorted(found, key=lambda utterance: utterance.span)


def _with_second_tries(
    engine: Engine, sounds: Sequence[Samples], pieces: Sequence[Piece], speech: Sequence[Span], code: str
) -> list[Heard]:
    """Transcribe pieces; retry those of one utterance whose text would be dropped, unless they are heard in parts."""
    heard = engine.transcribe(sounds, code)
    doubtful = [
        place
        for place, (piece, one) in enumerate(zip(pieces, heard, strict=True))
        if is_invented(one) and len(piece.utterances) == 1 and not _divided(piece, one, speech)
    ]
    if doubtful:
        again = engine.transcribe([sounds[place] for place in doubtful], code, again=True)
        for place, other in zip(doubtful, again, strict=True):
            heard[place] = other
    return heard


def _divided(piece: Piece, heard: Heard, speech: Sequence[Span]) -> list[Piece]:
    """Return the parts between pauses of an utterance whose text repeats itself; nothing if it is one part."""
    if len(piece.utterances) > 1 or not is_repetitive(heard):
        return []
    (whole,) = piece.utterances
    within = [span for span in speech if span.end > whole.start and span.start < whole.end]
    cuts = [whole.start]
    for one, other in pairwise(within):
        middle = (one.end + other.start) // 2
        if other.start - one.end >= _PAUSE and min(middle - cuts[-1], whole.end - middle) >= _LEAST_PART:
            cuts.append(middle)
    return [Piece((Span(start, end),)) for start, end in pairwise([*cuts, whole.end])] if len(cuts) > 1 else []


def _missed(parts: Sequence[Utterance], rest: Sequence[Span], speech: Sequence[Span]) -> list[Piece]:
    """Return the utterances among others that nothing was heard of; those of the rest are heard again anyway."""
    if len(parts) == 1:
        return []
    end = rest[0].start if rest else parts[-1].span.end
    return [
        Piece((span,))
        for span, heard in parts
        if not heard.words and span.end <= end and _speech_within(span, speech) >= _LEAST_MISSED
    ]


def _speech_within(utterance: Span, speech: Sequence[Span]) -> int:
    """Return the samples of speech in an utterance."""
    return sum(max(min(span.end, utterance.end) - max(span.start, utterance.start), 0) for span in speech)


def _rest(piece: Piece, heard: Heard, speech: Sequence[Span]) -> list[Span]:
    """Return the rest of a piece after the engine's early end, told or not; nothing if it holds no speech."""
    offset = min(round(heard.end * SAMPLE_RATE), len(piece))
    last = round(heard.words[-1].end * SAMPLE_RATE) if heard.words else 0
    if last >= _LEAST_HEARD:
        within = _shifted(piece, speech)
        untold = [span for span in within if last <= span.start + _TOUCHED and span.start < offset]
        is_cut = bool(untold) and offset < untold[-1].end  # its beginning was taken for silence
        missed = [span for span in untold if last <= span.start]
        if sum(min(span.end, offset) - span.start for span in missed) >= _LEAST_UNTOLD:
            offset = _before(missed[0], within, last)
        elif is_cut:
            offset = _before(untold[-1], within, last)
    if not _LEAST_HEARD <= offset < len(piece):
        return []
    end = piece.position(offset)
    rests: list[Span] = []
    total = 0
    for utterance in piece.utterances:
        left = [
            Span(max(span.start, utterance.start, end), min(span.end, utterance.end))
            for span in speech
            if span.end > max(utterance.start, end) and span.start < utterance.end
        ]
        spoken = sum(span.end - span.start for span in left)
        # The last sound of a word that was heard would draw the first word of the next utterance to it.
        is_cut = utterance.start < end
        if left and utterance.end > end and not (is_cut and spoken < _LEAST_LEFT):
            total += spoken
            rests.append(Span(max(utterance.start, end, left[0].start - MARGIN), utterance.end))
    return rests if total >= _LEAST_LEFT else []


def _before(span: Span, within: Sequence[Span], last: int) -> int:
    """Return the sample at which the silence before a span of speech begins, or `MARGIN` before it."""
    heard = last if last <= span.start else _LEAST_HEARD  # a word that ends later touches the span only
    return max([heard, span.start - MARGIN, *(one.end for one in within if one.end <= span.start)])


def _shifted(piece: Piece, speech: Sequence[Span]) -> list[Span]:
    """Return the speech in a piece, in samples of the joined sound."""
    return [
        Span(max(span.start, one.start) - one.start + offset, min(span.end, one.end) - one.start + offset)
        for one, offset in zip(piece.utterances, piece.offsets(), strict=True)
        for span in speech
        if span.end > one.start and span.start < one.end
    ]


def _parted(piece: Piece, heard: Heard, speech: Sequence[Span]) -> list[Utterance]:
    """Return each utterance of a piece with its words and their own repetitiveness: people do say a sentence twice."""
    if len(piece.utterances) == 1:
        return [Utterance(piece.utterances[0], heard)]
    offsets = piece.offsets()
    spoken = [_spoken(span, offset, speech) for span, offset in zip(piece.utterances, offsets, strict=True)]
    owner = 0
    words: list[list[Word]] = [[] for _ in offsets]
    for word in heard.words:
        owner = max(owner, _owner(word, spoken))
        origin, length = offsets[owner] / SAMPLE_RATE, _seconds(piece.utterances[owner])
        start, end = (min(max(time - origin, 0.0), length) for time in (word.start, word.end))
        words[owner].append(Word(word.text, start, end))
    return [
        Utterance(span, replace(heard, words=tuple(own), compression_ratio=_compression_ratio(own)))
        for span, own in zip(piece.utterances, words, strict=True)
    ]


def _compression_ratio(words: Sequence[Word]) -> float:
    text = "".join(word.text for word in words).strip().encode()
    return len(text) / len(zlib.compress(text)) if text else 0.0


def _spoken(utterance: Span, offset: int, speech: Sequence[Span]) -> list[tuple[float, float]]:
    """Return the speech in an utterance, in seconds of the joined sound."""
    shift = offset - utterance.start
    return [
        ((max(span.start, utterance.start) + shift) / SAMPLE_RATE, (min(span.end, utterance.end) + shift) / SAMPLE_RATE)
        for span in speech
        if span.end > utterance.start and span.start < utterance.end
    ]


def _owner(word: Word, spoken: Sequence[Sequence[tuple[float, float]]]) -> int:
    """Return the utterance that a word belongs to: the one with most of the speech in its time.

    A word in a pause belongs to the utterance behind it: Whisper's times of words are up to 0.4 s early. So does one
    before, in and behind a pause: Whisper counts the pause to the word behind it, and the end of the word before.
    """
    within = [sum(max(min(word.end, end) - max(word.start, start), 0.0) for start, end in spans) for spans in spoken]
    if (last := max((number for number, seconds in enumerate(within) if seconds), default=0)) and (
        within[last] >= _TOUCHED / SAMPLE_RATE
    ):
        return last
    if max(within) > 0:
        return within.index(max(within))
    later = (number for number, spans in enumerate(spoken) if spans and spans[-1][1] > word.start)
    return next(later, len(spoken) - 1)


def _seconds(span: Span) -> float:
    return (span.end - span.start) / SAMPLE_RATE
