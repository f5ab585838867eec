"""Export a model to ONNX, once, and compare it with what it was made from."""

import errno
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sourcebook.embedding.model import EmbeddingModel, verify
from sourcebook.embedding.onnx.embedder import OnnxEmbedder
from sourcebook.embedding.onnx.files import TOKENIZER, describe_files, files_of_export
from sourcebook.embedding.onnx.record import ExportRecord, RefusalRecord
from sourcebook.embedding.onnx.samples import PROBE, SAMPLES
from sourcebook.embedding.onnx.settings_digest import settings_sha256
from sourcebook.embedding.onnx.store import (
    Export,
    exclusively,
    find_export,
    is_export_due,
    keep_record,
    model_folder,
    read_refusal,
)
from sourcebook.embedding.onnx.versions import versions
from sourcebook.embedding.prompts import passage_prompt, query_prompt
from sourcebook.embedding.weights import weights_size

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_SPACE_BESIDE: Final = 50_000_000  # for the graph, the vocabulary, and whoever else writes meanwhile


def needs_export(home: Path, model: EmbeddingModel) -> bool:
    """Would `export_model` do anything? Reads the model's settings and vocabulary, not its weights."""
    try:
        return model.folder is not None and is_export_due(home, model.identity, settings_sha256(model.folder))
    except OSError:
        return False


def export_model(home: Path, model: EmbeddingModel) -> str | None:
    """Export a model, unless that is done or was refused; the files of a model that has changed are replaced.

    Takes torch (seconds to import) and the model's weights in float32 in memory. Processes that do it at once wait for
    each other, and the first one's export serves all. A process that is killed leaves nothing that counts.

    Args:
        home: the state folder; the files come into `models/` in it.
        model: that `find_model` found.

    Returns:
        None where there is an export now; else why there is none, as the end of a sentence.

    Raises:
        ModelError: the model's weights are damaged or cannot be loaded.
    """
    source = verify(model)
    try:
        digest = settings_sha256(source)
        with exclusively(home, model.identity) as folder:
            if is_export_due(home, model.identity, digest):
                _export(folder, model, source, digest)
    except OSError as error:
        return f"the exported model cannot be kept in {home / 'models'}: {error}"
    found = find_export(home, model.identity)
    if isinstance(found, Export):
        return None
    refusal = read_refusal(model_folder(home, model.identity))
    return refusal.reason if refusal else found


def _export(folder: Path, model: EmbeddingModel, source: Path, digest: str) -> None:
    from sourcebook.embedding.loading import first_line, load_folder
    from sourcebook.embedding.onnx.comparison import DifferentVectorsError
    from sourcebook.embedding.onnx.support import UnsupportedModelError, check_size

    started = time.perf_counter()
    try:
        check_size(weights_size(source))
    except UnsupportedModelError as error:  # found before so much is loaded
        _refuse(folder, model, digest, str(error))
        return
    transformer = load_folder(model.name, source, "float32")
    try:
        with files_of_export(folder) as target:
            record = _write(transformer, model, digest, target, started)
            keep_record(folder, record)
    except (OSError, MemoryError):
        raise  # wrong with this machine now, not with the model
    except Exception as error:  # noqa: BLE001 - torch and onnxruntime raise whatever they like; it is recorded
        known = isinstance(error, UnsupportedModelError | DifferentVectorsError)
        _refuse(folder, model, digest, str(error) if known else f"{type(error).__name__}: {first_line(error)}")


def _refuse(folder: Path, model: EmbeddingModel, digest: str, reason: str) -> None:
    record = RefusalRecord(
        format=1, identity=model.identity, reason=reason, settings_sha256=digest, versions=versions()
    )
    keep_record(folder, record)


def _write(
    transformer: "SentenceTransformer", model: EmbeddingModel, digest: str, target: Path, started: float
) -> ExportRecord:
    from sourcebook.embedding.onnx.comparison import largest_difference
    from sourcebook.embedding.onnx.graph import write_graph
    from sourcebook.embedding.onnx.support import check_supported, fast_tokenizer, pooling_modes, token_settings

    check_supported(transformer)
    weights = sum(weights.numel() for weights in transformer.parameters())
    _require_space(target, bytes_needed=weights * 4 * 2 + _SPACE_BESIDE)
    fast_tokenizer(transformer).backend_tokenizer.save(str(target / TOKENIZER))
    inputs = write_graph(transformer, [PROBE, SAMPLES[3]], target)
    record = ExportRecord(
        format=1,
        identity=model.identity,
        name=model.name,
        dimensions=model.dimensions,
        weights=weights,
        tokens=token_settings(transformer),
        query_prompt=query_prompt(transformer.prompts),
        passage_prompt=passage_prompt(transformer.prompts),
        pooling=pooling_modes(transformer),
        inputs=inputs,
        settings_sha256=digest,
        worst_difference=0.0,
        probe=("", ()),
        versions=versions(),
        seconds=0.0,
        folder=target.name,
        files={},
    )
    embedder = OnnxEmbedder(Export(target, record))
    probe = embedder.embed_query(PROBE)
    return record.model_copy(
        update={
            "worst_difference": largest_difference(transformer, embedder, record),
            "probe": (PROBE, tuple(map(float, probe))),
            "files": describe_files(target),
            "seconds": time.perf_counter() - started,
        }
    )


def _require_space(folder: Path, bytes_needed: int) -> None:
    """Raise `OSError` where the disk is too full: torch and onnxruntime would not say that it was the disk."""
    if shutil.disk_usage(folder).free < bytes_needed:
        raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: {bytes_needed / 1e6:.0f} MB are needed")
