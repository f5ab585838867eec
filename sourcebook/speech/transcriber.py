"""Transcribe a recording window by window, in memory independent of its length, and tell its languages."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from sourcebook.model.transcript import SAMPLE_RATE, Language, Segment, Window
from sourcebook.speech.channels import Track, tracks_of
from sourcebook.speech.decoding import Samples
from sourcebook.speech.engine import LANGUAGE_SECONDS, Engine
from sourcebook.speech.hearing import Utterance, hear
from sourcebook.speech.pieces import Span, from_onsets, last_pause, merged, utterances_of
from sourcebook.speech.segments import segments_of

WINDOW = 240
"""Seconds of a window: eight pieces of half a minute, and the most that a killed run transcribes again."""


def transcribe(
    blocks: Iterable[Samples], engine: Engine, *, start: float, language: Language | None, is_set: bool = False
) -> Iterator[Window]:
    """Yield the windows of a recording from `start` on.

    A window depends on its own sound and the language before it alone: a run that resumes after a window gives the
    result of an uninterrupted run.

    Args:
        blocks: samples from `start` to the end of the recording, (channels, n), one channel or two.
        engine: engine that transcribes them.
        start: seconds from the beginning of the recording: the end of a window, or 0.
        language: language of the speech before `start`; None without any.
        is_set: whether all speech is in this language, so that none is detected.
    """
    source = iter(blocks)
    first = round(start * SAMPLE_RATE)
    samples: Samples | None = None
    ended = False
    while True:
        waiting = [] if samples is None else [samples]
        while not ended and sum(block.shape[1] for block in waiting) <= WINDOW * SAMPLE_RATE:
            block = next(source, None)
            ended = block is None
            waiting += [] if block is None else [block]
        samples = np.concatenate(waiting, axis=1) if waiting else np.zeros((1, 0), np.float32)
        if not samples.shape[1]:
            return
        window = samples[:, : WINDOW * SAMPLE_RATE]  # however long the blocks are that it came in
        tracks = tracks_of(window)
        is_last = ended and window.shape[1] == samples.shape[1]
        speech = merged(track.speech for track in tracks)
        pause = None if is_last else last_pause(speech, after=window.shape[1] // 2)
        length = window.shape[1] if pause is None else pause
        told: list[tuple[float, Language]] = []
        segments: list[Segment] = []
        for track in tracks:
            spoken = _Speech(track, length)
            languages = spoken.languages(engine, language, is_set=is_set)
            segments += spoken.segments(engine, languages, first)
            told += [(span.end, one) for span, one in languages]
        language = max(told, key=lambda pair: pair[0])[1] if told else language
        yield Window((first + length) / SAMPLE_RATE, language, tuple(sorted(segments, key=lambda one: one.start)))
        first += length
        samples = samples[:, length:]


class _Speech:
    """The speech of one track of a window.

    Args:
        track: track of the window.
        length: length of the window in samples; the track may be longer.
    """

    def __init__(self, track: Track, length: int) -> None:
        self._track = track
        self._length = length
        self._speech = [span for span in track.speech if span.end <= length]

    def languages(self, engine: Engine, before: Language | None, *, is_set: bool) -> list[tuple[Span, Language]]:
        """Return the stretches of speech and their languages."""
        if is_set and before is not None:
            return [(span, before) for span in stretches_of(self._speech)]
        return languages_of(engine, self._track.samples, self._speech, before)

    def segments(self, engine: Engine, languages: Sequence[tuple[Span, Language]], first: int) -> Iterator[Segment]:
        """Yield the segments in order of time.

        Args:
            engine: engine that transcribes them.
            languages: stretches of speech and their languages.
            first: sample of the recording at which the window begins.
        """
        starts = [span.start for span, _ in languages]
        changes = {span.start for (_, one), (span, other) in pairwise(languages) if one.code != other.code}
        found: list[tuple[Utterance, Language]] = []
        spoken_in: dict[Language, list[Span]] = {}
        for span in utterances_of(self._speech, self._length, changes):
            middle = (span.start + span.end) // 2
            spoken_in.setdefault(languages[max(bisect_right(starts, middle) - 1, 0)][1], []).append(span)
        for language, utterances in spoken_in.items():
            said = hear(engine, self._track.samples, utterances, self._speech, whisper_code(language))
            found += [(utterance, language) for utterance in said]
        audible = from_onsets(self._track.samples, self._speech)
        spoken = [((first + span.start) / SAMPLE_RATE, (first + span.end) / SAMPLE_RATE) for span in audible]
        last = 0.0
        for (span, heard), language in sorted(found, key=lambda pair: pair[0].span):
            begin, end = (first + span.start) / SAMPLE_RATE, (first + span.end) / SAMPLE_RATE
            for segment in segments_of(heard, max(begin, last), end, origin=begin, speech=spoken):
                last = segment.end
                yield replace(
                    segment,
                    language=language.code,
                    language_probability=language.probability,
                    channel=self._track.channel,
                )


_PAUSE = round(0.4 * SAMPLE_RATE)
"""Samples of the longest pause within a stretch."""
_BREATH = SAMPLE_RATE
"""Samples of the longest pause within a stretch that is still short."""
_SHORT = 2 * SAMPLE_RATE
"""Samples of a short stretch: its language is uncertain."""
_TOLD, _MOST_TOLD = round(LANGUAGE_SECONDS * SAMPLE_RATE), 28 * SAMPLE_RATE
"""Samples that a language is told by at once, and samples of a stretch that are heard for it at most."""
_LONG = 10 * SAMPLE_RATE
"""Samples of the longest stretch, unless it has no pause."""
_SWITCH = 2.0
"""Cost of another language than the stretch before, as a natural logarithm of probability.

