"""Weights in CTranslate2's format as a checkpoint of openai-whisper."""

import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from sourcebook.errors import SpeechError
from sourcebook.speech.checkpoint import read_variables, write_checkpoint
from sourcebook.speech.engines.loading import ctranslate2_model, openai_checkpoint
from sourcebook.speech.weights import Weights

Variables = Mapping[str, NDArray[np.generic]]
Checkpoint = dict[str, dict[str, torch.Tensor]]
TYPES = {"float32": 0, "int8": 1, "int16": 2, "int32": 3, "float16": 4}
BASE = {"n_mels": 80, "n_audio_ctx": 1500, "n_audio_state": 512, "n_audio_head": 8, "n_audio_layer": 6}
BASE |= {"n_vocab": 51865, "n_text_ctx": 448, "n_text_state": 512, "n_text_head": 8, "n_text_layer": 6}
LAYERS = range(6)


@pytest.fixture(scope="module")
def model(weights: Weights, home: Path) -> Path:
    folder = ctranslate2_model(weights, home)
    assert folder is not None
    return folder / "model.bin"


@pytest.fixture(scope="module")
def variables(model: Path) -> Variables:
    return read_variables(model)


@pytest.fixture(scope="module")
def checkpoint(weights: Weights, home: Path) -> Checkpoint:
    path = openai_checkpoint(weights, home)
    assert path is not None
    made: Checkpoint = torch.load(path, weights_only=True)
    return made


def model_bin(variables: Variables, *, name: bytes = b"WhisperSpec", version: int = 6) -> bytes:
    """Write CTranslate2's format."""
    parts = [struct.pack("<IH", version, len(name) + 1), name, b"\0", struct.pack("<II", 3, len(variables))]
    for key, array in variables.items():
        parts += [struct.pack("<H", len(key) + 1), key.encode(), b"\0", struct.pack("<B", array.ndim)]
        parts += [struct.pack("<I", size) for size in array.shape]
        parts += [struct.pack("<BI", TYPES[str(array.dtype)], array.nbytes), array.tobytes()]
    return b"".join([*parts, struct.pack("<I", 0)])


def joined(state: Mapping[str, torch.Tensor], attention: str, names: str, kind: str) -> NDArray[np.generic]:
    """Return projections in one matrix again; the key's has no bias."""
    zeros = torch.zeros(512, dtype=torch.float16)
    return torch.cat([state.get(f"{attention}.{name}.{kind}", zeros) for name in names.split()]).numpy()


def test_the_dimensions_are_those_of_whisper_base(checkpoint: Checkpoint) -> None:
    """They are read off the tensors."""
    assert checkpoint["dims"] == BASE


def test_every_tensor_of_whisper_s_own_model_is_there(checkpoint: Checkpoint) -> None:
    """No name is missing, none is too many, and every shape fits."""
    from whisper.model import ModelDimensions, Whisper

    Whisper(ModelDimensions(**BASE)).load_state_dict(checkpoint["model_state_dict"], strict=True)


