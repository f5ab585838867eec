"""Export a model where torch is not loaded: in a process of its own, which takes torch's memory with it."""

from pathlib import Path

from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.process import EmbeddingProcess


def export_apart(home: Path, model: EmbeddingModel) -> str | None:
    """Export a model in a process that is started for it and ends with it; see `export_model`.

    Raises:
        ModelError: the model cannot be loaded, or the process ended.
    """
    with EmbeddingProcess(model, "float32") as process:
        return process.export(home).result()
