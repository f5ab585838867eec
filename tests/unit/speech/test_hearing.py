"""Utterances that share a pass of Whisper, and get their own words and times."""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.decoding import decode
from sourcebook.speech.engine import Engine, Heard, Word
from sourcebook.speech.hearing import hear
from sourcebook.speech.pieces import Span, speech_in, utterances_of
from tests.sounds import NOTE
from tests.unit.speech.clips import Samples, error_rate, silence
from tests.unit.speech.conftest import Load

SENTENCES = {
    (0.6, 4.0): "this is a voice note from the watchroom for the next officer",
    (4.8, 7.2): "the school left a yellow umbrella behind",
    (8.0, 11.9): "it hangs on the hook beside the stove and they will fetch it on monday",
}
"""Sentences of the example library's voice note by their seconds."""


def span(start: float, end: float) -> Span:
    return Span(round(start * SAMPLE_RATE), round(end * SAMPLE_RATE))


class Counting:
    """An engine that counts its pieces."""

    def __init__(self, transcribe: Callable[[Samples], Heard]) -> None:
        self._transcribe = transcribe
        self.lengths: list[float] = []

    def transcribe(self, pieces: Sequence[Samples], language: str, *, again: bool = False) -> list[Heard]:
        self.lengths += [round(len(piece) / SAMPLE_RATE, 2) for piece in pieces]
        return [self._transcribe(piece) for piece in pieces]


def clear(*heard: Word, end: float) -> Heard:
    return Heard(heard, end, -0.2, 0.1, 1.5)


def test_sparse_speech_takes_one_pass(load: Load) -> None:
    """Sentences with eight seconds of silence between them are heard together, and each keeps its own words."""
    note, fast = np.concatenate(list(decode(str(NOTE)))), load("faster-whisper")
    parts = [note[one.start : one.end] for one in (span(*seconds) for seconds in SENTENCES)]
    samples = np.concatenate([part for sentence in parts for part in (sentence, silence(8))])
    speech = speech_in(samples)
    utterances = utterances_of(speech, len(samples))
    assert len(utterances) == len(SENTENCES)
    engine = Counting(lambda piece: fast.transcribe([piece], "en")[0])
    found = hear(cast("Engine", engine), samples, utterances, speech, "en")
    assert len(engine.lengths) == 1
    assert [one.span for one in found] == utterances
    for one, text in zip(found, SENTENCES.values(), strict=True):
        assert error_rate(text, "".join(word.text for word in one.heard.words)) <= 0.1
        seconds = (one.span.end - one.span.start) / SAMPLE_RATE
        assert all(0 <= word.start <= word.end <= seconds for word in one.heard.words)


def test_a_word_belongs_to_the_speech_in_its_time() -> None:
    """One that begins in a pause, or lies in it, is of the utterance behind the pause: its time is early."""
    utterances = [span(10, 13), span(50, 53)]  # joined at 3 s
    speech = [span(10.4, 12), span(50.4, 52.6)]  # 0.4 to 2 s, and 3.4 to 5.6 s
    said = (
        Word(" one", 0.4, 1.9),
        Word(" two", 2.1, 2.5),
        Word(" and", 2.5, 4.0),
        Word(" three", 4.0, 5.0),
        Word(" end", 5.7, 5.9),
    )
    found = hear(
        cast("Engine", Counting(lambda _: clear(*said, end=6.0))),
        np.zeros(60 * SAMPLE_RATE, np.float32),
        utterances,
        speech,
        "en",
    )
    assert [[word.text for word in one.heard.words] for one in found] == [[" one"], [" two", " and", " three", " end"]]
    assert found[1].heard.words[1] == Word(" and", 0.0, 1.0)


