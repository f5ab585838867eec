"""A recording of a minute, its beginning, and a process for speech that tests share."""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import ClassVar

import numpy as np
import pytest

from sourcebook.config.speech import SpeechSettings
from sourcebook.model.transcript import SAMPLE_RATE, Language, Window
from sourcebook.speech.decoding import Samples, decode
from sourcebook.speech.process import SpeechProcess
from tests.integration.transcripts.recordings import SETTINGS
from tests.sounds import BRIEF_SECONDS, NOTE, write_sound


@pytest.fixture(scope="module")
def note() -> Samples:
    return np.concatenate(list(decode(str(NOTE))))


@pytest.fixture(scope="module")
def brief_samples(note: Samples) -> Samples:
    """The beginning of the note."""
    return note[: round(BRIEF_SECONDS * SAMPLE_RATE)]


@pytest.fixture(scope="module")
def brief(brief_samples: Samples, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("brief") / "brief.m4a"
    write_sound(path, brief_samples)
    return path


class KeptProcess(SpeechProcess):
    """A process for speech that stays at the end of a run: to load the engine takes longer than a brief recording.

    It transcribes each sound once, whatever the name and the tags of its file: tests begin with the same few.
    """

    _windows: ClassVar[dict[tuple[bytes, float, Language | None], list[Window]]] = {}

    def transcribe(
        self, place: str, *, start: float = 0.0, language: Language | None = None, track: int | None = None
    ) -> Iterator[Window]:
        """Yield the windows that are known of the same sound, or else those of the engine."""
        key = (self.probe(place).sound_sha256, start, language)
        if key not in self._windows:
            windows = []
            for window in super().transcribe(place, start=start, language=language, track=track):
                windows.append(window)
                yield window
            self._windows[key] = windows
        else:
            yield from self._windows[key]

    def forget(self) -> None:
        """Have the next recordings transcribed again."""
        self._windows.clear()

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Leave the child to the next run."""


@pytest.fixture(scope="module")
def kept_process(speech_home: Path) -> Iterator[KeptProcess]:
    """The process that tests share."""
    kept = KeptProcess(SpeechSettings.model_validate(SETTINGS), speech_home)
    yield kept
    kept.close()


@pytest.fixture
def shared_speech(kept_process: KeptProcess, speech_home: Path, monkeypatch: pytest.MonkeyPatch) -> KeptProcess:
    """Have the runs of a test use the process that tests share, and one of their own for other settings."""
    shared = (SpeechSettings.model_validate(SETTINGS), speech_home)

    def process(settings: SpeechSettings, home: Path) -> SpeechProcess:
        return kept_process if (settings, home) == shared else SpeechProcess(settings, home)

    monkeypatch.setattr("sourcebook.stages.transcripts.update.SpeechProcess", process)
    return kept_process
