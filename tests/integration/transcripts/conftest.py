"""A recording of a minute, its beginning, and a process for speech that tests share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
import pytest

from sourcebook.config.speech import SpeechSettings
from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.decoding import Samples, decode
from sourcebook.speech.process import SpeechProcess
from tests.integration.transcripts.recordings import SETTINGS
from tests.sounds import NOTE, write_sound

BRIEF_SECONDS = 10.15


@pytest.fixture(scope="module")
def note() -> Samples:
    return np.concatenate(list(decode(str(NOTE))))


@pytest.fixture(scope="module")
def brief_samples(note: Samples) -> Samples:
    """The beginning of the note, for tests to which its length means nothing: three sentences, with `NOTE_WORD`."""
    return note[: round(BRIEF_SECONDS * SAMPLE_RATE)]


@pytest.fixture(scope="module")
def brief(brief_samples: Samples, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("brief") / "brief.m4a"
    write_sound(path, brief_samples)
    return path


class KeptProcess(SpeechProcess):
    """A process for speech that stays at the end of a run: to load the engine takes longer than a brief recording."""

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Leave the child to the next run."""


@pytest.fixture(scope="module")
def speech_process(speech_home: Path) -> Iterator[Callable[[SpeechSettings, Path], SpeechProcess]]:
    """Return the process that tests share, and one of its own for other settings."""
    settings = SpeechSettings.model_validate(SETTINGS)
    kept = KeptProcess(settings, speech_home)

    def process(others: SpeechSettings, home: Path) -> SpeechProcess:
        return kept if (others, home) == (settings, speech_home) else SpeechProcess(others, home)

    yield process
    kept.close()


@pytest.fixture
def shared_speech(
    speech_process: Callable[[SpeechSettings, Path], SpeechProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Have the runs of a test use the process that tests share."""
    monkeypatch.setattr("sourcebook.stages.transcripts.update.SpeechProcess", speech_process)
