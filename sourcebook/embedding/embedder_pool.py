"""The embedders of one run: each model is loaded at most once, as early as its need is known."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.embedding.engine import Engine
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.errors import ModelError
from sourcebook.model.closing import Closing
from sourcebook.processes.interrupts import result_of

if TYPE_CHECKING:
    from sourcebook.embedding.onnx.embed import OnnxEmbedder
    from sourcebook.embedding.onnx.record import Export
    from sourcebook.embedding.process import EmbeddingProcess
    from sourcebook.embedding.remote.access import ProviderAccess
    from sourcebook.embedding.remote.embedder import RemoteEmbedder
    from sourcebook.model.generation import Generation

FEW_TEXTS: Final = 256
"""Texts up to which an exported model has embedded them before torch, which is faster once loaded, is imported."""
MANY_TEXTS: Final = 500
"""Texts from which torch is faster in sum, loading included: docs/decisions/0037-passages-through-onnxruntime.md."""
_TEXTS_PER_ITEM: Final = 4
"""Texts of a usual document; where documents have more, torch is loaded later."""


class EmbedderPool(Closing):
    """The model process and the opened export of the latest settings, and providers. Whoever creates a pool closes it.

    Collections of other settings follow one another: the former model leaves the memory before the next is loaded.
    """

    def __init__(self) -> None:
        self._processes: dict[EmbeddingSettings, EmbeddingProcess] = {}
        self._opened: dict[EmbeddingSettings, OnnxEmbedder] = {}
        self._exports: dict[EmbeddingSettings, Future[str | None]] = {}
        self._remote: dict[tuple[str, str, EmbeddingSettings], RemoteEmbedder] = {}

    def start_early(self, settings: EmbeddingSettings, home: Path, items: int) -> None:
        """Begin to load a model, unless its export would finish sooner.

        Args:
            settings: model and precision.
            home: state folder, with the exports in `models/`.
            items: number of documents to embed.

        Raises:
            ModelError: the model cannot be found, or its process cannot be started.
        """
        if settings.provider is not None:
            return
        model = find_model(settings.model)
        if items * _TEXTS_PER_ITEM > MANY_TEXTS or not (model.is_in_the_box or _found_or_made_export(model, home)):
            self._process(settings, home)

    def for_texts(self, settings: EmbeddingSettings, home: Path, texts: int) -> EmbeddingProcess | OnnxEmbedder:
        """Choose the embedder: a process that runs already, else for few texts the exported model in this process.

        Args:
            settings: model and precision.
            home: state folder, with the exports in `models/`.
            texts: number of texts to embed.

        Raises:
            ModelError: the model cannot be found, or its process cannot be started.
        """
        if settings in self._processes or texts > FEW_TEXTS:
            return self._process(settings, home)
        if settings not in self._opened:
            export = _found_or_made_export(find_model(settings.model), home)
            if export is None:
                return self._process(settings, home)
            from sourcebook.embedding.onnx.open import open_exported

            self._close_others(settings)
            try:
                self._opened[settings] = open_exported(export, threads=1)
            except ModelError:  # the next search reports it
                return self._process(settings, home)
        return self._opened[settings]

    def for_generation(
        self, generation: Generation, home: Path, texts: int, access: ProviderAccess
    ) -> EmbeddingProcess | OnnxEmbedder | RemoteEmbedder:
        """Choose the embedder of a generation: that of its provider, or a local one by `for_texts`.

        Args:
            generation: the generation whose texts to embed.
            home: state folder, with the exports in `models/`.
            texts: number of texts to embed.
            access: to what the database keeps of the provider.

        Raises:
            ModelError: the model cannot be found, its process cannot be started, or the provider's key is missing.
        """
        settings = generation.embedding_settings
        if settings.provider is None:
            return self.for_texts(settings, home, texts)
        key = (generation.model, generation.collection, settings)
        if key not in self._remote:
            from sourcebook.embedding.remote.embedder import open_remote

            identity = generation.model.partition("/")[0]
            self._remote[key] = open_remote(identity, settings, access, for_queries=False)
        return self._remote[key]

    def engine_of(self, settings: EmbeddingSettings) -> Engine | None:
        """Return the engine of these settings, once its model is loaded; None where no text needed one.

        Raises:
            ModelError: the model cannot be loaded.
        """
        embedder = self._processes.get(settings)
        if embedder is not None:
            return embedder.engine()
        opened = self._opened.get(settings)
        return None if opened is None else opened.engine

    def export_beside(self, settings: EmbeddingSettings, home: Path) -> None:
        """Begin the export of a loaded model, if it is due, while this process goes on.

        A model without a process is not exported: loading torch would delay an ingest that does not need it. Where the
        process has ended, `wait_for_exports` gives that as the reason.
        """
        from sourcebook.embedding.onnx.open import needs_export

        process = self._processes.get(settings)
        if process is not None and settings not in self._exports and needs_export(home, process.model):
            try:
                self._exports[settings] = process.export(home)
            except ModelError as error:
                failed: Future[str | None] = Future()
                failed.set_result(str(error))
                self._exports[settings] = failed

    def wait_for_exports(self) -> dict[str, str]:
        """Wait until the exports in progress are complete.

        Returns:
            Reasons for failed exports by the model's name; searches of these models go on with torch.
        """
        reasons: dict[str, str] = {}
        while self._exports:
            settings, future = self._exports.popitem()
            try:
                reason = result_of(future)
            except ModelError as error:
                reason = str(error)
            if reason is not None:
                reasons[settings.model] = reason
        return reasons

    def close(self) -> None:
        """End every model process, even during an export, and drop every opened export."""
        self._exports.clear()
        while self._processes:
            self._processes.popitem()[1].close()
        while self._opened:
            self._opened.popitem()[1].close()
        while self._remote:
            self._remote.popitem()[1].close()

    def _process(self, settings: EmbeddingSettings, home: Path) -> EmbeddingProcess:
        """Return the process of a model; start it where there is none, or where its child has died."""
        process = self._processes.get(settings)
        if process is None or not process.is_active:
            self._close_others(settings)
            if process is not None:
                process.close()
            from sourcebook.embedding.process import EmbeddingProcess  # not with the code location: takes 0.2 s

            process = EmbeddingProcess(
                find_model(settings.model), settings.precision, device=settings.device, home=home
            )
            process.start()
            self._processes[settings] = process
            if process.model.is_in_the_box:  # it takes a second, and the first query needs no torch then
                self.export_beside(settings, home)
        return self._processes[settings]

    def _close_others(self, settings: EmbeddingSettings) -> None:
        """End the process and drop the opened export of every other model."""
        for other in [other for other in self._processes if other != settings]:
            self._processes.pop(other).close()
        for other in [other for other in self._opened if other != settings]:
            self._opened.pop(other).close()


def _found_or_made_export(model: EmbeddingModel, home: Path) -> Export | None:
    """Return the export that matches a model's folder, which a model of the box gets in a second; None otherwise."""
    from sourcebook.embedding.onnx.open import find_export, needs_export
    from sourcebook.embedding.onnx.record import Export

    if needs_export(home, model):
        if not model.is_in_the_box:
            return None
        from sourcebook.embedding.onnx.export import export_model

        export_model(home, model)
    found = find_export(home, model.identity)
    return found if isinstance(found, Export) else None
