"""Model folders that cannot be loaded, and what is said about each."""

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from sourcebook.embedding.model import find_model
from sourcebook.embedding.weights import bundled_folder, weights_sha256
from sourcebook.errors import ModelError

WEIGHTS = "model.safetensors"


class Alarm:
    """Writes a file where it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.file,)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model's folder with small weights and the settings of the default model."""
    source, folder = bundled_folder(), tmp_path / "model"
    assert source is not None
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(WEIGHTS))
    save_file({"weight": np.ones((40, 30), np.float32)}, folder / WEIGHTS)
    return folder


def refusal(folder: Path) -> str:
    """Return what is said where the folder is named as a model."""
    with pytest.raises(ModelError) as refused:
        find_model(str(folder))
    return str(refused.value)


def test_a_folder_without_weights(folder: Path) -> None:
    find_model(str(folder))
    (folder / WEIGHTS).unlink()
    (folder / "training_args.bin").write_bytes(b"left by training")
    assert refusal(folder).startswith(f"The folder {folder} holds no weights (*.safetensors): give the folder of")


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "2_Dense/pytorch_model.bin"])
def test_pickled_weights_are_refused_and_never_loaded(folder: Path, tmp_path: Path, name: str) -> None:
    """Also where one module alone has them: a pickle runs what it says."""
    if "/" not in name:
        (folder / WEIGHTS).unlink()
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(pickle.dumps(Alarm(tmp_path / "run")))
    assert f"has pickled weights ({name}), which can run any program" in refusal(folder)
    assert not (tmp_path / "run").exists()


def test_pickled_weights_beside_safetensors_are_not_looked_at(folder: Path) -> None:
    before = weights_sha256(folder)
    (folder / "pytorch_model.bin").write_bytes(b"the same in the other format")
    assert weights_sha256(folder) == before


@pytest.mark.parametrize("left", [0, 5, 40, 1_000])
def test_weights_that_end_early(folder: Path, left: int) -> None:
    """Cut within the length of the header, within the header, and within a tensor."""
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[:left])
    said = refusal(folder)
    assert said.startswith(f"The model's file {folder / WEIGHTS} is half downloaded or damaged")
    assert (f"({left:,} of {len(whole):,} bytes)" in said) == (left == 1_000)
    assert said.endswith("download the model again.")


def test_a_pointer_in_place_of_the_weights(folder: Path) -> None:
    """A clone without Git LFS has a few lines of text."""
    (folder / WEIGHTS).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:53aa\nsize 90868376\n")
    assert "is a pointer of Git LFS, not the weights: run  git lfs pull  there." in refusal(folder)


def test_files_of_a_download_that_goes_on(folder: Path) -> None:
    (folder / "model-2.safetensors.incomplete").touch()
    assert "is half downloaded: it has model-2.safetensors.incomplete; download the model again." in refusal(folder)


def test_a_part_that_the_index_names_and_nobody_has(folder: Path) -> None:
    """Weights in several files come with an index of them."""
    index = {"weight_map": {"one": WEIGHTS, "two": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "is half downloaded: it lacks model-00002-of-00002.safetensors;" in refusal(folder)
    (folder / "model.safetensors.index.json").write_text('{"weight_map": ')
    assert "model.safetensors.index.json is damaged: download the model again." in refusal(folder)
    (folder / "model.safetensors.index.json").write_text("[" * 100_000)
    assert "model.safetensors.index.json is damaged: download the model again." in refusal(folder)


def test_a_part_that_the_names_of_others_tell_of(folder: Path) -> None:
    """The index may be missing, too."""
    (folder / WEIGHTS).rename(folder / "model-00001-of-00002.safetensors")
    assert "is half downloaded: it lacks model-00002-of-00002.safetensors; download" in refusal(folder)


def test_json_that_is_nested_too_deeply_is_damaged(folder: Path) -> None:
    header = b"[" * 100_000
    (folder / "config.json").write_bytes(header)
    assert "config.json cannot be read: maximum recursion depth" in refusal(folder)
    (folder / WEIGHTS).write_bytes(len(header).to_bytes(8, "little") + header)
    assert "model.safetensors is half downloaded or damaged: download" in refusal(folder)
