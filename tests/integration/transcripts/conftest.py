"""A recording of a minute, and its beginning."""

from pathlib import Path

import numpy as np
import pytest

from sourcebook.model.transcript import SAMPLE_RATE
from sourcebook.speech.decoding import Samples, decode
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
