"""A model's folder by its Hugging Face name (the local cache, then a download), and checks of what was loaded."""

from __future__ import annotations

import json
import queue
import socket
import threading
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sourcebook.embedding.weights import BUNDLED_NAME, weight_files, weights_sha256
from sourcebook.errors import ModelError
from sourcebook.installation import install_command

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer


_OTHER_EXPORTS = ["onnx/*", "openvino/*", "coreml/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf"]
_PICKLED = ["*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl"]
"""Patterns of files that are not downloaded: exports for other frameworks, which can have gigabytes, and pickled
weights, which are not read."""


_SECONDS = 1.5
"""Longest wait for the first answer of the hub."""


def find_snapshot(name: str) -> Path:
    """Find a model of the Hugging Face hub in the local cache, or download it.

    Args:
        name: `organisation/model`; without an organisation, `sentence-transformers/` is searched first.

    Returns:
        The folder of the cached snapshot, with its weights in it.

    Raises:
        ModelError: the model is not in the cache, and cannot or may not be downloaded; the message lists the attempts.
    """
    try:
        from huggingface_hub import constants
    except ImportError as error:
        raise ModelError(
            f"The embedding model {name!r} is no folder here, and looking it up in the Hugging Face cache needs "
            f"huggingface_hub: install it with  {install_command('pipeline')}"
        ) from error
    candidates = [name] if "/" in name else [f"sentence-transformers/{name}", name]
    for candidate in candidates:
        folder = _snapshot(candidate, local_files_only=True)
        if isinstance(folder, Path):
            return folder
    tried = f"there is no folder {Path(name).absolute()}, it is not in the Hugging Face cache {constants.HF_HUB_CACHE}"
    remedy = f"Give the path of a model's folder, or use {BUNDLED_NAME!r}, which needs no download."
    if constants.HF_HUB_OFFLINE:
        reason = "downloading is switched off (HF_HUB_OFFLINE)"
    elif silence := hub_silence(constants.ENDPOINT):
        reason = f"downloading it failed ({silence})"
    else:
        for candidate in candidates:
            folder = _snapshot(candidate, local_files_only=False)
            if isinstance(folder, Path):
                return folder
        reason = f"downloading it failed ({folder})"
    raise ModelError(f"The embedding model {name!r} was not found: {tried}, and {reason}. {remedy}")


def hub_silence(endpoint: str, *, seconds: float = _SECONDS) -> str | None:
    """Return the reason why a server, or the proxy before it, does not answer; None where it does.

    The hub's client tries several times, for up to minutes; this looks once.

    Args:
        endpoint: the URL of the server.
        seconds: longest wait, name resolution included.
    """
    url = urlsplit(endpoint)
    host, port = url.hostname or "", url.port or (80 if url.scheme == "http" else 443)
    from urllib.request import getproxies, proxy_bypass  # a model that is here asks no proxy

    proxy = None if proxy_bypass(host) else getproxies().get(url.scheme)
    if proxy:
        way = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        host, port = way.hostname or "", way.port or 80
    answers: queue.Queue[str | None] = queue.Queue()

    def connect() -> None:
        try:
            socket.create_connection((host, port), timeout=seconds).close()
        except OSError as error:
            answers.put(f"{host} cannot be reached: {error.strerror or error}")
        else:
            answers.put(None)

    # A resolver without a network may hang for longer than any timeout of a socket.
    threading.Thread(target=connect, daemon=True).start()
    try:
        return answers.get(timeout=seconds)
    except queue.Empty:
        return f"{host} does not answer"


def _snapshot(name: str, *, local_files_only: bool) -> Path | str:
    """Return the folder of a snapshot with weights, or the reason why there is none."""
    from huggingface_hub import snapshot_download

    try:
        folder = Path(
            snapshot_download(name, local_files_only=local_files_only, ignore_patterns=[*_OTHER_EXPORTS, *_PICKLED])
        )
        weights_sha256(folder)
    except Exception as error:  # noqa: BLE001 - the hub's client raises its own, httpx's and the system's errors
        return " ".join(str(error).split())[:300] or type(error).__name__
    return folder


_POOLER: Final = "pooler"
"""Part of a transformer that no vector depends on."""
_POSITIONS: Final = "position_embeddings"
"""Name of a transformer's table of positions; models that compute them have none."""
_AGAIN: Final = "download the model again, or save it again with sentence-transformers"


def check_loaded(transformer: SentenceTransformer | CrossEncoder, folder: Path) -> None:
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


def _positions(transformer: SentenceTransformer | CrossEncoder) -> int | None:
    """Return the number of tokens that a table of positions has room for; None where there is no such table."""
    from torch.nn import Embedding

    rooms = [
        each.num_embeddings - (0 if each.padding_idx is None else each.padding_idx + 1)  # RoBERTa's begin behind it
        for name, each in transformer.named_modules()
        if name.endswith(_POSITIONS) and isinstance(each, Embedding)
    ]
    return min(rooms, default=None)


def _knows_words(transformer: SentenceTransformer | CrossEncoder) -> bool:
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