def test_a_word_across_a_pause_belongs_to_the_utterance_behind_it() -> None:
    """The pause is counted to it, and with it the end of the word before; a hundredth of it is no sign of that."""
    utterances = [span(10, 13), span(50, 53)]  # joined at 3 s
    speech = [span(10.4, 12.6), span(50.4, 52.6)]  # 0.4 to 2.6 s, and 3.4 to 5.6 s

    def texts(border: float) -> list[list[str]]:
        said = (Word(" one", 0.4, 2.3), Word(" two", 2.3, border), Word(" three", border, 5.6))
        engine = cast("Engine", Counting(lambda _: clear(*said, end=6.0)))
        found = hear(engine, np.zeros(60 * SAMPLE_RATE, np.float32), utterances, speech, "en")
        return [[word.text for word in one.heard.words] for one in found]

    assert texts(3.55) == [[" one"], [" two", " three"]]
    assert texts(3.45) == [[" one", " two"], [" three"]]


def test_a_piece_of_invented_words_is_heard_in_parts() -> None:
    """Noise among the utterances costs another pass, and not the words of the others."""
    utterances = [span(10, 13), span(50, 52), span(90, 94)]

    def transcribe(piece: Samples) -> Heard:
        seconds = len(piece) / SAMPLE_RATE
        if seconds in (2, 9):  # the noise, and all together
            return Heard((Word(" Thanks", 0.0, 1.0),), seconds, -2.0, 0.9, 1.0)
        return clear(Word(" words", 0.5, 1.0), end=seconds)

    engine = Counting(transcribe)
    found = hear(cast("Engine", engine), np.zeros(100 * SAMPLE_RATE, np.float32), utterances, utterances, "en")
    assert engine.lengths == [9, 3, 2, 4, 2]
    assert [one.span for one in found] == [utterances[0], utterances[2]]


def test_a_sentence_that_is_said_again_and_again_is_not_invented() -> None:
    """The whole piece repeats itself, and none of its utterances does; one that does is heard alone."""
    utterances = [span(10 * number, 10 * number + 3) for number in range(9)]
    samples = np.zeros(100 * SAMPLE_RATE, np.float32)

    def announce(piece: Samples) -> Heard:
        said = [Word(" Mind the gap between the train and the platform.", 3 * n + 0.5, 3 * n + 2.5) for n in range(9)]
        return Heard(tuple(said), 27.0, -0.2, 0.1, 6.0)

    def stutter(piece: Samples) -> Heard:
        seconds = len(piece) / SAMPLE_RATE
        return clear(Word(" you" * 200 if seconds == 27 else " you", 0.5, 2.5), end=seconds)

    engine = Counting(announce)
    found = hear(cast("Engine", engine), samples, utterances, utterances, "en")
    assert engine.lengths == [27]
    assert [len(one.heard.words) for one in found] == [1] * 9
    engine = Counting(stutter)
    assert len(hear(cast("Engine", engine), samples, utterances, utterances, "en")) == 9
    assert engine.lengths == [27, *[3] * 9]


def test_what_follows_an_early_end_is_heard_again_together() -> None:
    """The rests of a piece share a pass, too, and keep their places; what that pass leaves out is heard once more."""
    utterances = [span(10, 13), span(50, 53), span(90, 93)]

    def transcribe(piece: Samples) -> Heard:
        seconds = len(piece) / SAMPLE_RATE
        said = (Word(" words", 0.5, 1.0), Word(" more", 3.5, 4.5)) if seconds == 9 else (Word(" words", 0.5, 1.0),)
        return clear(*said, end=4.5 if seconds == 9 else seconds)

    engine = Counting(transcribe)
    found = hear(cast("Engine", engine), np.zeros(100 * SAMPLE_RATE, np.float32), utterances, utterances, "en")
    assert engine.lengths == [9, 4.5, 3]
    assert [one.span.start for one in found if one.heard.words] == [
        utterances[0].start,
        utterances[1].start,
        span(51.5, 53).start,
        utterances[2].start,
    ]


