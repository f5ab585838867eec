"""Read a model's dimensions and context length from its folder's JSON files, without loading it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sourcebook.errors import ModelError

UNLIMITED_TOKENS = 1_000_000
"""Tokens that stand for no limit; transformers' own number, 1e30, is more than tokenizers can hold."""

_UNCHANGED = frozenset({"Normalize", "Dropout", "LayerNorm"})
_HIDDEN_SIZES = ("hidden_size", "dim", "d_model")


@dataclass(frozen=True)
class Description:
    """The `dimensions` of a model's vectors, and the `max_tokens` of a text."""

    dimensions: int
    max_tokens: int


def describe(folder: Path) -> Description | None:
    """Read a sentence-transformers folder's description.

    Args:
        folder: the model's folder; `modules.json` may be missing (then it is a plain transformer,
            which sentence-transformers pools by the mean).

    Returns:
        The description, or None where the files do not say it and the model must be loaded to know.

    Raises:
        ModelError: a JSON file is malformed.
    """
    modules = _modules(folder)
    if not modules or modules[0][0] != "Transformer":
        return None
    dimensions = _dimensions(folder, modules)
    max_tokens = _max_tokens(folder / modules[0][1])
    return Description(dimensions, max_tokens) if dimensions and max_tokens else None


def prompts_of(folder: Path) -> Mapping[str, str]:
    """Read the texts that a model wants before others, by their names in sentence-transformers.

    Raises:
        ModelError: the JSON file is malformed.
    """
    prompts = _settings(folder / "config_sentence_transformers.json").get("prompts")
    if not isinstance(prompts, dict):
        return {}
    return {name: prompt for name, prompt in prompts.items() if isinstance(prompt, str)}


def _modules(folder: Path) -> list[tuple[str, str]]:
    """Return the (class name, path) of each module in order."""
    listed = _read(folder / "modules.json")
    if listed is None:
        return [("Transformer", "")]
    if not isinstance(listed, list):
        return []
    return [
        (str(module.get("type", "")).rpartition(".")[2], str(module.get("path", "")))
        for module in listed
        if isinstance(module, dict)
    ]


def _dimensions(folder: Path, modules: list[tuple[str, str]]) -> int | None:
    dimensions: int | None = None
    for kind, path in modules:
        config = _settings(folder / path / "config.json")
        if kind == "Transformer":
            dimensions = next((size for key in _HIDDEN_SIZES if (size := _whole(config, key))), None)
        elif kind == "Pooling":
            dimensions = _pooled(config)
        elif kind == "Dense":
            dimensions = _whole(config, "out_features")
        elif kind not in _UNCHANGED:
            return None
    truncated = _whole(_settings(folder / "config_sentence_transformers.json"), "truncate_dim")
    return min(dimensions, truncated) if dimensions and truncated else dimensions


def _pooled(config: Mapping[str, object]) -> int | None:
    """Return the dimensions after pooling: several modes are concatenated."""
    size = _whole(config, "embedding_dimension") or _whole(config, "word_embedding_dimension")
    mode = config.get("pooling_mode")
    if isinstance(mode, list):
        modes = len(mode)
    elif isinstance(mode, str):
        modes = 1
    else:
        modes = sum(value is True for key, value in config.items() if key.startswith("pooling_mode_"))
    return size * (modes or 1) if size else None


def _max_tokens(folder: Path) -> int | None:
    for file in sorted(folder.glob("sentence_*_config.json")):
        if length := _whole(_settings(file), "max_seq_length"):
            return length
    lengths = (
        _whole(_settings(folder / "tokenizer_config.json"), "model_max_length"),
        _whole(_settings(folder / "config.json"), "max_position_embeddings"),
    )
    return min((min(length, UNLIMITED_TOKENS) for length in lengths if length), default=None)


def _whole(settings: Mapping[str, object], key: str) -> int | None:
    value = settings.get(key)
    return value if isinstance(value, int) and value > 0 else None


def _settings(file: Path) -> Mapping[str, object]:
    content = _read(file)
    return content if isinstance(content, dict) else {}


def _read(file: Path) -> object:
    try:
        content: object = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"The model's file {file} cannot be read: {error}. Download the model again.") from error
    return content
