"""The track of a recording that is transcribed."""

from pathlib import Path

import numpy as np
import pytest

from sourcebook.model.transcript import SAMPLE_RATE, Recording
from sourcebook.speech.decoding import decode, decode_channels
from sourcebook.speech.probing import probe
from tests.sounds import NOTE, join_tracks, write_sound
from tests.unit.speech.clips import Samples, silence, without_speech

SECONDS = 8


@pytest.fixture(scope="module")
def sounds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Recordings of speech, of silence, and of a band, by what they hold."""
    folder = tmp_path_factory.mktemp("sounds")
    said: Samples = np.concatenate(list(decode(str(NOTE))))[: SECONDS * SAMPLE_RATE]
    band = without_speech()["band"][: SECONDS * SAMPLE_RATE]
    paths: dict[str, Path] = {}
    for name, samples in {"speech": said, "others": said[::-1].copy() + said, "silent": silence(SECONDS)}.items():
        write_sound(paths.setdefault(name, folder / f"{name}.m4a"), samples)
    write_sound(paths.setdefault("band", folder / "band.m4a"), band)
    return paths


def found(folder: Path, sounds: dict[str, Path], tracks: str, ending: str = "mkv", default: int = 1) -> Recording:
    path = folder / f"recording.{ending}"
    join_tracks([sounds[name] for name in tracks.split()], path, default=default)
    return probe(str(path), max_hours=1)


@pytest.mark.parametrize("ending", ["mkv", "mp4"])
@pytest.mark.parametrize(
    ("tracks", "default", "chosen"),
    [
        ("silent speech", 1, 2),
        ("band silent speech", 1, 3),
        ("speech band", 2, 1),
        ("others speech", 2, 2),
        ("speech others", 1, 1),
        ("silent band", 2, 2),
    ],
)
def test_the_first_track_with_speech_is_transcribed(
    tmp_path: Path, sounds: dict[str, Path], tracks: str, default: int, chosen: int, ending: str
) -> None:
    """The default one where somebody speaks in it, or in none; its number is in the metadata."""
    recording = found(tmp_path, sounds, tracks, ending, default)
    assert (recording.track, recording.metadata["sound_track"]) == (chosen, chosen)
    assert recording.metadata["sound_tracks"] == len(tracks.split())
    alone = probe(str(sounds[tracks.split()[chosen - 1]]), max_hours=1)
    assert recording.sound_sha256 == alone.sound_sha256
    assert alone.track is None


def test_the_chosen_track_is_decoded(tmp_path: Path, sounds: dict[str, Path]) -> None:
    """By its number; without one, or with one that is not there, it is the default track."""
    found(tmp_path, sounds, "silent speech")
    path = str(tmp_path / "recording.mkv")
    for track, is_silent in ((1, True), (2, False), (None, True), (3, True)):
        assert np.concatenate(list(decode_channels(path, track=track)), axis=1).any() != is_silent
