"""Loading an engine, and making its model once."""

import os
import threading
from pathlib import Path

import pytest

from sourcebook.config.speech import EngineName, SpeechSettings
from sourcebook.errors import SpeechError
from sourcebook.speech.engines.loading import _made_once, ctranslate2_model, load_engine, openai_checkpoint
from sourcebook.speech.weights import Weights, find_weights


def write_folder(folder: Path) -> None:
    folder.mkdir()
    (folder / "model.bin").write_text("whole")


def write_file(file: Path) -> None:
    file.write_text("whole")


@pytest.mark.parametrize("make", [write_folder, write_file])
def test_what_is_there_is_not_made_again(make: object, tmp_path: Path) -> None:
    """The second call makes nothing."""
    calls: list[Path] = []

    def counted(path: Path) -> None:
        calls.append(path)
        make(path)  # type: ignore[operator]

    target = tmp_path / "home" / "models" / "whisper"
    assert _made_once(target, counted) == _made_once(target, counted) == target
    assert len(calls) == 1
    assert [path.name for path in target.parent.iterdir()] == ["whisper"]


@pytest.mark.parametrize("make", [write_folder, write_file])
def test_two_at_once_both_get_a_whole_one(make: object, tmp_path: Path) -> None:
    """Neither fails, and nothing is left beside it."""
    target = tmp_path / "whisper"
    together = threading.Barrier(2, timeout=60)
    results: list[Path] = []

    def slowly(path: Path) -> None:
        together.wait()
        make(path)  # type: ignore[operator]
        together.wait()

    threads = [threading.Thread(target=lambda: results.append(_made_once(target, slowly))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [target, target]
    assert (target / "model.bin" if target.is_dir() else target).read_text() == "whole"
    assert [path.name for path in tmp_path.iterdir()] == ["whisper"]


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    """Half a model is never taken for a whole one."""

    def half(folder: Path) -> None:
        write_folder(folder)
        raise SpeechError("damaged")

    with pytest.raises(SpeechError, match="damaged"):
        _made_once(tmp_path / "whisper", half)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_a_speech_error(weights: Weights, tmp_path: Path) -> None:
    """The message names what could not be written."""
    (tmp_path / "models").write_text("a file where a folder should be")
    for make in (ctranslate2_model, openai_checkpoint):
        with pytest.raises(SpeechError, match=r"models.whisper-base-.* cannot be written: "):
            make(weights, tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_is_a_speech_error(tmp_path: Path) -> None:
    """It says so, and leaves nothing."""

    def fill(path: Path) -> None:
        Path(path).symlink_to("/dev/full")
        path.write_text("too much")

    with pytest.raises(SpeechError, match=r"whisper cannot be written: No space left on device"):
        _made_once(tmp_path / "whisper", fill)
    assert not list(tmp_path.iterdir())


def test_a_model_s_own_folder_is_used_as_it_is(weights: Weights, home: Path) -> None:
    """A model at a path is not copied; for openai-whisper a checkpoint is made of one in CTranslate2's format."""
    folder = ctranslate2_model(weights, home)
    assert folder is not None
    found = find_weights(str(folder))
    assert ctranslate2_model(found, home) == folder
    checkpoint = openai_checkpoint(found, home)
    assert checkpoint is not None
    packaged = openai_checkpoint(weights, home)
    assert packaged is not None
    assert checkpoint.stat().st_size == pytest.approx(packaged.stat().st_size, rel=0.001)
    os.unlink(checkpoint)  # noqa: PTH108 - a second one of 140 MB


@pytest.mark.parametrize("engine", ["openai-whisper", "faster-whisper"])
def test_a_model_that_is_none_is_a_speech_error(engine: EngineName, tmp_path: Path) -> None:
    """A file of any content says which setting to change."""
    broken = tmp_path / "model" / "model.bin"
    broken.parent.mkdir()
    broken.write_bytes(b"nothing of the kind")
    with pytest.raises(SpeechError, match=r"model"):
        load_engine(SpeechSettings(engine=engine, model=str(broken.parent)), tmp_path)
    with pytest.raises(SpeechError, match=r"cannot be loaded by .*: set speech\.model to"):
        load_engine(SpeechSettings(engine=engine, model=str(broken)), tmp_path)


def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path) -> None:
    """Half a model that is older than any that is being made goes; a younger one may be somebody's work."""
    old, young = tmp_path / ".making-old", tmp_path / ".making-young"
    for folder in (old, young):
        folder.mkdir()
        (folder / "model.bin").write_bytes(b"half of it")
    os.utime(old, (0, 0))
    _made_once(tmp_path / "model", write_folder)
    assert not old.exists()
    assert young.exists()