def test_a_sentence_whose_beginning_was_taken_for_silence_is_heard_from_there() -> None:
    """An engine that stops in a sentence without a word of it has not heard its beginning."""
    utterances, speech = [span(10, 13), span(50, 54)], [span(10.4, 12.6), span(50.4, 53.6)]

    def transcribe(piece: Samples) -> Heard:
        seconds = len(piece) / SAMPLE_RATE
        return clear(Word(" words", 0.4, min(seconds - 0.4, 3.45)), end=3.7 if seconds == 7 else seconds)

    engine = Counting(transcribe)
    found = hear(cast("Engine", engine), np.zeros(60 * SAMPLE_RATE, np.float32), utterances, speech, "en")
    assert engine.lengths == [7, 4]
    assert [one.span for one in found if one.heard.words] == utterances


def test_the_last_sound_of_a_heard_word_is_not_heard_again_before_the_rest() -> None:
    """Engines end words early; the sound left would take the first word of the next utterance, a minute later."""
    utterances = [span(10, 13), span(50, 53), span(90, 93)]
    speech = [span(10.4, 12.6), span(50.4, 52.6), span(90.4, 92.6)]

    def transcribe(piece: Samples) -> Heard:
        seconds = len(piece) / SAMPLE_RATE
        return clear(Word(" words", 0.0, 5.3 if seconds > 3 else 2.6), end=5.3 if seconds == 9 else seconds)

    engine = Counting(transcribe)
    found = hear(cast("Engine", engine), np.zeros(100 * SAMPLE_RATE, np.float32), utterances, speech, "en")
    assert engine.lengths == [9, 3, 3]  # the rest, and the utterance in which the first pass heard no word
    assert [one.span.start for one in found if one.heard.words] == [one.start for one in utterances]


def test_an_utterance_that_the_engine_passes_over_is_heard_alone() -> None:
    """Of two equal sentences in one piece Whisper may write one; the other is not lost."""
    utterances = [span(10, 14), span(50, 54)]

    def transcribe(piece: Samples) -> Heard:
        return clear(Word(" words", 0.5, 3.5), end=len(piece) / SAMPLE_RATE)

    engine = Counting(transcribe)
    found = hear(cast("Engine", engine), np.zeros(60 * SAMPLE_RATE, np.float32), utterances, utterances, "en")
    assert engine.lengths == [8, 4]
    assert [one.span for one in found if one.heard.words] == utterances


def test_a_sentence_repeated_in_one_utterance_is_heard_in_parts() -> None:
    """An announcement every two seconds looks like a loop of the engine; its parts between pauses do not."""
    speech = [span(3 * number, 3 * number + 2) for number in range(8)]

    def transcribe(piece: Samples) -> Heard:
        seconds = len(piece) / SAMPLE_RATE
        return Heard((Word(" Mind the gap.", 0.2, 1.8),), seconds, -0.2, 0.1, 6.0 if seconds > 4 else 0.9)

    engine = Counting(transcribe)
    found = hear(cast("Engine", engine), np.zeros(24 * SAMPLE_RATE, np.float32), [span(0, 23)], speech, "en")
    assert engine.lengths == [23, 2.5, *[3] * 6, 2.5]
    assert [len(one.heard.words) for one in found] == [1] * 8


def test_an_engine_that_ends_early_and_does_not_tell_so_is_asked_again() -> None:
    """Seconds of speech behind its last word are heard once more, from the first pause behind the word."""
    speech = [span(0.4, 3), span(3.5, 6), span(6.5, 9)]

    def transcribe(piece: Samples) -> Heard:
        return clear(Word(" words", 0.5, 2.9), end=len(piece) / SAMPLE_RATE)

    engine = Counting(transcribe)
    found = hear(cast("Engine", engine), np.zeros(10 * SAMPLE_RATE, np.float32), [span(0, 9.4)], speech, "en")
    assert engine.lengths == [9.4, 6.3, 3.3]
    assert [one.span.start for one in found] == [0, span(3.1, 4).start, span(6.1, 7).start]
