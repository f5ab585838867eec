"""The embedding model: in a process of its own that is started before it is needed, or exported, for few texts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from psycopg import Connection

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.embedding.early import embedder_for, export_beside, start_early_for, stop_all, wait_for_exports
from sourcebook.embedding.onnx.embedder import OnnxEmbedder
from sourcebook.embedding.process import EmbeddingProcess
from sourcebook.indexing.generations import wanted_embedding
from sourcebook.model.report import StageReport


class Embedder(dg.ConfigurableResource["Embedder"]):
    """Starts a model at most once a run, and ends it with the run."""

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["Embedder"]:
        """End the model with the run, when what it exports is complete."""
        try:
            yield self
            for model, reason in wait_for_exports().items():
                if context.log:
                    context.log.info(f"{model} is not exported for searches without torch: {reason}")
        finally:
            stop_all()

    def start_early(self, settings: EmbeddingSettings, home: Path, items: int) -> None:
        """Begin to load a model, unless there are so few items to embed that its export does it sooner.

        Raises:
            ModelError: the model cannot be found.
        """
        start_early_for(settings, home, items)

    def start_early_for(self, connection: Connection, collection: str, home: Path, report: StageReport) -> None:
        """Begin to load a collection's model where a stage has found new or changed items.

        Raises:
            ModelError: the model cannot be found.
        """
        items = report.added + report.changed
        if items:
            self.start_early(wanted_embedding(connection, collection), home, items)

    def for_texts(self, settings: EmbeddingSettings, home: Path, texts: int) -> EmbeddingProcess | OnnxEmbedder:
        """Return what embeds so many texts: a process, or for few the exported model.

        Raises:
            ModelError: the model cannot be found.
        """
        return embedder_for(settings, home, texts)

    def export_beside(self, settings: EmbeddingSettings, home: Path) -> None:
        """Export a model that was loaded, for searches without torch, while the run goes on."""
        export_beside(settings, home)
