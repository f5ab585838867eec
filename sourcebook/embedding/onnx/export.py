"""Export a sentence-transformers model to ONNX, once, and compare it with its source."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from sourcebook.embedding.description import UNLIMITED_TOKENS
from sourcebook.embedding.model import EmbeddingModel, verify
from sourcebook.embedding.onnx.bert_graph import INPUTS, BertSizes, write_bert_graph
from sourcebook.embedding.onnx.compare import PROBE, SAMPLES, DifferentVectorsError, largest_difference
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.embedding.onnx.open import find_export, needs_export
from sourcebook.embedding.onnx.record import (
    GRAPH,
    TOKENIZER,
    WEIGHTS,
    Export,
    ExportRecord,
    Refusal,
    TokenSettings,
    config_hash,
    described_files,
    exclusively,
    model_folder,
    read_refusal,
    write_record,
)
from sourcebook.embedding.preparation import passage_prompt, query_prompt
from sourcebook.embedding.weights import weights_size

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import PreTrainedTokenizerFast


"""Bytes of free disk space for the graph and the vocabulary, beside the weights."""


def write_export(model: EmbeddingModel, source: Path, made_of: str, target: Path) -> ExportRecord:
    """Write the export of a model of the box: BertModel, the mean of its tokens, and vectors of length 1.

    Args:
        model: the model.
        source: its folder, whose weights have been verified.
        made_of: hash of the settings and packages; see `config_hash`.
        target: an empty folder for the files.

    Raises:
        OSError: the disk has too little space.
    """
    needed = weights_size(source) + _BYTES_BESIDE
    if shutil.disk_usage(target).free < needed:
        raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: {needed / 1e6:.0f} MB are needed")
    config = _read(source / "config.json")
    sizes = BertSizes(
        hidden=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        epsilon=config["layer_norm_eps"],
    )
    weights = write_bert_graph(source / "model.safetensors", sizes, target / GRAPH, target / WEIGHTS)
    shutil.copyfile(source / "tokenizer.json", target / TOKENIZER)
    prompts = _read(source / "config_sentence_transformers.json").get("prompts", {})
    record = ExportRecord(
        identity=model.identity,
        name=model.name,
        dimensions=model.dimensions,
        weights=weights,
        tokens=TokenSettings(
            max_tokens=model.max_tokens,
            truncation_side="right",
            padding_side="right",
            padding_id=config["pad_token_id"],
            padding_type_id=0,
        ),
        query_prompt=query_prompt(prompts),
        passage_prompt=passage_prompt(prompts),
        inputs=INPUTS,
        config_hash=made_of,
        worst_difference=None,
        folder=target.name,
    )
    embedder = OnnxEmbedder(Export(target, record))
    probe = (PROBE, tuple(map(float, embedder.embed_query(PROBE))))
    return record.model_copy(update={"probe": probe, "files": described_files(target)})


def _read(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content


MOST_WEIGHT_BYTES: Final = 1_900_000_000
"""Bytes of weights: one ONNX file holds less than 2 GiB."""
_BYTES_BESIDE: Final = 50_000_000
"""Bytes of free disk space for the graph and the vocabulary, beside the weights."""
_OPSET: Final = 18
_SMALLEST_OUTSIDE: Final = "1024"
"""Bytes of a tensor that goes to the file of the weights, which is mapped into memory, not read."""
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_MODULES: Final = frozenset({"Transformer", "Pooling", "Dense", "Normalize", "Dropout", "LayerNorm"})
"""Kinds of modules that are exported."""


class UnsupportedModelError(Exception):
    """The model has a part that an export would lose; the message names it."""


def export_model(home: Path, model: EmbeddingModel) -> str | None:
    """Export a model, unless that is done or was refused; replace the files of a model that has changed.

    A model of the box is written without torch, in a second. For any other one torch is imported, which takes seconds,
    and the weights are held in memory in float32. Processes that export at once wait for each other, and the export of
    the first one serves all. A killed process leaves nothing that counts.

    Args:
        home: the state folder; the files are written below `models/` in it.
        model: model that `find_model` found.

    Returns:
        None if there is an export now; otherwise the reason, as the end of a sentence.

    Raises:
        ModelError: the model's weights are damaged or cannot be loaded.
    """
    source = verify(model)
    try:
        with exclusively(home, model.identity) as folder:
            if needs_export(home, model):
                write_record(folder, _export(folder, model, source))
    except OSError as error:
        return f"the exported model cannot be kept in {home / 'models'}: {error}"
    found = find_export(home, model.identity)
    if isinstance(found, Export):
        return None
    refusal = read_refusal(model_folder(home, model.identity))
    return refusal.reason if refusal else found


def _export(folder: Path, model: EmbeddingModel, source: Path) -> ExportRecord | Refusal:
    """Write an export into a folder of its own, which is removed if the export is refused or fails.

    Raises:
        ModelError: the model cannot be loaded.
        OSError: the machine is at fault, not the model; so it is with `MemoryError`.
    """
    from sourcebook.embedding.loading import first_line, load_folder

    made_of = config_hash(source)
    try:
        _check_size(weights_size(source))
    except UnsupportedModelError as error:  # before so much is loaded
        return Refusal(reason=str(error), config_hash=made_of)
    transformer = None if model.is_in_the_box else load_folder(model.name, source, "float32")
    target = Path(tempfile.mkdtemp(prefix="files-", dir=folder))
    target.chmod(0o755)
    try:
        if transformer is None:
            return write_export(model, source, made_of, target)
        return _write(transformer, model, made_of, target)
    except BaseException as error:
        shutil.rmtree(target, ignore_errors=True)
        if isinstance(error, OSError | MemoryError) or not isinstance(error, Exception):
            raise
        known = isinstance(error, UnsupportedModelError | DifferentVectorsError)
        reason = str(error) if known else f"{type(error).__name__}: {first_line(error)}"
        return Refusal(reason=reason, config_hash=made_of)


def _write(transformer: SentenceTransformer, model: EmbeddingModel, made_of: str, target: Path) -> ExportRecord:
    _check_supported(transformer)
    weights = sum(weights.numel() for weights in transformer.parameters())
    needed = weights * 4 * 2 + _BYTES_BESIDE  # float32, traced and simplified
    if shutil.disk_usage(target).free < needed:  # onnxruntime's error would not name the disk: a refusal for ever
        raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: {needed / 1e6:.0f} MB are needed")
    tokenizer = _fast_tokenizer(transformer)
    tokenizer.backend_tokenizer.save(str(target / TOKENIZER))
    record = ExportRecord(
        identity=model.identity,
        name=model.name,
        dimensions=model.dimensions,
        weights=weights,
        tokens=TokenSettings(
            max_tokens=int(min(tokenizer.model_max_length, UNLIMITED_TOKENS)),
            truncation_side=cast("Literal['left', 'right']", tokenizer.truncation_side),
            padding_side=cast("Literal['left', 'right']", tokenizer.padding_side),
            padding_id=tokenizer.pad_token_id or 0,
            padding_type_id=tokenizer.pad_token_type_id,
        ),
        query_prompt=query_prompt(transformer.prompts),
        passage_prompt=passage_prompt(transformer.prompts),
        inputs=_write_graph(transformer, [PROBE, SAMPLES[3]], target),
        config_hash=made_of,
        folder=target.name,
    )
    embedder = OnnxEmbedder(Export(target, record))
    return record.model_copy(
        update={
            "probe": (PROBE, tuple(map(float, embedder.embed_query(PROBE)))),
            "worst_difference": largest_difference(transformer, embedder, record),
            "files": described_files(target),
        }
    )


def _check_supported(transformer: SentenceTransformer) -> None:
    """Raise `UnsupportedModelError` if the model does more than tokens, transformer, pooling and dense layers."""
    for position, module in enumerate(transformer):
        kind = type(module)
        if kind.__name__ not in _MODULES or not kind.__module__.startswith("sentence_transformers."):
            raise UnsupportedModelError(f"its module {kind.__name__} is none that is exported")
        if (kind.__name__ == "Transformer") != (position == 0):
            raise UnsupportedModelError("it does not begin with its only Transformer module")
    if "Pooling" not in {type(module).__name__ for module in transformer}:
        raise UnsupportedModelError("it has no Pooling module")
    for setting in ("query_length", "document_length", "query_expansion", "processing_kwargs"):
        if getattr(transformer[0], setting, None):
            raise UnsupportedModelError(f"it has a setting {setting}, which would be lost")
    if "message" in getattr(transformer[0], "modality_config", {}):
        raise UnsupportedModelError("it puts texts into a chat template")
    excludes_prompts = any(not getattr(module, "include_prompt", True) for module in transformer)
    if excludes_prompts and any(transformer.prompts.values()):
        raise UnsupportedModelError("it leaves prompts out of the pooling")
    _check_size(sum(weights.numel() * 4 for weights in transformer.parameters()))


def _check_size(weight_bytes: int) -> None:
    if weight_bytes > MOST_WEIGHT_BYTES:
        raise UnsupportedModelError(f"its weights take {weight_bytes / 1e9:.1f} GB, and an ONNX file holds 2")


def _fast_tokenizer(transformer: SentenceTransformer) -> PreTrainedTokenizerFast:
    from transformers import PreTrainedTokenizerFast

    tokenizer: object = transformer.tokenizer
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise UnsupportedModelError(f"its tokenizer {type(tokenizer).__name__} works with transformers alone")
    return tokenizer


def _write_graph(transformer: SentenceTransformer, examples: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Write the graph and its weights, simplified, in standard operators alone.

    Args:
        transformer: model in float32.
        examples: at least two texts of different lengths, by which the model is traced.
        folder: folder for the files.

    Returns:
        Names of the graph's inputs.
    """
    import torch

    features: Mapping[str, object] = _fast_tokenizer(transformer)(
        list(examples), padding=True, truncation=True, return_tensors="pt"
    )
    inputs = {name: value for name, value in features.items() if name in _INPUTS and isinstance(value, torch.Tensor)}
    names = tuple(inputs)
    traced = folder / "traced.onnx"
    with torch.no_grad(), warnings.catch_warnings():
        # They say that the exporter by tracing is the older one, and what a trace misses: the vectors are compared.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _tensors_to_vectors(transformer, names).eval(),
            tuple(inputs.values()),
            str(traced),
            input_names=list(names),
            output_names=["vectors"],
            dynamic_axes={name: {0: "texts", 1: "tokens"} for name in names} | {"vectors": {0: "texts"}},
            opset_version=_OPSET,
            dynamo=False,
        )
    kept = _simplify(traced, folder / GRAPH)
    traced.unlink()
    return tuple(name for name in names if name in kept)


def _tensors_to_vectors(transformer: SentenceTransformer, names: Sequence[str]) -> torch.nn.Module:
    """Return the model's modules as one that takes tensors in the order of `names`."""
    import torch

    class Vectors(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self._modules_in_order = torch.nn.ModuleList(transformer)

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            features: dict[str, torch.Tensor] = dict(zip(names, inputs, strict=True))
            for module in self._modules_in_order:
                features = module(features)
            return features["sentence_embedding"][:, : transformer.truncate_dim]

    return Vectors()


def _simplify(source: Path, target: Path) -> set[str]:
    """Fold constants, move the weights to a file of their own, and return the inputs that tracing kept."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(target)
    for key, value in (("file_name", WEIGHTS), ("min_size_in_bytes", _SMALLEST_OUTSIDE)):
        options.add_session_config_entry(f"session.optimized_model_external_initializers_{key}", value)
    session = onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    return {each.name for each in session.get_inputs()}
