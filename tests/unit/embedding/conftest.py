"""The bundled model, loaded once for all tests of this folder."""

from collections.abc import Iterator

import pytest

from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.model import EmbeddingModel, find_model


@pytest.fixture(scope="session")
def model() -> EmbeddingModel:
    return find_model("all-MiniLM-L6-v2")


@pytest.fixture(scope="session")
def embedder(model: EmbeddingModel) -> Iterator[SentenceTransformerEmbedder]:
    """Computes in float32, so that vectors can be compared closely."""
    loaded = SentenceTransformerEmbedder(model, "float32")
    yield loaded
    loaded.close()
