"""What embeds for this process: a model is loaded at most once, as early as somebody knows that it will be needed."""

from concurrent.futures import Future
from pathlib import Path
from typing import Final

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.embedding.onnx.embedder import OnnxEmbedder, open_exported
from sourcebook.embedding.onnx.export import needs_export
from sourcebook.embedding.onnx.store import Export, find_export
from sourcebook.embedding.process import EmbeddingProcess
from sourcebook.errors import ModelError
from sourcebook.processes.cores import usable_cores

FEW_TEXTS: Final = 256
"""So many are embedded by an exported model before torch, which is faster once it is loaded, has been imported."""
_TEXTS_AN_ITEM: Final = 4  # of a usual document; where it has more, torch is loaded later

_started: dict[EmbeddingSettings, EmbeddingProcess] = {}
_exported: dict[EmbeddingSettings, OnnxEmbedder] = {}
_exports: dict[EmbeddingSettings, "Future[str | None]"] = {}


def start_early(settings: EmbeddingSettings) -> EmbeddingProcess:
    """Begin to load a model now, beside whatever else this process does; a later call returns the same process.

    Raises:
        ModelError: the model cannot be found, or the process cannot be started.
    """
    if settings not in _started:
        process = EmbeddingProcess(find_model(settings.model), settings.precision)
        process.start()
        _started[settings] = process
    return _started[settings]


def start_early_for(settings: EmbeddingSettings, home: Path, items: int) -> None:
    """Begin to load a model now, unless there are so few items to embed that its export does it sooner.

    Raises:
        ModelError: the model cannot be found, or the process cannot be started.
    """
    if items * _TEXTS_AN_ITEM > FEW_TEXTS or _usable_export(find_model(settings.model), home) is None:
        start_early(settings)


def embedder_for(settings: EmbeddingSettings, home: Path, texts: int) -> EmbeddingProcess | OnnxEmbedder:
    """Choose what embeds: the process that was started, else for few texts the exported model in this process.

    Args:
        settings: which model.
        home: the state folder, where exports lie.
        texts: how many there are to embed.

    Raises:
        ModelError: the model cannot be found, or the process cannot be started.
    """
    if settings in _started or texts > FEW_TEXTS:
        return start_early(settings)
    if settings not in _exported:
        export = _usable_export(find_model(settings.model), home)
        if export is None:
            return start_early(settings)
        try:
            _exported[settings] = open_exported(export, threads=usable_cores())
        except ModelError:  # the search that meets it says why
            return start_early(settings)
    return _exported[settings]


def export_beside(settings: EmbeddingSettings, home: Path) -> None:
    """Have a model that has been loaded exported for searches, if that is due, while this process goes on.

    Nothing happens where no process of the model runs: loading torch for it would delay an ingest that needs none.
    """
    process = _started.get(settings)
    if process is not None and settings not in _exports and needs_export(home, process.model):
        _exports[settings] = process.export(home)


def wait_for_exports() -> dict[str, str]:
    """Wait until the exports that were begun are done.

    Returns:
        By the model's name, why there is none; an export that failed leaves searches as they were, with torch.
    """
    reasons: dict[str, str] = {}
    while _exports:
        settings, future = _exports.popitem()
        try:
            reason = future.result()
        except ModelError as error:
            reason = str(error)
        if reason is not None:
            reasons[settings.model] = reason
    return reasons


def stop_all() -> None:
    """End every model process that was started in this process, in mid-export too, and drop every model."""
    _exports.clear()
    while _started:
        _, process = _started.popitem()
        process.close()
    while _exported:
        _, embedder = _exported.popitem()
        embedder.close()


def _usable_export(model: EmbeddingModel, home: Path) -> Export | None:
    """Return the export of a model as its folder is now."""
    found = None if needs_export(home, model) else find_export(home, model.identity)
    return found if isinstance(found, Export) else None
