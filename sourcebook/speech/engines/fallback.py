"""The device of an engine, and the processor in place of a GPU that fails."""

import logging
from collections.abc import Callable, Sequence

from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import SpeechError
from sourcebook.model.device import DeviceName
from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.processes.device import Device, choose_device
from sourcebook.speech.decoding import Samples
from sourcebook.speech.engine import Engine, Heard

_log = logging.getLogger("sourcebook.speech")


def speech_device(settings: SpeechSettings) -> Device:
    """Choose the device of an engine; faster-whisper asks CTranslate2, which needs no torch, for a GPU."""
    if settings.engine != "faster-whisper":
        return choose_device("auto", name="speech")
    import ctranslate2

    if ctranslate2.get_cuda_device_count() > 0:
        return Device("cuda", "CTranslate2 can use a GPU")
    return Device("cpu", "CTranslate2 finds no GPU that it can use")


class FallingBack:
    """An engine on a GPU; where it cannot be loaded there, or fails, the processor goes on in its place.

    Args:
        load: Loads the engine to a device.
        device: The GPU.
    """

    def __init__(self, load: Callable[[DeviceName], Engine], device: DeviceName) -> None:
        self._load, self._is_gpu = load, True
        try:
            self._engine = load(device)
        except SpeechError as error:
            self._use_processor(error)

    def detect_languages(self, sounds: Sequence[Samples]) -> list[dict[str, float]]:
        """See the method of `Engine`."""
        try:
            return self._engine.detect_languages(sounds)
        except RuntimeError as error:
            self._use_processor(error)
            return self._engine.detect_languages(sounds)

    def transcribe(self, pieces: Sequence[Samples], language: str, *, again: bool = False) -> list[Heard]:
        """See the method of `Engine`. After a lack of memory the pieces are taken in halves."""
        try:
            return self._engine.transcribe(pieces, language, again=again)
        except RuntimeError as error:
            if self._is_gpu and len(pieces) > 1 and "out of memory" in str(error):
                seconds = sum(map(len, pieces)) / SAMPLE_RATE
                _log.warning("too little memory of the GPU for %.0f s of sound at once: halved", seconds)
                half = len(pieces) // 2
                first = self.transcribe(pieces[:half], language, again=again)
                return first + self.transcribe(pieces[half:], language, again=again)
            self._use_processor(error)
            return self._engine.transcribe(pieces, language, again=again)

    def _use_processor(self, error: Exception) -> None:
        """Load the engine to the processor.

        Raises:
            Exception: The error, where the processor has it.
        """
        if not self._is_gpu:
            raise error
        self._is_gpu = False
        _log.warning("the GPU failed (%s); the processor goes on", " ".join(str(error).split())[:300])
        self._engine = self._load("cpu")
