"""Find and open an exported model."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np

from sourcebook.embedding.engine import Engine
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.onnx.embed import QUESTIONS, OnnxEmbedder
from sourcebook.embedding.onnx.record import (
    EXPORT,
    Export,
    ExportedFile,
    ExportRecord,
    config_hash,
    file_sha256,
    model_folder,
    read_refusal,
)
from sourcebook.errors import ModelError

_PROBE_TOLERANCE: Final = 1e-3
"""Largest difference from the recorded vector; another processor or release adds numbers in another order."""


def find_export(home: Path, identity: str) -> Export | str:
    """Find a model's export without reading its weights.

    Files of the recorded size and time of change are trusted: no other program writes into the folder, and reading
    90 MB at each start would cost more than loading them. Where a time differs, as after a copy or a restored backup,
    the whole file is read: with the recorded SHA-256 it gets its recorded time back.

    Args:
        home: the state folder.
        identity: identity of the model; see `EmbeddingModel`.

    Returns:
        The export, or a sentence that says why there is none.
    """
    folder = model_folder(home, identity)
    try:
        record = ExportRecord.model_validate_json((folder / EXPORT).read_bytes())
    except FileNotFoundError:
        refusal = read_refusal(folder)
        if refusal is None:
            return f"the model has not been exported to ONNX in {home / 'models'} yet: the next ingest does it"
        return f"the model cannot be exported to ONNX: {refusal.reason}"
    except (OSError, ValueError) as error:
        first_line = next(iter(str(error).splitlines()), type(error).__name__)
        return f"the exported model's file {folder / EXPORT} cannot be read ({first_line}): ingest again"
    if record.identity != identity:
        return f"the exported model in {folder} is {record.identity}: ingest again"
    for name, file in record.files.items():
        path = folder / record.folder / name
        if not _is_as_written(path, file):
            return f"the exported model's file {path} is damaged or missing: the next ingest exports it again"
    return Export(folder / record.folder, record)


def needs_export(home: Path, model: EmbeddingModel) -> bool:
    """Return whether `export_model` would do anything; reads the model's settings and vocabulary, not its weights."""
    if model.folder is None:
        return False
    try:
        expected = config_hash(model.folder)
    except OSError:
        return False
    found = find_export(home, model.identity)
    record = found.record if isinstance(found, Export) else read_refusal(model_folder(home, model.identity))
    return record is None or record.config_hash != expected


def open_exported(export: Export, *, threads: int | None = None, engine: Engine = QUESTIONS) -> OnnxEmbedder:
    """Load an export, and embed the recorded question: another vector shows damage or another way to compute.

    Args:
        export: export to load.
        threads: threads that compute one batch; by default the best number for one question.
        engine: engine with the reason for it, as it is recorded for passages.

    Raises:
        ModelError: the export cannot be loaded, or its vector is not the recorded one.
    """
    embedder = OnnxEmbedder(export, threads=threads, engine=engine)
    question, expected = export.record.probe
    difference = float(np.abs(embedder.embed_query(question) - np.asarray(expected, np.float32)).max())
    if not difference <= _PROBE_TOLERANCE:
        raise ModelError(f"the exported model in {export.folder} gives another vector than it did ({difference:.1e})")
    return embedder


def _is_as_written(path: Path, file: ExportedFile) -> bool:
    """Return whether a file is the recorded one; reads it only if its time of change differs."""
    try:
        status = path.stat()
        if status.st_size != file.size:
            return False
        if status.st_mtime_ns != file.modified:
            if file_sha256(path) != file.sha256:
                return False
            with suppress(OSError):  # another user's file is good, too
                os.utime(path, ns=(status.st_atime_ns, file.modified))
    except OSError:
        return False
    return True
