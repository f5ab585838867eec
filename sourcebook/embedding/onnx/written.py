"""The export of a model of the box, written without torch. Tests hold its vectors equal to sentence-transformers'."""

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.onnx.bert_graph import INPUTS, BertSizes, write_bert_graph
from sourcebook.embedding.onnx.compare import PROBE
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.embedding.onnx.record import (
    GRAPH,
    TOKENIZER,
    WEIGHTS,
    Export,
    ExportRecord,
    TokenSettings,
    described_files,
)
from sourcebook.embedding.preparation import passage_prompt, query_prompt
from sourcebook.embedding.weights import weights_size

_BYTES_BESIDE: Final = 50_000_000
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
