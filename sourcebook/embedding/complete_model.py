"""Checks of a loaded model: whole files may lack a layer or the tokenizer, which transformers makes up in silence."""

import json
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sourcebook.embedding.weights import weight_files
from sourcebook.errors import ModelError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer

_POOLER: Final = "pooler"
"""Part of a transformer that no vector depends on."""
_POSITIONS: Final = "position_embeddings"
"""Name of a transformer's table of positions; models that compute them have none."""
_AGAIN: Final = "download the model again, or save it again with sentence-transformers"


def check_loaded(transformer: "SentenceTransformer | CrossEncoder", folder: Path) -> None:
    """Check that a model's numbers and words come from its folder.

    Args:
        transformer: the loaded model.
        folder: the folder that it was loaded from.

    Raises:
        ModelError: weights are missing, in whose place random ones would stand; the tokenizer knows no word; texts
            may be longer than the model has positions.
        OSError: the folder cannot be read.
    """
    from sentence_transformers import CrossEncoder

    settings = _settings(folder / "config.json")
    # The base of an adapter is elsewhere; several quantized numbers are one in the file.
    if not (folder / "adapter_config.json").exists() and not settings.get("quantization_config"):
        left_out = () if isinstance(transformer, CrossEncoder) else (_POOLER,)  # the one may score by it
        # What is shared by several layers is listed once.
        wanted = sum(each.numel() for name, each in transformer.named_parameters() if not _has(name, left_out))
        found = sum(_numbers(file, left_out) for file in weight_files(folder))
        if found < wanted:
            raise ModelError(
                f"The model's folder {folder} lacks a part of the weights: it has {found:,} numbers, and the model of "
                f"its config.json has {wanted:,}; {_AGAIN}."
            )
    if not _knows_words(transformer):
        raise ModelError(f"The model's folder {folder} lacks the files of the tokenizer, or they are empty: {_AGAIN}.")
    if isinstance(transformer, CrossEncoder):
        return  # its length is a setting of the search, and its passages may be shorter
    allowed, positions = transformer.max_seq_length, _positions(transformer)
    if allowed is not None and positions is not None and allowed > positions:
        raise ModelError(
            f"The model in {folder} allows texts of {int(allowed):,} tokens, and has positions for {positions:,}: set "
            f'"max_seq_length" in its sentence_bert_config.json to {positions:,} at most.'
        )


def _positions(transformer: "SentenceTransformer | CrossEncoder") -> int | None:
    """Return the number of tokens that a table of positions has room for; None where there is no such table."""
    from torch.nn import Embedding

    rooms = [
        each.num_embeddings - (0 if each.padding_idx is None else each.padding_idx + 1)  # RoBERTa's begin behind it
        for name, each in transformer.named_modules()
        if name.endswith(_POSITIONS) and isinstance(each, Embedding)
    ]
    return min(rooms, default=None)


def _knows_words(transformer: "SentenceTransformer | CrossEncoder") -> bool:
    """Return whether the tokenizer has more than special tokens; True where it is none of transformers'."""
    from transformers import PreTrainedTokenizerBase

    tokenizer = transformer.tokenizer
    return not isinstance(tokenizer, PreTrainedTokenizerBase) or len(tokenizer) > len(tokenizer.all_special_tokens)


def _has(name: str, parts: Sequence[str]) -> bool:
    return any(part in name.split(".") for part in parts)


def _numbers(file: Path, left_out: Sequence[str]) -> int:
    """Return how many numbers a safetensors file holds outside of some parts, by its header."""
    with file.open("rb") as stream:
        header = json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
    kept = (name for name in header if name != "__metadata__" and not _has(name, left_out))
    return sum(prod(header[name]["shape"]) for name in kept)


def _settings(file: Path) -> dict[str, object]:
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return settings if isinstance(settings, dict) else {}
