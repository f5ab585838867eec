"""The ONNX graph of a BERT model, written without torch from its weights, which are read piece by piece.

The graph computes what sentence-transformers does with the modules Transformer (BertModel) and Pooling (mean). Standard
operators alone; each linear layer is one `Gemm`, which takes the weights as they lie in the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np

from sourcebook.embedding.tensor_file import TensorFile

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import NodeProto, TensorProto

INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
_OPSET: Final = 20
"""The first one with Gelu."""
_IR_VERSION: Final = 9
_ALIGNMENT: Final = 4_096
"""Bytes that the place of a tensor in the file is a multiple of, so that it can be mapped into memory."""
_SMALLEST_OUTSIDE: Final = 1_024
"""Bytes of a tensor that goes to the file of the weights."""


@dataclass(frozen=True)
class BertSizes:
    """Sizes of a BERT model, and `epsilon` of its normalisation."""

    hidden: int
    layers: int
    heads: int
    epsilon: float


def write_bert_graph(weights: Path, sizes: BertSizes, graph: Path, data: Path) -> int:
    """Write the graph and, beside it, the file of its weights.

    Args:
        weights: the model's safetensors file, with the names of transformers' BertModel and numbers in float32.
        sizes: sizes of the model.
        graph: file for the graph.
        data: file for the weights in the same folder.

    Returns:
        Number of the weights.
    """
    import onnx
    from onnx import TensorProto, helper

    with TensorFile(weights) as tensors, data.open("wb") as stream:
        written = _Graph(tensors, stream, data.name)
        vectors = _pooled(written, _encoded(written, sizes), sizes)
        written.add("Identity", [vectors], name="vectors")
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in INPUTS]
    outputs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", sizes.hidden])]
    made = helper.make_graph(written.nodes, "bert", inputs, outputs, written.tensors)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)
    onnx.save_model(model, str(graph))
    return written.weights


@dataclass
class _Graph:
    """The nodes and tensors so far. Methods return the name of what they add."""

    source: TensorFile
    stream: BinaryIO
    file: str
    """Name of the file of the weights."""
    nodes: list[NodeProto] = field(default_factory=list)
    tensors: list[TensorProto] = field(default_factory=list)
    weights: int = 0

    def add(self, operator: str, inputs: Sequence[str], *, name: str = "", **attributes: Any) -> str:
        """Add a node with one output."""
        from onnx import helper

        output = name or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], name=output, **attributes))
        return output

    def weight(self, name: str, *, scale: float = 1.0) -> str:
        """Add a tensor of the model, multiplied by `scale`."""
        shape = self.source.shape(name)
        size = math.prod(shape)
        self.weights += size
        pieces = (piece if scale == 1.0 else piece * np.float32(scale) for piece in self.source.pieces(name))
        if size * 4 < _SMALLEST_OUTSIDE:
            return self._inside(name, np.concatenate(list(pieces)).reshape(shape))
        return self._outside(name, shape, pieces)

    def constant(self, *values: float, whole: bool = True) -> str:
        """Add a tensor of whole numbers in one dimension, or one of a single real number."""
        array = np.asarray(values, np.int64) if whole else np.asarray(values[0], np.float32)
        return self._inside(f"constant_{len(self.tensors)}", array)

    def linear(self, value: str, name: str, *, scale: float = 1.0) -> str:
        """Add a linear layer over rows."""
        weight, bias = (self.weight(f"{name}.{part}", scale=scale) for part in ("weight", "bias"))
        return self.add("Gemm", [value, weight, bias], transB=1)

    def normalised(self, value: str, name: str, epsilon: float) -> str:
        """Add a layer's normalisation."""
        scale, bias = (self.weight(f"{name}.{part}") for part in ("weight", "bias"))
        return self.add("LayerNormalization", [value, scale, bias], axis=-1, epsilon=epsilon)

    def _inside(self, name: str, array: NDArray[Any]) -> str:
        """Add a tensor to the graph itself."""
        from onnx import numpy_helper

        self.tensors.append(numpy_helper.from_array(array, name))
        return name

    def _outside(self, name: str, shape: Sequence[int], pieces: Iterable[NDArray[np.float32]]) -> str:
        """Add a tensor to the file of the weights."""
        from onnx import TensorProto, external_data_helper

        self.stream.write(b"\0" * (-self.stream.tell() % _ALIGNMENT))
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
        tensor.raw_data = b""  # which `set_external_data` asks for
        external_data_helper.set_external_data(tensor, self.file, self.stream.tell(), math.prod(shape) * 4)
        tensor.ClearField("raw_data")
        for piece in pieces:
            self.stream.write(piece.astype("<f4", copy=False).data)
        self.tensors.append(tensor)
        return name


