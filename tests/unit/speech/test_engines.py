"""Both engines with real weights, on real clips."""

from functools import partial

import pytest
from whisper.decoding import DecodingOptions

from sourcebook.config.speech import EngineName
from sourcebook.speech.engine import Engine
from sourcebook.speech.engines import openai_whisper
from sourcebook.speech.engines.faster_whisper import FasterWhisper
from tests.unit.speech.clips import error_rate, needs_clips, normal, silence, sound, words
from tests.unit.speech.conftest import ENGLISH_PIECES, Hear, HearPieces

CLIPS = [
    ("jfk.flac", "en", 0.0),
    ("picovoice_en.wav", "en", 0.0),
    ("picovoice_fr.wav", "fr", 0.16),
]
GERMAN = ("picovoice_de.wav", "de", 0.40)


@needs_clips
@pytest.mark.parametrize(
    ("engine_name", "name", "language", "most"),
    [(engine, *clip) for engine in ("openai-whisper", "faster-whisper") for clip in CLIPS]
    + [("faster-whisper", *GERMAN)],
)
def test_it_hears_what_is_said(
    engine: Engine, engine_name: EngineName, hear: Hear, name: str, language: str, most: float
) -> None:
    """Words and language of a clip; its words follow each other within it, and are spoken as surely as words are."""
    clip = sound(name)
    seconds = len(clip) / 16_000
    (languages,) = engine.detect_languages([clip])
    assert max(languages, key=lambda code: languages[code]) == language
    assert 0.5 < languages[language] <= 1.0
    heard = hear(engine_name, name, language)
    assert error_rate(words(name), "".join(word.text for word in heard.words), language) <= most
    starts = [word.start for word in heard.words]
    assert starts == sorted(starts)
    assert all(0 <= word.start <= word.end <= seconds + 0.1 for word in heard.words)
    assert 0.8 * seconds < heard.end <= seconds
    assert -1.0 < heard.average_log_probability < 0
    assert 0 <= heard.no_speech_probability < 0.6
    assert 0 < heard.compression_ratio < 2.4


@needs_clips
def test_the_two_engines_agree(hear: Hear) -> None:
    """One hears with float32 what the other does in eight bits: the checkpoint that was written is the same model."""
    one, other = hear("openai-whisper", "jfk.flac", "en"), hear("faster-whisper", "jfk.flac", "en")
    texts = [normal("".join(word.text for word in heard.words)) for heard in (one, other)]
    assert texts[0] == texts[1] == normal(words("jfk.flac"))
    assert one.average_log_probability == pytest.approx(other.average_log_probability, abs=0.05)
    for first, second in zip(one.words, other.words, strict=True):
        assert first.start == pytest.approx(second.start, abs=1.5)  # where a pause begins, they differ


@needs_clips
def test_pieces_do_not_change_each_other(engine_name: EngineName, hear_pieces: HearPieces) -> None:
    """More pieces than are heard at once, of several lengths: each gives its own words, in order."""
    heard = hear_pieces(engine_name)
    assert [normal("".join(word.text for word in one.words)) for one in heard] == [
        normal(words(name)) for name in ENGLISH_PIECES
    ]


@needs_clips
def test_each_sound_has_a_language_of_its_own(engine: Engine) -> None:
    """Two seconds of speech tell it as surely as a clip, whatever is beside them; probabilities are one in sum."""
    sounds = [sound("picovoice_fr.wav")[20_000:52_000], sound("jfk.flac"), sound("picovoice_de.wav")[15_000:47_000]]
    found = engine.detect_languages(sounds)
    assert [max(one, key=lambda code: one[code]) for one in found] == ["fr", "en", "de"]
    assert all(max(one.values()) > 0.8 for one in found)
    assert all(sum(one.values()) == pytest.approx(1.0, abs=0.01) for one in found)


@needs_clips
def test_a_second_try_is_the_same_each_time(engine: Engine) -> None:
    """It takes another way, and always the same one: a run that is resumed gives what one whole gives."""
    first, second = (engine.transcribe([sound("picovoice_en.wav")], "en", again=True) for _ in range(2))
    assert first == second
    assert error_rate(words("picovoice_en.wav"), "".join(word.text for word in first[0].words)) < 0.5


def test_silence_is_told_by_its_numbers(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an engine makes of no sound at all, is known to be nothing; no length is an error.

    The number comes with the first token; the text, which may go on to its longest length, is cut.
    """
    if isinstance(engine, FasterWhisper):
        monkeypatch.setattr(engine._model, "max_length", 16)
    monkeypatch.setattr(openai_whisper, "DecodingOptions", partial(DecodingOptions, sample_len=8))
    for heard in engine.transcribe([silence(0.1), silence(30.0)], "en"):
        assert heard.no_speech_probability > 0.6 or not heard.words


def test_no_pieces_are_no_error(engine: Engine) -> None:
    """A stretch without speech has none."""
    assert engine.transcribe([], "en") == []
    assert engine.detect_languages([]) == []
