"""Segments made of the words that an engine heard."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.model.transcript import Segment
from sourcebook.speech.engine import Heard, Word
from sourcebook.speech.segments import is_invented, segments_of

SURE, NO_SPEECH, PLAIN = -0.2, 0.1, 1.5


def heard(
    *words: Word, end: float = 29.0, sure: float = SURE, no_speech: float = NO_SPEECH, compression: float = PLAIN
) -> Heard:
    return Heard(words, end, sure, no_speech, compression)


def spoken(text: str, start: float = 0.0, each: float = 0.4) -> list[Word]:
    """Words at an even pace."""
    return [
        Word(f" {word}", start + number * each, start + (number + 1) * each) for number, word in enumerate(text.split())
    ]


def segments(*words: Word, speech: list[tuple[float, float]] | None = None, origin: float = 0.0) -> list[Segment]:
    within = [(origin, origin + 29.0)] if speech is None else speech
    return list(segments_of(heard(*words), origin, origin + 29.0, origin=origin, speech=within))


@st.composite
def utterances(draw: st.DrawFn) -> tuple[list[Word], list[tuple[float, float]]]:
    """Words as an engine aligns them, and speech as voice activity detection tells it, which need not agree."""
    position, words = 0.0, []
    for number in range(draw(st.integers(0, 40))):
        start = position + draw(st.sampled_from([0.0, 0.0, 0.1, 0.7, 3.0]))
        end = start + draw(st.sampled_from([0.0, 0.02, 0.3, 0.5, 2.0, 16.0]))
        mark = draw(st.sampled_from(["", "", "", ",", ".", "?", '."', "…"]))
        words.append(Word(f" w{number}{mark}", round(start, 2), round(end, 2)))
        position = end - draw(st.sampled_from([0.0, 0.0, 0.2]))
    borders = sorted(draw(st.lists(st.floats(0, 40), max_size=12, unique=True)))
    return words, list(zip(borders[::2], borders[1::2], strict=False))


@given(utterances(), st.floats(0, 10_000), st.floats(0, 5))
def test_every_word_is_there_once_and_in_order(
    utterance: tuple[list[Word], list[tuple[float, float]]], origin: float, later: float
) -> None:
    """Segments follow each other without overlap, within the piece, whatever the engine's times are."""
    words, speech = utterance
    start, end = origin + later, origin + 29.0
    absolute = [(origin + begin, origin + stop) for begin, stop in speech]
    made = list(segments_of(heard(*words), start, end, origin=origin, speech=absolute))
    assert " ".join(segment.text for segment in made) == "".join(word.text for word in words).strip()
    assert all(round(start, 2) <= segment.start <= segment.end <= round(end, 2) for segment in made)
    assert all(one.end <= other.start for one, other in pairwise(made))
    assert all(segment.text for segment in made)


def test_a_sentence_is_a_segment() -> None:
    """It ends with its full stop, in quotation marks too."""
    made = segments(*spoken('Who goes there at night? "Nobody knows it." Then we go on'))
    assert [segment.text for segment in made] == ["Who goes there at night?", '"Nobody knows it."', "Then we go on"]
    assert [(segment.start, segment.end) for segment in made] == [(0.0, 2.0), (2.0, 3.2), (3.2, 4.8)]


def test_an_abbreviation_does_not_stand_alone() -> None:
    """What looks like a sentence of one word is the beginning of one."""
    (segment,) = segments(*spoken("Mr. Quilter is the apostle of the middle classes."))
    assert segment.text == "Mr. Quilter is the apostle of the middle classes."


def test_a_pause_ends_a_segment() -> None:
    """Times are those of the words: the pause is in neither."""
    made = segments(*spoken("we begin", 1.0), *spoken("and go on", 4.0))
    assert [(segment.start, segment.end, segment.text) for segment in made] == [
        (1.0, 1.8, "we begin"),
        (4.0, 5.2, "and go on"),
    ]


def test_nobody_speaks_for_longer_than_fifteen_seconds_in_one() -> None:
    """A speaker without full stops is cut between words."""
    made = segments(*spoken("and " * 60))
    assert len(made) > 1
    assert all(segment.end - segment.start <= 15.0 for segment in made)


def test_the_pause_that_is_counted_to_a_word_is_cut_off() -> None:
    """A segment begins and ends with the speech in it; where none is told, the engine's own times stay."""
    words = [Word(" late", 0.0, 6.0), Word(" words", 6.0, 9.0)]
    (segment,) = segments(*words, speech=[(105.0, 107.0)], origin=100.0)
    assert (segment.start, segment.end) == (105.0, 107.0)
    (segment,) = segments(*words, speech=[], origin=100.0)
    assert (segment.start, segment.end) == (100.0, 109.0)


