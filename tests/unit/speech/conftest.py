"""Whisper base from the packages that ship it, and both engines with it, loaded once for all tests of this folder."""

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from sourcebook.config.speech import EngineName, SpeechSettings
from sourcebook.speech.engine import Engine, Heard
from sourcebook.speech.weights import PACKAGES, Weights, find_weights
from tests.unit.speech.clips import sound

Load = Callable[[EngineName], Engine]
Hear = Callable[[EngineName, str, str], Heard]
"""Engine, name of a clip and its language, to what the engine hears."""
HearPieces = Callable[[EngineName], list[Heard]]
"""Engine to what it hears of `ENGLISH_PIECES`."""
ENGLISH_PIECES = ("jfk.flac", "picovoice_en.wav", "picovoice_en.wav")
"""Clips in English; one more than an engine hears at once here."""
_BATCH = len(ENGLISH_PIECES) - 1


@pytest.fixture(scope="session")
def weights() -> Weights:
    """What the packages hold."""
    found = find_weights("base")
    if not found.parts:
        pytest.skip(f"the packages {' and '.join(PACKAGES)} are not installed")
    return found


@pytest.fixture(scope="session")
def home(weights: Weights, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for state, in which the engines keep the weights that they make of the packages."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def load(home: Path) -> Load:
    """Load an engine, each once a session; torch computes in one thread, as other tests have the other cores."""
    import torch

    from sourcebook.speech.engines.loading import load_engine

    torch.set_num_threads(1)

    @cache
    def loaded(name: EngineName) -> Engine:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # whisper leaves the file of its vocabulary open
            from whisper.tokenizer import get_encoding

            get_encoding(name="multilingual", num_languages=99)
        return load_engine(SpeechSettings(engine=name), home)

    return loaded


@pytest.fixture(scope="session")
def hear_pieces(load: Load) -> HearPieces:
    """Transcribe the English clips together with an engine, once a session."""

    @cache
    def heard(engine: EngineName) -> list[Heard]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(f"sourcebook.speech.engines.{engine.replace('-', '_')}._BATCH", _BATCH)
            return load(engine).transcribe([sound(name) for name in ENGLISH_PIECES], "en")

    return heard


@pytest.fixture(scope="session")
def hear(load: Load, hear_pieces: HearPieces) -> Hear:
    """Transcribe a clip with an engine, each once a session: an English one among others, the others alone."""

    @cache
    def heard(engine: EngineName, clip: str, language: str) -> Heard:
        if language == "en":
            return hear_pieces(engine)[ENGLISH_PIECES.index(clip)]
        (only,) = load(engine).transcribe([sound(clip)], language)
        return only

    return heard


@pytest.fixture(params=["openai-whisper", "faster-whisper"])
def engine_name(request: pytest.FixtureRequest) -> EngineName:
    """Each of the two engines' names."""
    name: EngineName = request.param
    return name


@pytest.fixture
def engine(engine_name: EngineName, load: Load) -> Engine:
    """Each of the two engines."""
    return load(engine_name)
