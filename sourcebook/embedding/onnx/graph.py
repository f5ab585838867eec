"""Write a sentence-transformers model as an ONNX graph. Imports torch: import this late."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from sourcebook.embedding.onnx.files import GRAPH, WEIGHTS
from sourcebook.embedding.onnx.support import fast_tokenizer

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_OPSET = 18
_SMALLEST_OUTSIDE = "1024"  # bytes of a tensor that lies in the file of the weights, which is mapped, not read
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


class _Vectors(torch.nn.Module):
    """The model's modules one after the other, tensors in and a tensor out."""

    def __init__(self, transformer: "SentenceTransformer", names: Sequence[str]) -> None:
        super().__init__()
        self._modules_in_order = torch.nn.ModuleList(transformer)
        self._names = names
        self._dimensions = transformer.truncate_dim

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        features: dict[str, torch.Tensor] = dict(zip(self._names, inputs, strict=True))
        for module in self._modules_in_order:
            features = module(features)
        return features["sentence_embedding"][:, : self._dimensions]


def write_graph(transformer: "SentenceTransformer", examples: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Write `model.onnx` and its weights, simplified, in operators of the standard alone.

    Args:
        transformer: in float32.
        examples: at least two texts of different lengths, by which the model is traced.
        folder: where the files will lie.

    Returns:
        The names of the graph's inputs.

    Raises:
        Exception: torch's or onnxruntime's, where the model cannot be expressed.
    """
    features: Mapping[str, object] = fast_tokenizer(transformer)(
        list(examples), padding=True, truncation=True, return_tensors="pt"
    )
    inputs = {name: value for name, value in features.items() if name in _INPUTS and isinstance(value, torch.Tensor)}
    names = tuple(inputs)
    axes = {name: {0: "texts", 1: "tokens"} for name in names} | {"vectors": {0: "texts"}}
    traced = folder / "traced.onnx"
    with torch.no_grad(), warnings.catch_warnings():
        # That the exporter by tracing is the older one, and what a trace cannot see: the vectors are compared.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Vectors(transformer, names).eval(),
            tuple(inputs.values()),
            str(traced),
            input_names=list(names),
            output_names=["vectors"],
            dynamic_axes=axes,
            opset_version=_OPSET,
            dynamo=False,
        )
    _simplify(traced, folder / GRAPH)
    traced.unlink()
    return _inputs_used(folder / GRAPH, names)


def _simplify(source: Path, target: Path) -> None:
    """Fold what is constant, and move the weights to a file of their own."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(target)
    for key, value in (("file_name", WEIGHTS), ("min_size_in_bytes", _SMALLEST_OUTSIDE)):
        options.add_session_config_entry(f"session.optimized_model_external_initializers_{key}", value)
    onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def _inputs_used(graph: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the inputs that tracing kept."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    kept = {each.name for each in session.get_inputs()}
    return tuple(name for name in names if name in kept)
