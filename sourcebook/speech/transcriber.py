"""Transcribe a recording window by window, in memory independent of its length."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from sourcebook.model.transcript import SAMPLE_RATE, Language, Segment, Window
from sourcebook.speech.decoding import Samples
from sourcebook.speech.engine import Engine, Heard
from sourcebook.speech.pieces import MARGIN, Span, last_pause, pieces_of, speech_in
from sourcebook.speech.segments import is_invented, segments_of

WINDOW = 240
"""Seconds of a window: eight pieces of half a minute, and the most that a killed run transcribes again."""
_LEAST_LEFT = round(0.4 * SAMPLE_RATE)
"""Samples of speech after an early end that are worth another transcription."""
_LEAST_HEARD = SAMPLE_RATE
"""Samples that an engine must transcribe of a piece; otherwise it would repeat itself forever."""
_PIECES_FOR_LANGUAGE = 4
"""Longest pieces of a window that the language is detected in."""
_WHISPER_CODES = {"jv": "jw"}
"""Whisper's codes of languages that differ from ISO 639-1, by the latter."""
_ISO_CODES = {whisper: iso for iso, whisper in _WHISPER_CODES.items()}


def transcribe(
    blocks: Iterable[Samples], engine: Engine, *, start: float, language: Language | None
) -> Iterator[Window]:
    """Yield the windows of a recording from `start` on.

    A window depends on its own sound and the language alone: a run that resumes after a window gives the result of an
    uninterrupted run.

    Args:
        blocks: Samples from `start` to the end of the recording.
        engine: Engine that transcribes them.
        start: Seconds from the beginning of the recording: the end of a window, or 0.
        language: Language of the recording; None to detect it in the first window with speech.
    """
    source = iter(blocks)
    first = round(start * SAMPLE_RATE)
    samples: Samples = np.zeros(0, np.float32)
    ended = False
    while True:
        waiting = [samples]
        while not ended and sum(map(len, waiting)) <= WINDOW * SAMPLE_RATE:
            block = next(source, None)
            ended = block is None
            waiting += [] if block is None else [block]
        samples = np.concatenate(waiting)
        if not len(samples):
            return
        window = samples[: WINDOW * SAMPLE_RATE]  # however long the blocks are that it came in
        speech = speech_in(window)
        is_last = ended and len(window) == len(samples)
        pause = None if is_last else last_pause(speech, after=len(window) // 2)
        length = len(window) if pause is None else pause
        speech = [span for span in speech if span.end <= length]
        pieces = pieces_of(speech, length)
        sounds = [samples[piece.start : piece.end] for piece in pieces]
        if language is None and sounds:
            language = _language(engine, sounds)
        heard = [] if language is None else _hear(engine, samples, pieces, speech, language.code)
        yield Window((first + length) / SAMPLE_RATE, language, tuple(_segments(heard, speech, first)))
        first += length
        samples = samples[length:]


def _language(engine: Engine, sounds: Sequence[Samples]) -> Language:
    longest = sorted(sounds, key=len, reverse=True)[:_PIECES_FOR_LANGUAGE]
    probabilities = engine.detect_language(longest)
    code = max(probabilities, key=lambda code: probabilities[code])
    return Language(_ISO_CODES.get(code, code), round(probabilities[code], 4))


def _hear(
    engine: Engine, samples: Samples, pieces: Sequence[Span], speech: Sequence[Span], code: str
) -> list[tuple[Span, Heard]]:
    """Transcribe pieces in order; where the engine stopped early although speech goes on, transcribe the rest again."""
    code = _WHISPER_CODES.get(code, code)
    found: list[tuple[Span, Heard]] = []
    while pieces:
        heard = _with_second_tries(engine, [samples[piece.start : piece.end] for piece in pieces], code)
        found += zip(pieces, heard, strict=True)
        pieces = [
            rest for piece, one in zip(pieces, heard, strict=True) if (rest := _rest(piece, one, speech)) is not None
        ]
    return sorted(found, key=lambda pair: pair[0])


def _rest(piece: Span, heard: Heard, speech: Sequence[Span]) -> Span | None:
    """Return the rest of a piece after the engine's early end; None if it holds no speech."""
    end = piece.start + round(heard.end * SAMPLE_RATE)
    left = [
        Span(max(span.start, end), min(span.end, piece.end))
        for span in speech
        if span.end > end and span.start < piece.end
    ]
    if end - piece.start < _LEAST_HEARD or sum(span.end - span.start for span in left) < _LEAST_LEFT:
        return None
    return Span(max(end, left[0].start - MARGIN), piece.end)


def _with_second_tries(engine: Engine, sounds: Sequence[Samples], code: str) -> list[Heard]:
    """Transcribe sounds; retry those whose text would be dropped."""
    heard = engine.transcribe(sounds, code)
    doubtful = [place for place, one in enumerate(heard) if is_invented(one)]
    if doubtful:
        again = engine.transcribe([sounds[place] for place in doubtful], code, again=True)
        for place, other in zip(doubtful, again, strict=True):
            heard[place] = other
    return heard


def _segments(heard: Sequence[tuple[Span, Heard]], speech: Sequence[Span], first: int) -> Iterator[Segment]:
    last = 0.0
    spoken = [((first + span.start) / SAMPLE_RATE, (first + span.end) / SAMPLE_RATE) for span in speech]
    for piece, one in heard:
        if not is_invented(one):
            begin, end = (first + piece.start) / SAMPLE_RATE, (first + piece.end) / SAMPLE_RATE
            for segment in segments_of(one, max(begin, last), end, origin=begin, speech=spoken):
                last = segment.end
                yield segment
