"""Load a collection's engine, on the processor where its GPU fails, and convert packaged weights for it."""

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import MissingDependencyError, SpeechError
from sourcebook.installation import install_command
from sourcebook.model.device import DeviceName
from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.processes.device import Device, choose_device
from sourcebook.speech.checkpoint import write_checkpoint
from sourcebook.speech.decoding import Samples
from sourcebook.speech.engine import Engine, Heard
from sourcebook.speech.weights import Weights, find_weights, join_parts

_MAKING = ".making-"
"""Prefix of folders with unfinished weights."""
_SECONDS_TO_MAKE = 3600
"""Seconds after which an unfinished folder belongs to a killed process and is removed."""


def load_engine(settings: SpeechSettings, home: Path) -> Engine:
    """Load an engine with its model; takes seconds, and minutes where the engine downloads the model.

    Raises:
        SpeechError: the model cannot be found or loaded.
        MissingDependencyError: the engine is not installed.
    """
    package = settings.engine.replace("openai-", "").replace("-", "_")
    if find_spec(package) is None:
        raise MissingDependencyError(f"{settings.engine} is not installed: {install_command('pipeline')}")
    device = speech_device(settings)
    if device.name == "cpu" or device.is_required:
        return _load(settings, home, device.name)
    return FallingBack(lambda name: _load(settings, home, name), device.name)


def _load(settings: SpeechSettings, home: Path, device: DeviceName) -> Engine:
    """Load the engine to a device."""
    weights = find_weights(settings.model)
    try:
        if settings.engine == "faster-whisper":
            from sourcebook.speech.engines.faster_whisper import FasterWhisper

            model = str(ctranslate2_model(weights, home) or weights.name)
            return FasterWhisper(model, "cuda" if device == "cuda" else "cpu")
        from sourcebook.speech.engines.openai_whisper import OpenAiWhisper

        return OpenAiWhisper(str(openai_checkpoint(weights, home) or weights.name), name=settings.model, device=device)
    except SpeechError:
        raise
    except Exception as error:  # an engine or its downloader may raise anything
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise SpeechError(
            f"the model {settings.model!r} cannot be loaded by {settings.engine} ({reason}): set speech.model to the "
            f"path of one, or install the weights of base: {install_command('pipeline')}"
        ) from error


def ctranslate2_model(weights: Weights, home: Path) -> Path | None:
    """Return a model's folder in CTranslate2's format, made once from packaged weights; None for a download."""
    if not weights.parts:
        return weights.path

    def make(folder: Path) -> None:
        folder.mkdir()
        join_parts(weights.parts, folder)

    return _made_once(home / "models" / f"whisper-{weights.identity}", make)


def openai_checkpoint(weights: Weights, home: Path) -> Path | None:
    """Return a checkpoint, made once from weights in CTranslate2's format; None for a download."""
    if weights.path is not None and weights.path.is_file():
        return weights.path
    if weights.path is None and not weights.parts:
        return None

    def make(checkpoint: Path) -> None:
        with tempfile.TemporaryDirectory(dir=checkpoint.parent) as name:
            folder = weights.path or Path(name)
            if weights.parts:
                join_parts(weights.parts, folder)
            write_checkpoint(folder / "model.bin", checkpoint)

    return _made_once(home / "models" / f"whisper-{weights.identity}.pt", make)


def _clear_away(folder: Path) -> None:
    """Remove the unfinished folders of killed processes."""
    for left in folder.glob(f"{_MAKING}*"):
        if time.time() - left.stat().st_mtime > _SECONDS_TO_MAKE:
            shutil.rmtree(left, ignore_errors=True)


def _made_once(target: Path, make: Callable[[Path], None]) -> Path:
    """Make a file or folder under a temporary name and move it into place, so that it is never incomplete.

    Two processes may do so at once: the result of the later one is dropped.

    Raises:
        SpeechError: the folder cannot be written.
    """
    if target.exists():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_away(target.parent)
        with tempfile.TemporaryDirectory(prefix=_MAKING, dir=target.parent) as name:
            made = Path(name) / target.name
            make(made)
            try:
                os.replace(made, target)  # noqa: PTH105 - its error names the path at fault
            except OSError:
                if not target.exists():
                    raise
                shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise SpeechError(f"{target} cannot be written: {error.strerror or error}") from error
    return target


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
        load: loads the engine to a device.
        device: the GPU.
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
            Exception: the error, where the processor has it.
        """
        if not self._is_gpu:
            raise error
        self._is_gpu = False
        _log.warning("the GPU failed (%s); the processor goes on", " ".join(str(error).split())[:300])
        self._engine = self._load("cpu")
