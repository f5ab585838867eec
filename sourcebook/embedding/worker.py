"""The tasks of an `EmbeddingProcess`'s child; the model is loaded once per child."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.engine import Engine, PrecisionSetting
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.embedding.opening import open_embedder
from sourcebook.embedding.side_by_side import SideBySideEmbedder
from sourcebook.errors import ModelError
from sourcebook.model.device import DeviceSetting
from sourcebook.processes.child import defer_function, end_deferral, hide_packages, loading_libraries, reason_of
from sourcebook.processes.device import choose_device
from sourcebook.processes.machine_memory import keep_freed_memory, return_freed_memory

_KERNELS: Final = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": 64, "LRU_CACHE_CAPACITY": 16}
"""Kernels that are kept, each for one shape: by oneDNN, and by each thread that torch's operators run in.

Without the variables both keep 1,024. Batches have hundreds of shapes, and those of like length come in a row.
docs/decisions/0057-streams-of-one-thread.md has the memory and the processor time.
"""
_DEFERRED: Final = {"sklearn.metrics": "pairwise_distances", "scipy.optimize": "linear_sum_assignment"}
"""Functions by their modules, which sentence-transformers and transformers import: for similarities and training."""

_Opened = SentenceTransformerEmbedder | SideBySideEmbedder | OnnxEmbedder

_loaded: _Opened | ModelError = ModelError("The embedding model is not loaded.")


def load(model: EmbeddingModel, precision: PrecisionSetting, device: DeviceSetting, home: Path | None) -> None:
    """Load the model that the next tasks use, with onnxruntime where that is the faster engine and has an export.

    Args:
        model: the model.
        precision: number format by the settings.
        device: device by the settings.
        home: state folder, with the exports in `models/`; None for torch.

    Raises:
        ModelError: the model cannot be loaded; later tasks raise the error, too.
    """
    global _loaded
    for variable, kernels in _KERNELS.items():
        os.environ.setdefault(variable, str(kernels))
    hide_packages("pandas")  # which scikit-learn imports where it is installed
    for module, function in _DEFERRED.items():  # a third of the time to load
        defer_function(module, function)
    try:
        with _model_errors(), loading_libraries():
            if choose_device(device).name == "cpu":
                hide_packages("triton")  # it compiles for GPUs, and takes 70 MB
            _loaded = open_embedder(model, precision, device, home)
        if isinstance(_loaded, SentenceTransformerEmbedder):
            keep_freed_memory()
    except ModelError as error:
        _loaded = error
        raise
    finally:
        for module in _DEFERRED:
            end_deferral(module)


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed passages; see `Embedder.embed`."""
    with _model_errors():
        return _embedder().embed(texts)


def embed_query(text: str) -> NDArray[np.float32]:
    """Embed a question; see `QueryEmbedder.embed_query`."""
    with _model_errors():
        return _embedder().embed_query(text)


def embed_counted(texts: Sequence[str], *, as_queries: bool) -> tuple[NDArray[np.float32], list[int]]:
    """Embed passages, or questions one by one, and count the tokens that are read of each text."""
    with _model_errors():
        embedder = _embedder()
        vectors = np.stack([embedder.embed_query(text) for text in texts]) if as_queries else embedder.embed(texts)
        return vectors, [embedder.count_tokens(text) for text in texts]


def export(home: Path, model: EmbeddingModel) -> str | None:
    """Export the model, which has been loaded, to ONNX; see `export_model`."""
    from sourcebook.embedding.onnx.export import export_model

    return_freed_memory()  # a long ingest leaves 0.4 GB; an export takes as much
    with _model_errors():
        _embedder()
        return export_model(home, model)


def engine() -> Engine:
    """Return the engine of the loaded model."""
    with _model_errors():
        return _embedder().engine


def _embedder() -> _Opened:
    if isinstance(_loaded, ModelError):
        raise _loaded
    return _loaded


@contextmanager
def _model_errors() -> Iterator[None]:
    """Turn any error into a `ModelError`, which the parent can unpickle."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - this task failed: the parent reports it, and the next may succeed
        raise ModelError(reason_of(error)) from None
