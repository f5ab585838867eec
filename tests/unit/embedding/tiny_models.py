"""Small sentence-transformers models with random weights, and the tokenizer of the default one."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from sourcebook.embedding.weights import bundled_folder

MAX_TOKENS = 64
_HIDDEN = 32


def tiny_model(
    folder: Path,
    pooling: Sequence[str] = ("mean",),
    *,
    dense: int | None = None,
    prompts: Mapping[str, str] | None = None,
    include_prompt: bool = True,
    padding_side: str = "right",
    modules: Sequence[str] = (),
    truncate_dim: int | None = None,
    seed: int = 0,
) -> Path:
    """Write a model of two small BERT layers.

    Args:
        folder: to make.
        pooling: the modes of its Pooling module.
        dense: the size of a Dense layer behind it.
        prompts: by the names that sentence-transformers knows.
        include_prompt: whether the tokens of prompts are pooled too.
        padding_side: of its tokenizer.
        modules: types of further modules at the end.
        truncate_dim: how many dimensions are kept.
        seed: of the weights.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=30_522,
        hidden_size=_HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
        initializer_range=0.3,  # so that tokens are told apart, and what is attended to shows
    )
    folder.mkdir(parents=True)
    BertModel(config).save_pretrained(folder)
    bundled = bundled_folder()
    assert bundled is not None
    shutil.copy(bundled / "tokenizer.json", folder)
    settings = json.loads((bundled / "tokenizer_config.json").read_text())
    _write(folder / "tokenizer_config.json", {**settings, "padding_side": padding_side})
    _write(folder / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS, "do_lower_case": False})
    _write(folder / "config_sentence_transformers.json", {"prompts": dict(prompts or {}), "truncate_dim": truncate_dim})
    names = ["Transformer", "Pooling", *(["Dense"] if dense else []), *modules]
    listed = [
        {"idx": place, "name": str(place), "path": f"{place}_{name}" if place else "", "type": _type(name)}
        for place, name in enumerate(names)
    ]
    _write(folder / "modules.json", listed)
    pooled = {"embedding_dimension": _HIDDEN, "pooling_mode": list(pooling), "include_prompt": include_prompt}
    _write(folder / "1_Pooling/config.json", pooled)
    if dense:
        size = _HIDDEN * len(pooling)
        activation = "torch.nn.modules.activation.Tanh"
        _write(
            folder / "2_Dense/config.json",
            {"in_features": size, "out_features": dense, "bias": True, "activation_function": activation},
        )
        linear = {"linear.weight": torch.randn(dense, size) * 0.1, "linear.bias": torch.randn(dense) * 0.1}
        save_file(linear, folder / "2_Dense/model.safetensors")
    return folder


def _type(name: str) -> str:
    if "." in name:
        return name
    package = "base" if name in {"Transformer", "Dense", "Normalize"} else "sentence_transformer"
    return f"sentence_transformers.{package}.modules.{name.lower()}.{name}"


def _write(file: Path, content: object) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content))
