"""Whisper weights in CTranslate2's format as a checkpoint of openai-whisper.

Both hold the same tensors. CTranslate2 keeps query, key and value in one matrix, and has other names. Its format:
https://github.com/OpenNMT/CTranslate2/blob/master/python/ctranslate2/specs/model_spec.py (`ModelSpec.save`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from sourcebook.errors import SpeechError

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    Variables = Mapping[str, NDArray[np.generic]]

_VERSION: Final = 6
_TYPES: Final = ("float32", "int8", "int16", "int32", "float16")
_ATTENTION_HEAD: Final = 64
"""Dimensions of a head, in Whisper models of every size."""


def write_checkpoint(model: Path, checkpoint: Path) -> None:
    """Write a checkpoint from a `model.bin`.

    Raises:
        SpeechError: the file is in another format, holds quantised weights, or misses some.
    """
    import torch

    variables = read_variables(model)
    if any(array.dtype.kind != "f" for name, array in variables.items() if name.endswith("/weight")):
        raise SpeechError(f"{model} holds quantised weights: openai-whisper needs them as float16 or float32")
    try:
        state = dict(_state(variables))
    except KeyError as error:
        raise SpeechError(f"{model} misses {error.args[0]}: it is no whole Whisper model") from error
    torch.save({"dims": _dimensions(state), "model_state_dict": state}, checkpoint)


def read_variables(model: Path) -> Variables:
    """Return the variables of a `model.bin` by name.

    Raises:
        SpeechError: the file is in another format.
    """
    import numpy as np

    variables: dict[str, NDArray[np.generic]] = {}
    try:
        with model.open("rb") as file:
            if _number(file, "<I") != _VERSION or _text(file) != "WhisperSpec":
                raise SpeechError(f"{model} is no Whisper model of CTranslate2, version {_VERSION} of its format")
            _number(file, "<I")  # revision of the specification
            for _ in range(_number(file, "<I")):
                name = _text(file)
                shape = [_number(file, "<I") for _ in range(_number(file, "<B"))]
                kind = _TYPES[_number(file, "<B")]
                variables[name] = np.frombuffer(file.read(_number(file, "<I")), kind).reshape(shape)
    except (struct.error, ValueError, IndexError) as error:
        raise SpeechError(f"{model} is damaged: {error}") from error
    return variables


def _number(file: BinaryIO, layout: str) -> int:
    (number,) = struct.unpack(layout, file.read(struct.calcsize(layout)))
    return int(number)


def _text(file: BinaryIO) -> str:
    return file.read(_number(file, "<H"))[:-1].decode()


def _dimensions(state: Mapping[str, torch.Tensor]) -> dict[str, int]:
    width = len(state["encoder.ln_post.weight"])
    layers = {part: sum(name.startswith(part) and name.endswith("attn_ln.weight") for name in state) for part in (
        "encoder.blocks", "decoder.blocks")}  # fmt: skip
    return {
        "n_mels": state["encoder.conv1.weight"].shape[1],
        "n_audio_ctx": len(state["encoder.positional_embedding"]),
        "n_audio_state": width,
        "n_audio_head": width // _ATTENTION_HEAD,
        "n_audio_layer": layers["encoder.blocks"],
        "n_vocab": len(state["decoder.token_embedding.weight"]),
        "n_text_ctx": len(state["decoder.positional_embedding"]),
        "n_text_state": width,
        "n_text_head": width // _ATTENTION_HEAD,
        "n_text_layer": layers["decoder.blocks"] // 2,  # each has one for itself and one across
    }


def _state(variables: Variables) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors of a checkpoint."""
    for convolution in ("conv1", "conv2"):
        yield from _pair(variables, f"encoder/{convolution}", f"encoder.{convolution}")
    for part in ("encoder", "decoder"):
        yield f"{part}.positional_embedding", _tensor(variables[f"{part}/position_encodings/encodings"])
    yield "decoder.token_embedding.weight", _tensor(variables["decoder/embeddings/weight"])
    yield from _norm(variables, "encoder/layer_norm", "encoder.ln_post")
    yield from _norm(variables, "decoder/layer_norm", "decoder.ln")
    for part in ("encoder", "decoder"):
        layer = 0
        while f"{part}/layer_{layer}/ffn/linear_0/weight" in variables:
            yield from _block(variables, f"{part}/layer_{layer}", f"{part}.blocks.{layer}", cross=part == "decoder")
            layer += 1


def _block(variables: Variables, source: str, target: str, *, cross: bool) -> Iterator[tuple[str, torch.Tensor]]:
    own, other = f"{source}/self_attention", f"{source}/attention"
    yield from _norm(variables, f"{own}/layer_norm", f"{target}.attn_ln")
    yield from _split(variables, f"{own}/linear_0", f"{target}.attn", ("query", "key", "value"))
    yield from _pair(variables, f"{own}/linear_1", f"{target}.attn.out")
    if cross:
        yield from _norm(variables, f"{other}/layer_norm", f"{target}.cross_attn_ln")
        yield from _split(variables, f"{other}/linear_0", f"{target}.cross_attn", ("query",))
        yield from _split(variables, f"{other}/linear_1", f"{target}.cross_attn", ("key", "value"))
        yield from _pair(variables, f"{other}/linear_2", f"{target}.cross_attn.out")
    yield from _norm(variables, f"{source}/ffn/layer_norm", f"{target}.mlp_ln")
    yield from _pair(variables, f"{source}/ffn/linear_0", f"{target}.mlp.0")
    yield from _pair(variables, f"{source}/ffn/linear_1", f"{target}.mlp.2")


def _norm(variables: Variables, source: str, target: str) -> Iterator[tuple[str, torch.Tensor]]:
    yield f"{target}.weight", _tensor(variables[f"{source}/gamma"])
    yield f"{target}.bias", _tensor(variables[f"{source}/beta"])


def _pair(variables: Variables, source: str, target: str) -> Iterator[tuple[str, torch.Tensor]]:
    yield f"{target}.weight", _tensor(variables[f"{source}/weight"])
    yield f"{target}.bias", _tensor(variables[f"{source}/bias"])


def _split(
    variables: Variables, source: str, target: str, names: tuple[str, ...]
) -> Iterator[tuple[str, torch.Tensor]]:
    weights = _tensor(variables[f"{source}/weight"]).chunk(len(names))
    biases = _tensor(variables[f"{source}/bias"]).chunk(len(names))
    for name, weight, bias in zip(names, weights, biases, strict=True):
        yield f"{target}.{name}.weight", weight.contiguous()
        if name != "key":  # Whisper's key projection has no bias
            yield f"{target}.{name}.bias", bias.contiguous()


def _tensor(array: NDArray[np.generic]) -> torch.Tensor:
    import torch

    return torch.from_numpy(array.copy())