A single stretch in another language must be about e⁴ = 55 times as probable in it.
"""
_KNOWN_SWITCH = 1.0
"""Cost between two languages that are both surely spoken in the sound, each more than once."""
_SURE, _OFTEN = 0.9, 2
"""Probability from which a stretch is surely in a language, and the number of such stretches."""
_LIKELY = 0.5
"""Probability from which a stretch may be in a language, and all speech together is in one."""
_LEAST = 0.001
"""Least probability of a language in a stretch."""
_ISO_CODES = {"jw": "jv"}
"""ISO 639-1 codes of languages that Whisper has another code of, by the latter."""
_WHISPER_CODES = {iso: whisper for whisper, iso in _ISO_CODES.items()}


def whisper_code(language: Language) -> str:
    """Return Whisper's code of a language."""
    return _WHISPER_CODES.get(language.code, language.code)


def stretches_of(speech: Sequence[Span]) -> list[Span]:
    """Return the stretches of speech whose languages are told apart: sentences or so, between pauses.

    A short one is joined to the nearer of its neighbours across a breath: the farther may be in another language.
    """
    stretches: list[Span] = []
    for span in speech:
        if stretches and _pause(stretches[-1], span) <= _PAUSE and _length(stretches[-1], span) <= _LONG:
            stretches[-1] = Span(stretches[-1].start, span.end)
        else:
            stretches.append(span)
    while (place := _next_to_join(stretches)) is not None:
        stretches[place : place + 2] = [Span(stretches[place].start, stretches[place + 1].end)]
    return stretches


def _next_to_join(stretches: Sequence[Span]) -> int | None:
    """Return the place of a stretch that is joined to the next one, the least pause first; None if there is none."""
    pauses = [
        (_pause(one, other), place)
        for place, (one, other) in enumerate(pairwise(stretches))
        if min(one.end - one.start, other.end - other.start) < _SHORT
        and _pause(one, other) <= _BREATH
        and _length(one, other) <= _LONG
    ]
    return min(pauses)[1] if pauses else None


def _pause(one: Span, other: Span) -> int:
    return other.start - one.end


def _length(one: Span, other: Span) -> int:
    return other.end - one.start


def languages_of(
    engine: Engine, samples: Samples, speech: Sequence[Span], before: Language | None
) -> list[tuple[Span, Language]]:
    """Return stretches of speech and their languages, each with its mean probability in all stretches of that language.

    The most probable sequence, by Viterbi's algorithm: a short or unclear stretch takes the language of its neighbours.
    Where several languages are spoken, stretches are cut at shorter pauses: they may change without a longer one.

    Args:
        engine: engine that detects them.
        samples: sound that holds the speech, one channel.
        speech: spans of speech in order.
        before: language of the speech before; None if there is none.
    """
    stretches = stretches_of(speech)
    if not stretches:
        return []
    found = _detected(engine, samples, stretches)
    likely = {code for one in found for code, probability in one.items() if probability >= _LIKELY}
    if len(likely | ({whisper_code(before)} if before is not None else set())) > 1:
        parts = [part for span in stretches for part in _parts([one for one in speech if _is_in(one, span)])]
        known = dict(zip(stretches, found, strict=True))
        if new := [part for part in parts if part not in known]:
            known |= zip(new, _detected(engine, samples, new), strict=True)
        stretches, found = parts, [known[part] for part in parts]
    return list(zip(stretches, _languages(stretches, found, before), strict=True))


def _detected(engine: Engine, samples: Samples, stretches: Sequence[Span]) -> list[Mapping[str, float]]:
    """Return the probabilities of each stretch's languages: by its beginning, or by all of it where that is unsure."""
    found = engine.detect_languages([samples[span.start : span.start + _told_in(span)] for span in stretches])
    rests = [
        (place, start)
        for place, (span, one) in enumerate(zip(stretches, found, strict=True))
        if max(one.values(), default=0.0) < _SURE
        for start in range(span.start + _TOLD, min(span.end, span.start + _MOST_TOLD) - _SHORT + 1, _TOLD)
    ]
    more = engine.detect_languages([samples[start : start + _TOLD] for _, start in rests]) if rests else []
    heard: list[list[Mapping[str, float]]] = [[one] for one in found]
    for (place, _), one in zip(rests, more, strict=True):
        heard[place].append(one)
    return [ones[0] if len(ones) == 1 else _mean(ones) for ones in heard]


