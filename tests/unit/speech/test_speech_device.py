"""The device of an engine, and the processor in place of a GPU that fails; no GPU is needed."""

import pytest
import torch

from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import SpeechError
from sourcebook.model.device import DeviceName
from sourcebook.speech.engine import Engine
from sourcebook.speech.engines.loading import FallingBack, speech_device
from tests.unit.speech.clips import sound
from tests.unit.speech.conftest import ENGLISH_PIECES, HearPieces, Load

VANISHED = torch.AcceleratorError("CUDA error: no CUDA-capable device is detected")


@pytest.mark.parametrize("engine", ["openai-whisper", "faster-whisper"])
def test_the_processor_is_chosen_where_there_is_no_gpu(engine: str) -> None:
    assert speech_device(SpeechSettings.model_validate({"engine": engine})).name == "cpu"


def test_ctranslate2_finds_its_gpu_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctranslate2.get_cuda_device_count", lambda: 1)
    assert speech_device(SpeechSettings(engine="faster-whisper")).name == "cuda"
    assert speech_device(SpeechSettings(engine="openai-whisper")).name == "cpu"


def test_a_gpu_that_cannot_be_loaded_to_leaves_the_processor(load: Load) -> None:
    """torch without CUDA refuses the device, as does CTranslate2."""
    asked: list[str] = []

    def on(device: DeviceName) -> Engine:
        asked.append(device)
        if device != "cpu":
            raise SpeechError("the model cannot be loaded")
        return load("faster-whisper")

    assert FallingBack(on, "cuda").detect_languages([sound("jfk.flac")])[0]["en"] > 0.5
    assert asked == ["cuda", "cpu"]


def test_a_gpu_that_vanishes_and_one_with_too_little_memory(load: Load, hear_pieces: HearPieces) -> None:
    """Pieces are halved until they fit; where the GPU vanishes, the processor hears the same."""
    engine = load("faster-whisper")
    pieces = [sound(name) for name in ENGLISH_PIECES]
    expected = hear_pieces("faster-whisper")
    heard_at_once: list[int] = []

    class Gpu:
        """The engine behind a GPU that holds one piece, and vanishes with the third call."""

        def detect_languages(self, sounds: object) -> list[dict[str, float]]:
            raise VANISHED

        def transcribe(self, given: list[object], language: str, *, again: bool = False) -> object:
            heard_at_once.append(len(given))
            if len(given) > 1:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
            if len(heard_at_once) > 2:
                raise VANISHED
            return engine.transcribe(given, language, again=again)  # type: ignore[arg-type] # as given

    def on(device: DeviceName) -> Engine:
        return engine if device == "cpu" else Gpu()  # type: ignore[return-value] # of the same form

    found = FallingBack(on, "cuda").transcribe(pieces, "en")
    assert [[word.text for word in each.words] for each in found] == [
        [word.text for word in each.words] for each in expected
    ]
    assert heard_at_once == [3, 1, 2, 1], "after the last one the processor goes on"
    assert FallingBack(on, "cuda").detect_languages(pieces[:1]) == engine.detect_languages(pieces[:1])


def test_a_failure_of_the_processor_is_no_reason_to_try_it_again() -> None:
    def on(_: DeviceName) -> Engine:
        raise SpeechError("the model cannot be loaded")

    with pytest.raises(SpeechError, match="cannot be loaded"):
        FallingBack(on, "cuda")
