"""Beam search over several pieces at once against openai-whisper's own, over one."""

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import cast

import pytest
import torch
import whisper
from whisper.audio import HOP_LENGTH
from whisper.decoding import DecodingOptions, DecodingResult
from whisper.timing import find_alignment
from whisper.tokenizer import get_tokenizer

from sourcebook.speech.engines import openai_whisper
from sourcebook.speech.engines.openai_whisper import BatchedDecoding, DecoderOfEncodedSound, OpenAiWhisper
from tests.unit.speech.clips import needs_clips, sound, words
from tests.unit.speech.conftest import Load

pytestmark = needs_clips
NAMES = ("picovoice_en.wav", "jfk.flac")


@pytest.fixture(scope="module")
def model(load: Load) -> whisper.Whisper:
    return cast("OpenAiWhisper", load("openai-whisper"))._model


@pytest.fixture(scope="module")
def encoded(model: whisper.Whisper) -> Callable[[str], torch.Tensor]:
    """Return a clip as the model's encoder gives it, once for all tests: decoding is what they compare."""

    @cache
    def encode(name: str) -> torch.Tensor:
        spectrogram = whisper.log_mel_spectrogram(whisper.pad_or_trim(torch.from_numpy(sound(name))))
        with torch.inference_mode():
            features: torch.Tensor = model.embed_audio(spectrogram[None])[0]
        return features

    return encode


def options(**changed: object) -> DecodingOptions:
    return DecodingOptions(**{"language": "en", "beam_size": 5, "fp16": False, **changed})


def decode(model: whisper.Whisper, pieces: list[torch.Tensor], **changed: object) -> list[DecodingResult]:
    with torch.inference_mode():
        results: list[DecodingResult] = BatchedDecoding(model, options(**changed)).run(torch.stack(pieces))
    return results


def test_each_piece_of_a_batch_gives_whisper_s_own_tokens(
    model: whisper.Whisper, encoded: Callable[[str], torch.Tensor]
) -> None:
    """Pieces whose texts end at different steps have the beams and probabilities that Whisper finds for each alone."""
    pieces = [encoded(name) for name in NAMES]
    for ours, piece in zip(decode(model, pieces), pieces, strict=True):
        own = whisper.decode(model, piece, options())
        assert ours.tokens == own.tokens
        assert ours.avg_logprob == pytest.approx(own.avg_logprob, abs=1e-3)
        assert ours.no_speech_prob == pytest.approx(own.no_speech_prob, abs=1e-3)


def test_words_of_encoded_sound_have_whisper_s_own_times(
    model: whisper.Whisper, encoded: Callable[[str], torch.Tensor]
) -> None:
    """The alignment of words takes sound that is encoded, and gives what it gives for the spectrogram."""
    samples = sound(NAMES[0])
    tokenizer = get_tokenizer(model.is_multilingual, language="en", task="transcribe")
    tokens, frames = tokenizer.encode(words(NAMES[0])), len(samples) // HOP_LENGTH
    spectrogram = whisper.log_mel_spectrogram(whisper.pad_or_trim(torch.from_numpy(samples)))
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whisper warns that alignment runs without a GPU
        own = find_alignment(model, tokenizer, tokens, spectrogram, frames)
        ours = find_alignment(
            DecoderOfEncodedSound(model, model.alignment_heads), tokenizer, tokens, encoded(NAMES[0]), frames
        )
    assert [(word.word, word.start, word.end) for word in ours] == [(word.word, word.start, word.end) for word in own]


def test_sound_is_encoded_once(load: Load, model: whisper.Whisper, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the text of a piece and for the times of its words."""
    monkeypatch.setattr(openai_whisper, "DecodingOptions", partial(DecodingOptions, sample_len=8))
    calls: list[object] = []
    counting = model.encoder.register_forward_hook(lambda *called: calls.append(called))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whisper gives NumPy the tensor of beams that are cut off
            (heard,) = load("openai-whisper").transcribe([sound(NAMES[0])], "en")
    finally:
        counting.remove()
    assert heard.words
    assert len(calls) == 1


def test_greedy_decoding_is_whisper_s_own_too(model: whisper.Whisper, encoded: Callable[[str], torch.Tensor]) -> None:
    """One beam, whose cache nobody moves, and a batch of one."""
    piece = encoded(NAMES[0])
    (ours,) = decode(model, [piece], beam_size=None)
    assert ours.tokens == whisper.decode(model, piece, options(beam_size=None)).tokens
