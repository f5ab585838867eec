"""The language of each stretch of speech."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.model.transcript import SAMPLE_RATE, Language
from sourcebook.speech.engine import Engine
from sourcebook.speech.pieces import Span
from sourcebook.speech.transcriber import languages_of, stretches_of, whisper_code
from tests.unit.speech.clips import Samples

ENGLISH, GERMAN = {"en": 0.95, "de": 0.01}, {"de": 0.98, "en": 0.005}
UNSURE = {"cy": 0.6, "en": 0.3}
NOBODY_KNOWS = {"nn": 0.2, "en": 0.25, "la": 0.1}


class Detecting:
    """An engine that finds given probabilities, one for each sound; it is asked once for every list of them."""

    def __init__(self, *found: Sequence[dict[str, float]]) -> None:
        self._found = list(found)
        self.heard: list[list[float]] = []

    def detect_languages(self, sounds: Sequence[Samples]) -> list[dict[str, float]]:
        self.heard.append([float(sound[0]) for sound in sounds])
        found = self._found.pop(0)
        assert len(sounds) == len(found)
        return list(found)


def span(start: float, end: float) -> Span:
    return Span(round(start * SAMPLE_RATE), round(end * SAMPLE_RATE))


def codes(*found: dict[str, float], before: Language | None = None, seconds: float = 3.0) -> list[str]:
    stretches = [span(number * (seconds + 2), number * (seconds + 2) + seconds) for number in range(len(found))]
    samples = np.zeros(stretches[-1].end, np.float32)
    engine = cast("Engine", Detecting(found))
    told = languages_of(engine, samples, stretches, before)
    assert [stretch for stretch, _ in told] == stretches
    return [language.code for _, language in told]


@pytest.mark.parametrize(
    ("found", "chosen"),
    [
        ([ENGLISH, GERMAN, ENGLISH], ["en", "de", "en"]),
        ([ENGLISH, ENGLISH, GERMAN, GERMAN], ["en", "en", "de", "de"]),
        ([ENGLISH, UNSURE, ENGLISH], ["en", "en", "en"]),
        ([UNSURE, ENGLISH], ["en", "en"]),
        ([GERMAN, NOBODY_KNOWS], ["de", "de"]),
        ([NOBODY_KNOWS], ["en"]),
        ([{"jw": 0.99}], ["jv"]),
    ],
    ids=["between", "change", "unsure between", "unsure first", "unknown", "nothing else", "its code"],
)
def test_a_clear_stretch_has_its_own_language(found: list[dict[str, float]], chosen: list[str]) -> None:
    """An unclear one has that of its neighbours."""
    assert codes(*found) == chosen


def test_languages_that_are_surely_spoken_take_less_to_change_between() -> None:
    """Of a recording in two languages each stretch is rather in the other one than in a third, or in one of a third."""
    german, french = {"de": 0.92, "en": 0.04}, {"fr": 0.92, "en": 0.04}
    assert codes(ENGLISH, german, ENGLISH) == ["en", "en", "en"]
    assert codes(ENGLISH, german, ENGLISH, german, ENGLISH) == ["en", "de", "en", "de", "en"]
    assert codes(ENGLISH, german, ENGLISH, german, ENGLISH, french, ENGLISH)[-2] == "en"


FRENCH, WEAKLY_FRENCH = {"fr": 0.99, "en": 0.003}, {"fr": 0.74, "br": 0.06, "en": 0.02}
NOISE = [
    {"th": 0.62, "km": 0.14, "en": 0.07, "fr": 0.03},
    {"th": 0.88, "en": 0.02, "ja": 0.02, "fr": 0.01},
    {"th": 0.3, "vi": 0.15, "fr": 0.12, "en": 0.12},
    {"cy": 0.65, "en": 0.2, "fr": 0.001},
]
"""Detections of noisy French by Whisper base."""


@pytest.mark.parametrize(
    ("found", "chosen"),
    [
        ([FRENCH, WEAKLY_FRENCH, *NOISE[:3], WEAKLY_FRENCH], "fr"),
        ([FRENCH, NOISE[0], FRENCH, NOISE[1], WEAKLY_FRENCH, NOISE[1]], "fr"),
        ([*NOISE[1:], *NOISE[1:], FRENCH, FRENCH], "fr"),
        ([WEAKLY_FRENCH, NOISE[3], WEAKLY_FRENCH, NOISE[2], WEAKLY_FRENCH], "fr"),
        ([NOISE[0], NOISE[1], NOISE[2]], "th"),
    ],
    ids=["three in the middle", "in turns", "at the beginning", "nothing sure", "nothing else"],
)
def test_weak_stretches_take_the_language_around_them(found: list[dict[str, float]], chosen: str) -> None:
    """However many there are: noise is often taken for the same wrong language, with up to .9."""
    assert codes(*found) == [chosen] * len(found)


def test_a_window_of_weak_stretches_keeps_the_language_before() -> None:
    """Unless one language has half of its speech: then somebody else speaks."""
    french = Language("fr", 0.98)
    assert codes(*NOISE, before=french) == ["fr"] * 4
    assert codes(NOISE[1], NOISE[1], NOISE[0], before=french) == ["th"] * 3


def test_two_languages_that_are_surely_spoken_are_kept() -> None:
    """Weak stretches between them go to one of them, and to no third one."""
    found = [FRENCH, FRENCH, NOISE[1], GERMAN, GERMAN, NOISE[3], FRENCH, GERMAN]
    told = codes(*found)
    assert [told[place] for place in (0, 1, 3, 4, 6, 7)] == ["fr", "fr", "de", "de", "fr", "de"]
    assert {told[2], told[5]} <= {"fr", "de"}


def test_a_stretch_whose_beginning_is_unsure_is_heard_whole() -> None:
    """In parts of four seconds, whose mean counts; one whose beginning is sure is not."""
    samples: Samples = np.arange(40 * SAMPLE_RATE, dtype=np.float32) / np.float32(SAMPLE_RATE)
    engine = Detecting([FRENCH, {"hu": 0.6, "fr": 0.1}], [FRENCH, FRENCH, FRENCH])
    told = languages_of(cast("Engine", engine), samples, [span(0, 9), span(11, 25)], Language("fr", 0.9))
    assert engine.heard == [[0, 11], [15, 19, 23]]
    assert told[1] == (span(11, 25), Language("fr", round((9 * 0.99 + 14 * (0.1 + 0.99 * 3) / 4) / 23, 4)))


def test_a_word_alone_does_not_change_the_language() -> None:
    """Half a second is too little to tell it; three seconds are not."""
    assert codes(ENGLISH, GERMAN, ENGLISH, seconds=0.5) == ["en", "en", "en"]


def test_the_language_before_counts() -> None:
    """It decides where a window begins with an unclear stretch, and only there."""
    german = Language("de", 0.9)
    assert codes(NOBODY_KNOWS, before=german) == ["de"]
    assert codes(ENGLISH, before=german) == ["en"]


def test_the_probability_of_a_language_is_the_mean_of_its_stretches() -> None:
    """Long stretches count for more."""
    engine = cast("Engine", Detecting([{"en": 0.9}, {"en": 0.6}]))
    told = languages_of(engine, np.zeros(9 * SAMPLE_RATE, np.float32), [span(0, 4), span(5, 7)], None)
    assert told == [(span(0, 4), Language("en", 0.8)), (span(5, 7), Language("en", 0.8))]


def test_a_change_at_a_short_pause_is_noticed_where_several_languages_are_spoken() -> None:
    """A stretch is cut at its longest pauses; in a recording of one language no more is asked than its stretches."""
    speech = [span(0, 4.2), span(4.4, 5), span(5.3, 9.5), span(20, 24), span(30, 32), span(32.2, 34)]
    samples: Samples = np.arange(34 * SAMPLE_RATE, dtype=np.float32) / np.float32(
        SAMPLE_RATE
    )  # each sound tells its place
    engine = Detecting([ENGLISH, ENGLISH, ENGLISH])
    told = languages_of(cast("Engine", engine), samples, speech, Language("en", 0.9))
    assert [stretch for stretch, _ in told] == [span(0, 9.5), span(20, 24), span(30, 34)]
    assert len(engine.heard) == 1
    engine = Detecting([ENGLISH, GERMAN, GERMAN], [ENGLISH, GERMAN])
    told = languages_of(cast("Engine", engine), samples, speech, None)
    assert [(stretch, language.code) for stretch, language in told] == [
        (span(0, 5), "en"),
        (span(5.3, 9.5), "de"),
        (span(20, 24), "de"),
        (span(30, 34), "de"),
    ]
    assert engine.heard[1] == [0, pytest.approx(5.3)]


def test_without_speech_there_is_no_language() -> None:
    """No engine is asked."""
    assert languages_of(cast("Engine", None), np.zeros(0, np.float32), [], None) == []


def test_whisper_has_codes_of_its_own() -> None:
    """Javanese is jv in ISO 639-1, and jw in Whisper."""
    assert [whisper_code(Language(code, 1.0)) for code in ("jv", "en")] == ["jw", "en"]


def test_stretches_end_at_pauses() -> None:
    """Words close to each other are one; what is short takes in its neighbour across a breath."""
    assert stretches_of([span(0, 3), span(3.3, 6), span(6.6, 9)]) == [span(0, 6), span(6.6, 9)]
    assert stretches_of([span(0, 1), span(1.8, 5)]) == [span(0, 5)]
    assert stretches_of([span(0, 1), span(2.2, 5)]) == [span(0, 1), span(2.2, 5)]


def test_what_is_short_goes_to_its_nearer_neighbour() -> None:
    """The farther one may be in another language: a sentence is not torn from its end by a breath before it."""
    assert stretches_of([span(0, 2.3), span(3.1, 4.9), span(5.1, 6.5)]) == [span(0, 2.3), span(3.1, 6.5)]
    assert stretches_of([span(0, 3), span(3.9, 4.9), span(5.4, 9)]) == [span(0, 3), span(3.9, 9)]
    assert stretches_of([span(0, 3), span(3.5, 4.5), span(5.4, 9)]) == [span(0, 4.5), span(5.4, 9)]


@given(st.lists(st.tuples(st.floats(0.1, 30), st.floats(0.16, 5)), max_size=30))
def test_every_span_of_speech_is_in_one_stretch(lengths: list[tuple[float, float]]) -> None:
    """In order; one without a pause may be longer than ten seconds, none that is joined."""
    speech, position = [], 0.0
    for length, pause in lengths:
        speech.append(span(position, position + length))
        position += length + pause
    stretches = stretches_of(speech)
    held = [[one for one in speech if stretch.start <= one.start and one.end <= stretch.end] for stretch in stretches]
    assert [one for spans in held for one in spans] == speech
    assert all(len(spans) == 1 or spans[-1].end - spans[0].start <= 10 * SAMPLE_RATE for spans in held)
