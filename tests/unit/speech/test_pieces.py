"""Where speech is cut into pieces that Whisper hears at once."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.engine import LONGEST_PIECE
from sourcebook.speech.pieces import Piece, Span, from_onsets, joined, last_pause, merged, speech_in, utterances_of
from tests.unit.speech.clips import needs_clips, silence, sound, without_speech

LEAST_SPEECH = SAMPLE_RATE // 10
LEAST_PAUSE = round(0.16 * SAMPLE_RATE)


def seconds(value: float) -> int:
    return round(value * SAMPLE_RATE)


@st.composite
def stretches(draw: st.DrawFn) -> tuple[list[Span], int]:
    """Speech as voice activity detection may tell it, and the length of the sound it is in."""
    position = draw(st.integers(0, seconds(5)))
    speech = []
    lengths = (
        st.integers(LEAST_SPEECH, seconds(8)) | st.integers(seconds(27), seconds(31)) | st.integers(1, seconds(90))
    )
    pauses = st.integers(LEAST_PAUSE, seconds(1)) | st.integers(LEAST_PAUSE, seconds(20))
    for _ in range(draw(st.integers(0, 12))):
        end = position + max(draw(lengths), LEAST_SPEECH)
        speech.append(Span(position, end))
        position = end + draw(pauses)
    length = (speech[-1].end if speech else position) + draw(st.integers(0, seconds(5)))
    return speech, length


@given(stretches())
def test_utterances_hold_all_the_speech(stretch: tuple[list[Span], int]) -> None:
    """In order, without overlap, within the sound, none longer than 29 seconds, none too short to hear anything in."""
    speech, length = stretch
    pieces = utterances_of(speech, length)
    assert bool(pieces) == bool(speech)
    assert all(piece.start >= 0 and piece.end <= length for piece in pieces)
    assert all(one.end <= other.start for one, other in pairwise(pieces))
    assert all(LEAST_SPEECH <= piece.end - piece.start <= seconds(LONGEST_PIECE - 1) for piece in pieces)
    heard = sum(max(0, min(span.end, piece.end) - max(span.start, piece.start)) for span in speech for piece in pieces)
    assert heard == sum(span.end - span.start for span in speech)


@given(stretches())
def test_an_utterance_holds_no_long_silence(stretch: tuple[list[Span], int]) -> None:
    """At most three seconds between two who speak, and less than half a second around them."""
    speech, length = stretch
    for piece in utterances_of(speech, length):
        within = [span for span in speech if span.start < piece.end and span.end > piece.start]
        assert max(within[0].start, piece.start) - piece.start <= seconds(0.4)
        assert piece.end - min(within[-1].end, piece.end) <= seconds(0.4)
        assert all(other.start - one.end <= seconds(3) for one, other in pairwise(within))


def test_words_near_each_other_are_heard_together() -> None:
    """An utterance takes in what fits: Whisper hears a sentence better in its context."""
    speech = [Span(seconds(second), seconds(second + 0.9)) for second in range(20)]
    assert utterances_of(speech, seconds(20)) == [Span(0, seconds(20))]


def test_two_utterances_share_the_pause_between_them() -> None:
    """Each has its half of a pause that is shorter than two margins."""
    speech = [Span(0, seconds(20)), Span(seconds(20.5), seconds(40))]
    first, second = utterances_of(speech, seconds(40))
    assert first.end == second.start == seconds(20.25)


@given(stretches(), st.integers(0, seconds(60)))
def test_the_last_pause_is_one_of_them(stretch: tuple[list[Span], int], after: int) -> None:
    """A window ends where nobody speaks, behind the moment that was asked for; None where there is no such pause."""
    speech, _ = stretch
    middle = last_pause(speech, after=after)
    pauses = [(one.end, other.start) for one, other in pairwise(speech) if one.end >= after]
    assert (middle is None) == (not pauses)
    if middle is not None:
        assert pauses[-1][0] <= middle <= pauses[-1][1]


@needs_clips
def test_speech_is_found() -> None:
    """A clip between silences: the spans lie within it, and hold most of it."""
    clip = sound("jfk.flac")
    speech = speech_in(np.concatenate([silence(5), clip, silence(5)]))
    assert seconds(4.9) <= speech[0].start
    assert speech[-1].end <= seconds(5.1) + len(clip)
    assert sum(span.end - span.start for span in speech) > 0.6 * len(clip)
    assert all(one.end < other.start for one, other in pairwise(speech))


@needs_clips
@pytest.mark.parametrize("hiss", [0.0, 0.001])
def test_speech_begins_where_it_becomes_audible(hiss: float) -> None:
    """Voice activity detection alone is 0.1 s late at this sentence after five seconds of silence."""
    clip = sound("picovoice_en.wav")
    first = int(np.flatnonzero(np.abs(clip) > 0.03 * np.abs(clip).max())[0])
    samples = np.concatenate([silence(5), clip[first:], silence(1)])
    samples += hiss * np.random.default_rng(0).normal(size=len(samples)).astype(np.float32)
    audible = from_onsets(samples, speech_in(samples))
    assert audible[0].start / SAMPLE_RATE == pytest.approx(5.0, abs=0.03)


def test_speech_over_music_begins_where_detection_says() -> None:
    """What is heard all the time is no beginning of speech; the span before is never reached."""
    music = without_speech()["band"]
    spans = [Span(seconds(5), seconds(6)), Span(seconds(6.2), seconds(8))]
    for span, moved in zip(spans, from_onsets(music, spans), strict=True):
        assert span.start - seconds(0.05) <= moved.start <= span.start
        assert moved.end == span.end


def test_a_note_before_speech_is_no_beginning_of_it() -> None:
    """A melody is loud and faint in turn: what it often reaches is heard behind the speech, not before."""
    random = np.random.default_rng(0)
    notes = np.where(np.arange(10 * SAMPLE_RATE) % seconds(0.6) < seconds(0.2), 0.03, 0.003)  # the last from 4.8 s on
    samples = (notes * random.normal(size=len(notes))).astype(np.float32)
    samples[seconds(5) :] += 0.3 * random.normal(size=seconds(5)).astype(np.float32)
    (moved,) = from_onsets(samples, [Span(seconds(5.05), seconds(10))])
    assert moved.start / SAMPLE_RATE == pytest.approx(5.0, abs=0.011)


@pytest.mark.parametrize("name", list(without_speech()))
def test_no_speech_is_found_in_what_is_none(name: str) -> None:
    """Noise, tones, music and silence are not given to an engine at all."""
    assert speech_in(without_speech()[name]) == []


@pytest.mark.parametrize("length", [0, 1, 511, 512, 513])
def test_a_sound_of_a_few_samples_holds_no_speech(length: int) -> None:
    """Shorter than what voice activity detection looks at is no error."""
    assert speech_in(np.zeros(length, np.float32)) == []
    assert utterances_of([], length) == []


def test_a_break_begins_another_utterance() -> None:
    """Where the language changes, however short the pause is."""
    speech = [Span(0, seconds(2)), Span(seconds(2.5), seconds(4)), Span(seconds(4.5), seconds(6))]
    assert utterances_of(speech, seconds(6), {seconds(2.5)}) == [
        Span(0, seconds(2.25)),
        Span(seconds(2.25), seconds(6)),
    ]


@given(stretches())
def test_short_utterances_share_a_piece(stretch: tuple[list[Span], int]) -> None:
    """Every utterance is in one piece, in order; none is longer than 29 seconds, and no two in a row fit into one."""
    speech, length = stretch
    utterances = utterances_of(speech, length)
    pieces = joined(utterances)
    assert [span for piece in pieces for span in piece.utterances] == utterances
    assert all(len(piece) <= seconds(LONGEST_PIECE - 1) for piece in pieces)
    for one, other in pairwise(pieces):
        assert len(one) + other.utterances[0].end - other.utterances[0].start > seconds(LONGEST_PIECE - 1)


def test_a_piece_is_its_utterances_joined() -> None:
    """Each of its samples has its place in the whole sound."""
    samples = np.arange(100, dtype=np.float32)
    piece = Piece((Span(10, 13), Span(50, 52), Span(90, 95)))
    heard = piece.sound_in(samples)
    assert len(piece) == len(heard) == 10
    assert [samples[piece.position(offset)] for offset in range(10)] == list(heard)
    assert piece.offsets() == [0, 3, 5]


def test_a_pause_is_one_on_every_channel() -> None:
    """Spans of several tracks become the spans in which anybody speaks."""
    left = [Span(0, seconds(2)), Span(seconds(5), seconds(6))]
    right = [Span(seconds(1), seconds(3)), Span(seconds(3.1), seconds(4))]
    assert merged([left, right]) == [Span(0, seconds(4)), Span(seconds(5), seconds(6))]
