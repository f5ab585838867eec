"""The embedding model, in a process of its own that is started before it is needed."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from sourcebook.config import EmbeddingSettings
from sourcebook.embedding.early import start_early, stop_all
from sourcebook.embedding.process import EmbeddingProcess


class Embedder(dg.ConfigurableResource["Embedder"]):
    """Starts a model at most once a run, and ends it with the run."""

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator["Embedder"]:
        """End the model with the run."""
        try:
            yield self
        finally:
            stop_all()

    def start(self, settings: EmbeddingSettings) -> EmbeddingProcess:
        """Return the process of a model; loading goes on in it meanwhile.

        Raises:
            ModelError: the model cannot be found.
        """
        return start_early(settings)
