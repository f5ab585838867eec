"""Find a model's folder by its Hugging Face name: the local cache first, then a download unless offline."""

import queue
import socket
import threading
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from sourcebook.embedding.weights import BUNDLED_NAME, weights_sha256
from sourcebook.errors import ModelError
from sourcebook.installation import install_command

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
        ModelError: The model is not in the cache, and cannot or may not be downloaded; the message lists the attempts.
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
