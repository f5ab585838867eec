"""Transcribe a recording window by window, in memory independent of its length."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from sourcebook.model.transcript import SAMPLE_RATE, Language, Segment, Window
from sourcebook.speech.channels import Track, tracks_of
from sourcebook.speech.decoding import Samples
from sourcebook.speech.engine import Engine
from sourcebook.speech.hearing import Utterance, hear
from sourcebook.speech.languages import languages_of, stretches_of, whisper_code
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
        blocks: Samples from `start` to the end of the recording, (channels, n), one channel or two.
        engine: Engine that transcribes them.
        start: Seconds from the beginning of the recording: the end of a window, or 0.
        language: Language of the speech before `start`; None without any.
        is_set: Whether all speech is in this language, so that none is detected.
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
        track: Track of the window.
        length: Length of the window in samples; the track may be longer.
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
            engine: Engine that transcribes them.
            languages: Stretches of speech and their languages.
            first: Sample of the recording at which the window begins.
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
