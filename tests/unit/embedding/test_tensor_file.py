"""Tensors on disk, piece by piece."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from sourcebook.embedding.tensor_file import NewTensor, TensorFile, write_tensors
from sourcebook.errors import ModelError


def test_the_bytes_are_those_of_the_package(tmp_path: Path) -> None:
    """Whatever the names and the lengths of the pieces; so the digest of a written model is that of its publisher."""
    numbers = np.random.default_rng(0).standard_normal(1_200_000).astype(np.float32)
    tensors = {"b.weight": numbers.reshape(3, -1), "a.größe": numbers[:7], "empty": numbers[:0], "b.bias": numbers[:1]}
    save_file(tensors, tmp_path / "theirs", metadata={"format": "pt"})
    pieces = {name: np.array_split(array.reshape(-1), 5) for name, array in tensors.items()}
    write_tensors(tmp_path / "ours", {name: NewTensor(tensors[name].shape, pieces[name]) for name in tensors})
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert load_file(tmp_path / "ours")["b.weight"].shape == (3, 400_000)
    with TensorFile(tmp_path / "theirs") as read:
        for name, array in tensors.items():
            assert read.shape(name) == array.shape
            found = list(read.pieces(name))
            assert np.array_equal(np.concatenate([*found, numbers[:0]]), array.reshape(-1))
        assert len(list(read.pieces("b.weight"))) > 1


def test_other_types_are_refused(tmp_path: Path) -> None:
    save_file({"half": np.zeros(4, np.float16)}, tmp_path / "file")
    with TensorFile(tmp_path / "file") as read, pytest.raises(ModelError, match="have no tensor half of F32"):
        list(read.pieces("half"))
