"""Beam search over several pieces at once against openai-whisper's own, over one."""

from typing import cast

import pytest
import torch
import whisper
from whisper.decoding import DecodingOptions, DecodingResult

from sourcebook.speech.engines.openai_whisper import OpenAiWhisper
from sourcebook.speech.engines.shared_audio import BatchedDecoding
from tests.unit.speech.clips import needs_clips, sound
from tests.unit.speech.conftest import Load

pytestmark = needs_clips
NAMES = ("picovoice_en.wav", "jfk.flac")


@pytest.fixture(scope="module")
def model(load: Load) -> whisper.Whisper:
    return cast("OpenAiWhisper", load("openai-whisper"))._model


def spectrogram(name: str) -> torch.Tensor:
    made: torch.Tensor = whisper.log_mel_spectrogram(whisper.pad_or_trim(torch.from_numpy(sound(name))))
    return made


def options(**changed: object) -> DecodingOptions:
    return DecodingOptions(**{"language": "en", "beam_size": 5, "fp16": False, **changed})


def decode(model: whisper.Whisper, names: tuple[str, ...], **changed: object) -> list[DecodingResult]:
    spectrograms = torch.stack([spectrogram(name) for name in names])
    with torch.inference_mode():
        results: list[DecodingResult] = BatchedDecoding(model, options(**changed)).run(spectrograms)
    return results


def test_each_piece_of_a_batch_gives_whisper_s_own_tokens(model: whisper.Whisper) -> None:
    """Pieces whose texts end at different steps have the beams and probabilities that Whisper finds for each alone."""
    for ours, name in zip(decode(model, NAMES), NAMES, strict=True):
        own = whisper.decode(model, spectrogram(name), options())
        assert ours.tokens == own.tokens
        assert ours.avg_logprob == pytest.approx(own.avg_logprob, abs=1e-3)
        assert ours.no_speech_prob == pytest.approx(own.no_speech_prob, abs=1e-3)


def test_greedy_decoding_is_whisper_s_own_too(model: whisper.Whisper) -> None:
    """One beam, whose cache nobody moves, and a batch of one."""
    (ours,) = decode(model, NAMES[:1], beam_size=None)
    assert ours.tokens == whisper.decode(model, spectrogram(NAMES[0]), options(beam_size=None)).tokens