def _mean(found: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    codes = {code for one in found for code in one}
    return {code: sum(one.get(code, 0.0) for one in found) / len(found) for code in codes}


def _told_in(stretch: Span) -> int:
    """Return the samples of a stretch that its language is told by."""
    return min(stretch.end - stretch.start, _TOLD)


def _is_in(span: Span, stretch: Span) -> bool:
    return stretch.start <= span.start and span.end <= stretch.end


def _parts(spans: Sequence[Span]) -> list[Span]:
    """Return the parts of a stretch that are not short, cut at its longest pauses first."""
    pauses = [
        (_pause(one, other), place)
        for place, (one, other) in enumerate(pairwise(spans), 1)
        if min(_length(spans[0], one), _length(other, spans[-1])) >= _SHORT
    ]
    if not pauses:
        return [Span(spans[0].start, spans[-1].end)]
    _, place = max(pauses)
    return [*_parts(spans[:place]), *_parts(spans[place:])]


def _languages(
    stretches: Sequence[Span], found: Sequence[Mapping[str, float]], before: Language | None
) -> list[Language]:
    lengths = [span.end - span.start for span in stretches]
    weights = [min(_told_in(span) / _SHORT, 1.0) for span in stretches]
    earlier = None if before is None else whisper_code(before)
    chosen = _sequence(found, weights, _spoken(found, lengths, weights, earlier), earlier)
    told: dict[str, Language] = {}
    for code in chosen:
        parts = [
            (length, probabilities.get(code, 0.0))
            for length, probabilities, other in zip(lengths, found, chosen, strict=True)
            if other == code
        ]
        mean = sum(length * probability for length, probability in parts) / sum(length for length, _ in parts)
        told[code] = Language(_ISO_CODES.get(code, code), round(mean, 4))
    return [told[code] for code in chosen]


def _spoken(
    found: Sequence[Mapping[str, float]], lengths: Sequence[int], weights: Sequence[float], before: str | None
) -> list[str]:
    """Return the languages that are spoken: the one before, each that a stretch is surely in, and that of most speech.

    Noise, music and mumbling are taken for languages that nobody speaks, often for the same one, with probabilities up
    to about 0.9. So an unsure stretch makes no language of its own. Most speech is by seconds and by the square of the
    probability; where there is a language before, another one must also have half of the speech.
    """
    shares: defaultdict[str, float] = defaultdict(float)
    for one, length in zip(found, lengths, strict=True):
        for code, probability in one.items():
            shares[code] += length * probability**2
    main = max(sorted(shares), key=lambda code: shares[code])
    spoken = {code for one, weight in zip(found, weights, strict=True) for code in one if weight * one[code] >= _SURE}
    half = sum(lengths) * _LIKELY
    if before is None or sum(length * one.get(main, 0.0) for one, length in zip(found, lengths, strict=True)) >= half:
        spoken.add(main)
    return sorted(spoken if before is None else spoken | {before})


def _origin(scores: Mapping[str, float], cost: Callable[[str, str], float], code: str) -> str:
    """Return the best language before a stretch in a language, among equals the same one."""
    return max(scores, key=lambda other: (scores[other] - cost(other, code), other == code))


def _sequence(
    found: Sequence[Mapping[str, float]], weights: Sequence[float], ordered: Sequence[str], before: str | None
) -> list[str]:
    sure = Counter(
        code
        for one, weight in zip(found, weights, strict=True)
        for code in ordered
        if weight * one.get(code, 0) >= _SURE
    )

    def cost(one: str | None, other: str) -> float:
        if one in (None, other):
            return 0.0
        return _KNOWN_SWITCH if min(sure[one or ""], sure[other]) >= _OFTEN else _SWITCH

    scores = {code: -cost(before, code) for code in ordered}
    origins: list[dict[str, str]] = []
    for place, (one, weight) in enumerate(zip(found, weights, strict=True)):
        origin = {code: _origin(scores, cost, code) if place else code for code in ordered}
        scores = {
            code: scores[origin[code]] - cost(origin[code], code) + weight * math.log(max(one.get(code, 0.0), _LEAST))
            for code in ordered
        }
        origins.append(origin)
    code = max(ordered, key=lambda code: scores[code])
    chosen = [code]
    for origin in reversed(origins[1:]):
        code = origin[code]
        chosen.append(code)
    return chosen[::-1]