def test_a_pause_within_a_word_ends_a_segment_too() -> None:
    """Engines without a full stop count the pause to a word: the next sentence begins where its speech does."""
    words = [Word(" we", 0.0, 0.4), Word(" begin", 0.4, 1.2), Word(" then", 1.2, 4.4), Word(" go", 4.4, 4.8)]
    made = segments(*words, speech=[(0.0, 1.2), (4.0, 4.8)])
    assert [(segment.start, segment.end, segment.text) for segment in made] == [
        (0.0, 1.2, "we begin"),
        (4.0, 4.8, "then go"),
    ]


def test_an_utterance_begins_where_its_speech_does() -> None:
    """Engines place the first word up to half a second late; words before it would have been spoken later."""
    (segment,) = segments(*spoken("message marked urgent", 0.6), speech=[(90.0, 95.0), (100.3, 102.0)], origin=100.0)
    assert (segment.start, segment.end) == (100.3, 101.8)
    (segment,) = segments(*spoken("who was not understood at first", 2.0), speech=[(100.3, 105.0)], origin=100.0)
    assert segment.start == 102.0


@pytest.mark.parametrize("border", [1.8, 2.0, 2.3, 2.6])
def test_sentences_are_parted_at_the_pause_between_them(border: float) -> None:
    """Wherever near it the engine places the border: early, within the pause, or late."""
    said = [
        *spoken("we begin", 0.4, 0.5),
        Word(" now.", 1.4, border),
        Word(" Then", border, 3.2),
        Word(" go", 3.2, 4.0),
    ]
    made = segments(*said, speech=[(0.4, 2.1), (2.4, 4.0)])
    assert [(segment.start, segment.end) for segment in made] == [(0.4, 2.1), (2.4, 4.0)]


def test_a_sentence_does_not_lose_its_first_word_to_a_pause_behind_it() -> None:
    """A pause that most of the first word comes before is within the sentence; so is one before the last word ends."""
    said = [*spoken("we are done.", 0.0, 0.5), Word(" So,", 1.5, 2.1), *spoken("let us go", 2.1, 0.4)]
    made = segments(*said, speech=[(0.0, 1.8), (2.0, 3.3)])
    assert [(segment.start, segment.end) for segment in made] == [(0.0, 1.5), (1.5, 3.3)]
    said = [*spoken("we are", 0.0, 0.5), Word(" done.", 1.0, 2.0), *spoken("So let us go", 2.0, 0.4)]
    made = segments(*said, speech=[(0.0, 1.2), (1.5, 3.6)])
    assert [(segment.start, segment.end) for segment in made] == [(0.0, 2.0), (2.0, 3.6)]


def test_characters_that_no_database_keeps_are_dropped() -> None:
    """Neither NUL nor line breaks reach a text; a segment of nothing else is none."""
    (segment,) = segments(Word(" a\0b", 0.0, 0.4), Word("\nc ", 0.4, 0.8))
    assert segment.text == "ab c"
    assert segments(Word(" \0 ", 0.0, 0.4)) == []


def test_a_segment_keeps_how_sure_the_engine_was() -> None:
    """Both numbers are the piece's."""
    one = heard(*spoken("yes"), sure=-0.25, no_speech=0.125)
    (segment,) = segments_of(one, 0.0, 29.0, origin=0.0, speech=[])
    assert (segment.average_log_probability, segment.no_speech_probability) == (-0.25, 0.125)


@pytest.mark.parametrize(
    ("one", "dropped"),
    [
        (heard(), False),
        (heard(compression=2.5), True),
        (heard(sure=-1.1), True),
        (heard(sure=float("nan")), True),
        (heard(sure=-0.5), False),
        (heard(no_speech=0.9), False),
        (heard(no_speech=0.9, sure=-0.5), True),
        (heard(no_speech=0.5, sure=-0.5), False),
    ],
    ids=[
        "speech",
        "repeats itself",
        "improbable",
        "not a number",
        "less probable",
        "no speech, but sure words",
        "no speech, unsure words",
        "perhaps no speech",
    ],
)
def test_invented_text_is_known_by_its_numbers(one: Heard, dropped: bool) -> None:
    """Each rule drops by itself, and what people said passes them all."""
    assert is_invented(one) is dropped