def _encoded(graph: _Graph, sizes: BertSizes) -> str:
    """Add the embeddings and the layers; the rows of all texts lie below one another, `(texts * tokens, hidden)`."""
    length = graph.add("Slice", [graph.add("Shape", ["input_ids"]), graph.constant(1), graph.constant(2)])
    words = graph.add("Gather", [graph.weight("embeddings.word_embeddings.weight"), "input_ids"])
    types = graph.add("Gather", [graph.weight("embeddings.token_type_embeddings.weight"), "token_type_ids"])
    places = graph.add("Slice", [graph.weight("embeddings.position_embeddings.weight"), graph.constant(0), length])
    summed = graph.add("Add", [graph.add("Add", [words, types]), places])
    rows = graph.normalised(summed, "embeddings.LayerNorm", sizes.epsilon)
    rows = graph.add("Reshape", [rows, graph.constant(-1, sizes.hidden)])
    mask = _mask(graph)
    batch = graph.add("Slice", [graph.add("Shape", ["input_ids"]), graph.constant(0), graph.constant(1)])
    split = graph.add(
        "Concat", [batch, length, graph.constant(sizes.heads, sizes.hidden // sizes.heads)], axis=0
    )  # (texts, tokens, heads, numbers of a head)
    for layer in range(sizes.layers):
        rows = _layer(graph, rows, f"encoder.layer.{layer}", sizes, mask=mask, split=split)
    return rows


def _mask(graph: _Graph) -> str:
    """Add what is added to the attention: 0 for tokens and the least number for padding, `(texts, 1, 1, tokens)`."""
    from onnx import TensorProto

    present = graph.add("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    absent = graph.add("Sub", [graph.constant(1.0, whole=False), present])
    least = graph.constant(float(np.finfo(np.float32).min), whole=False)
    return graph.add("Unsqueeze", [graph.add("Mul", [absent, least]), graph.constant(1, 2)])


def _layer(graph: _Graph, rows: str, place: str, sizes: BertSizes, *, mask: str, split: str) -> str:
    def heads(part: str, permutation: list[int], scale: float = 1.0) -> str:
        made = graph.linear(rows, f"{place}.attention.self.{part}", scale=scale)
        return graph.add("Transpose", [graph.add("Reshape", [made, split])], perm=permutation)

    query = heads("query", [0, 2, 1, 3], 1 / math.sqrt(sizes.hidden // sizes.heads))
    scores = graph.add("Add", [graph.add("MatMul", [query, heads("key", [0, 2, 3, 1])]), mask])
    attention = graph.add("Softmax", [scores], axis=-1)
    context = graph.add("MatMul", [attention, heads("value", [0, 2, 1, 3])])
    context = graph.add("Transpose", [context], perm=[0, 2, 1, 3])
    context = graph.add("Reshape", [context, graph.constant(-1, sizes.hidden)])
    attended = graph.linear(context, f"{place}.attention.output.dense")
    rows = graph.normalised(graph.add("Add", [attended, rows]), f"{place}.attention.output.LayerNorm", sizes.epsilon)
    between = graph.add("Gelu", [graph.linear(rows, f"{place}.intermediate.dense")])
    made = graph.linear(between, f"{place}.output.dense")
    return graph.normalised(graph.add("Add", [made, rows]), f"{place}.output.LayerNorm", sizes.epsilon)


def _pooled(graph: _Graph, rows: str, sizes: BertSizes) -> str:
    """Add the mean over the tokens of a text; the caller scales it to length 1."""
    from onnx import TensorProto

    shape = graph.add("Concat", [graph.add("Shape", ["input_ids"]), graph.constant(sizes.hidden)], axis=0)
    present = graph.add("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    present = graph.add("Unsqueeze", [present, graph.constant(-1)])
    kept = graph.add("Mul", [graph.add("Reshape", [rows, shape]), present])
    sums, numbers = (graph.add("ReduceSum", [each, graph.constant(1)], keepdims=0) for each in (kept, present))
    return graph.add("Div", [sums, graph.add("Max", [numbers, graph.constant(1e-9, whole=False)])])