def test_every_weight_is_the_one_of_ctranslate2(checkpoint: Checkpoint, variables: Variables) -> None:
    """Put together again under CTranslate2's names, the tensors are its variables bit for bit; none is left over."""
    state = checkpoint["model_state_dict"]
    again = {f"encoder/{name}": f"encoder.{name}" for name in ("conv1", "conv2")}
    norms = {"encoder/layer_norm": "encoder.ln_post", "decoder/layer_norm": "decoder.ln"}
    tables: dict[str, NDArray[np.generic]] = {
        "decoder/embeddings/weight": state["decoder.token_embedding.weight"].numpy()
    }
    for part in ("encoder", "decoder"):
        tables[f"{part}/position_encodings/encodings"] = state[f"{part}.positional_embedding"].numpy()
        for number in LAYERS:
            source, target = f"{part}/layer_{number}", f"{part}.blocks.{number}"
            norms |= {
                f"{source}/self_attention/layer_norm": f"{target}.attn_ln",
                f"{source}/ffn/layer_norm": f"{target}.mlp_ln",
            }
            again |= {f"{source}/self_attention/linear_1": f"{target}.attn.out"}
            again |= {f"{source}/ffn/linear_0": f"{target}.mlp.0", f"{source}/ffn/linear_1": f"{target}.mlp.2"}
            fused = {f"{source}/self_attention/linear_0": (f"{target}.attn", "query key value")}
            if part == "decoder":
                norms |= {f"{source}/attention/layer_norm": f"{target}.cross_attn_ln"}
                again |= {f"{source}/attention/linear_2": f"{target}.cross_attn.out"}
                fused |= {f"{source}/attention/linear_0": (f"{target}.cross_attn", "query")}
                fused |= {f"{source}/attention/linear_1": (f"{target}.cross_attn", "key value")}
            for name, (attention, names) in fused.items():
                tables |= {f"{name}/{kind}": joined(state, attention, names, kind) for kind in ("weight", "bias")}
    tables |= {
        f"{name}/{kind}": state[f"{own}.{kind}"].numpy() for name, own in again.items() for kind in ("weight", "bias")
    }
    for name, own in norms.items():
        tables |= {f"{name}/gamma": state[f"{own}.weight"].numpy(), f"{name}/beta": state[f"{own}.bias"].numpy()}
    assert set(tables) == {name for name, array in variables.items() if array.ndim}
    for name, table in tables.items():
        assert table.dtype == variables[name].dtype
        assert np.array_equal(table, variables[name]), name


def test_quantised_weights_are_refused(tmp_path: Path) -> None:
    """They would have to be guessed at: the message says which ones are needed."""
    path = tmp_path / "model.bin"
    path.write_bytes(model_bin({"encoder/conv1/weight": np.zeros((4, 2, 3), np.int8)}))
    with pytest.raises(SpeechError, match="quantised weights: openai-whisper needs them as float16 or float32"):
        write_checkpoint(path, tmp_path / "base.pt")
    assert not (tmp_path / "base.pt").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"# Not a model\n",
        b"\xff" * 100,
        model_bin({}, name=b"TransformerSpec"),
        model_bin({}, version=5),
    ],
    ids=["empty", "text", "bytes", "other model", "other version"],
)
def test_what_is_no_whisper_model_is_refused(content: bytes, tmp_path: Path) -> None:
    """A `SpeechError` names the file, whatever is in it."""
    path = tmp_path / "model.bin"
    path.write_bytes(content)
    with pytest.raises(SpeechError, match=r"model\.bin is (no Whisper model|damaged)"):
        write_checkpoint(path, tmp_path / "base.pt")


def test_a_whisper_model_without_its_parts_is_refused(tmp_path: Path) -> None:
    """A file of the right format that misses tensors says so, in place of a key error."""
    path = tmp_path / "model.bin"
    path.write_bytes(model_bin({"encoder/conv1/weight": np.zeros((4, 2, 3), np.float16)}))
    with pytest.raises(SpeechError, match=r"model\.bin misses encoder/conv1/bias"):
        write_checkpoint(path, tmp_path / "base.pt")


def test_a_file_that_ends_early_is_refused_wherever_it_ends(tmp_path: Path) -> None:
    """No length of a cut file passes for a whole one."""
    path = tmp_path / "model.bin"
    whole = model_bin(
        {"encoder/conv1/weight": np.ones((2, 3), np.float16), "encoder/conv1/bias": np.ones(2, np.float32)}
    )
    for length in range(len(whole) - 4):  # the last four bytes count names that stand for others, which nobody reads
        path.write_bytes(whole[:length])
        with pytest.raises(SpeechError, match=r"model\.bin is (no Whisper model|damaged)"):
            read_variables(path)
    path.write_bytes(whole)
    assert set(read_variables(path)) == {"encoder/conv1/weight", "encoder/conv1/bias"}
