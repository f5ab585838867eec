"""Which models can be exported, read off a loaded one."""

from typing import TYPE_CHECKING, Literal, cast

from sourcebook.embedding.description import UNLIMITED_TOKENS
from sourcebook.embedding.onnx.record import TokenSettings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from transformers import PreTrainedTokenizerFast

MOST_WEIGHT_BYTES = 1_900_000_000
"""One ONNX file holds less than 2 GiB."""

_MODULES = frozenset({"Transformer", "Pooling", "Dense", "Normalize", "Dropout", "LayerNorm"})


class UnsupportedModelError(Exception):
    """The model has something that an export would lose; the message says what."""


def check_supported(transformer: "SentenceTransformer") -> None:
    """Raise `UnsupportedModelError` where the model does more than tokens, transformer, pooling and dense layers."""
    for position, module in enumerate(transformer):
        kind = type(module)
        if kind.__name__ not in _MODULES or not kind.__module__.startswith("sentence_transformers."):
            raise UnsupportedModelError(f"its module {kind.__name__} is none that is exported")
        if (kind.__name__ == "Transformer") != (position == 0):
            raise UnsupportedModelError("it does not begin with its only Transformer module")
    if "Pooling" not in {type(module).__name__ for module in transformer}:
        raise UnsupportedModelError("it has no Pooling module")
    _check_transformer(transformer)
    check_size(sum(weights.numel() * 4 for weights in transformer.parameters()))


def check_size(weight_bytes: int) -> None:
    """Raise `UnsupportedModelError` where the weights are too many for one file."""
    if weight_bytes > MOST_WEIGHT_BYTES:
        raise UnsupportedModelError(f"its weights take {weight_bytes / 1e9:.1f} GB, and an ONNX file holds 2")


def token_settings(transformer: "SentenceTransformer") -> TokenSettings:
    """Return how the model cuts and pads texts; it has been checked."""
    tokenizer = fast_tokenizer(transformer)
    return TokenSettings(
        max_tokens=int(min(tokenizer.model_max_length, UNLIMITED_TOKENS)),
        truncation_side=cast("Literal['left', 'right']", tokenizer.truncation_side),
        padding_side=cast("Literal['left', 'right']", tokenizer.padding_side),
        padding_id=tokenizer.pad_token_id or 0,
        padding_type_id=tokenizer.pad_token_type_id,
    )


def fast_tokenizer(transformer: "SentenceTransformer") -> "PreTrainedTokenizerFast":
    """Return the tokenizer; raise `UnsupportedModelError` where it has no description of its own."""
    from transformers import PreTrainedTokenizerFast

    tokenizer: object = transformer.tokenizer
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise UnsupportedModelError(f"its tokenizer {type(tokenizer).__name__} works with transformers alone")
    return tokenizer


def pooling_modes(transformer: "SentenceTransformer") -> tuple[str, ...]:
    """Return how the model's Pooling module makes one vector of many."""
    for module in transformer:
        mode = getattr(module, "pooling_mode", None)
        if mode is not None:
            return (mode,) if isinstance(mode, str) else tuple(mode)
    return ()


def _check_transformer(transformer: "SentenceTransformer") -> None:
    fast_tokenizer(transformer)
    first = transformer[0]
    for setting in ("query_length", "document_length", "query_expansion", "processing_kwargs"):
        if getattr(first, setting, None):
            raise UnsupportedModelError(f"it has a setting {setting}, which would be lost")
    if "message" in getattr(first, "modality_config", {}):
        raise UnsupportedModelError("it puts texts into a chat template")
    excludes_prompts = any(not getattr(module, "include_prompt", True) for module in transformer)
    if excludes_prompts and any(transformer.prompts.values()):
        raise UnsupportedModelError("it leaves prompts out of the pooling")
