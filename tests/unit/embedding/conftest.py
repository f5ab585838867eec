"""The bundled model, loaded once for all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.embedding.onnx.export import export_model
from sourcebook.embedding.onnx.open import find_export
from sourcebook.embedding.onnx.record import Export
from tests.exported import exported_home


@pytest.fixture(scope="session")
def model() -> EmbeddingModel:
    return find_model("all-MiniLM-L6-v2")


@pytest.fixture(scope="session")
def embedder(model: EmbeddingModel) -> Iterator[SentenceTransformerEmbedder]:
    """Computes in float32, so that vectors can be compared closely."""
    loaded = SentenceTransformerEmbedder(model, "float32")
    yield loaded
    loaded.close()


@pytest.fixture(scope="session")
def minilm_home(model: EmbeddingModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with an export of the bundled model; not to be changed."""
    return exported_home(tmp_path_factory, lambda home: export_model(home, model))


@pytest.fixture(scope="session")
def minilm(minilm_home: Path, model: EmbeddingModel) -> Export:
    """The export of the bundled model; not to be changed."""
    found = find_export(minilm_home, model.identity)
    assert isinstance(found, Export)
    return found
