"""The embedding model, in a process of its own that is started before it is needed."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from sourcebook.config import EmbeddingSettings
from sourcebook.embedding.model import find_model
from sourcebook.embedding.process import EmbeddingProcess

_started: dict[EmbeddingSettings, EmbeddingProcess] = {}


def start_early(settings: EmbeddingSettings) -> EmbeddingProcess:
    """Begin to load a model now, beside whatever else this process does; the run finds it."""
    if settings not in _started:
        _started[settings] = EmbeddingProcess(find_model(settings.model), settings.precision)
        _started[settings].start()
    return _started[settings]


def stop_all() -> None:
    """End every model process that was started in this process."""
    while _started:
        _, process = _started.popitem()
        process.close()


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
