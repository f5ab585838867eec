"""Model processes of this process: each is started at most once, as early as somebody knows that it will be needed."""

from sourcebook.config import EmbeddingSettings
from sourcebook.embedding.model import find_model
from sourcebook.embedding.process import EmbeddingProcess

_started: dict[EmbeddingSettings, EmbeddingProcess] = {}


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


def stop_all() -> None:
    """End every model process that was started in this process."""
    while _started:
        _, process = _started.popitem()
        process.close()
