"""The weight of the vector leg by the embedding model."""

from pathlib import Path

import numpy as np
import pytest

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.contract.fusion import Fusion
from sourcebook.search.query_vectors import QueryVectors
from sourcebook.search.ranking.fusion import fuse
from sourcebook.search.ranking.leg import LegResult
from sourcebook.search.scope import ScopedGeneration


class _Embedder:
    """Embeds every query alike, and cuts texts into as many tokens as they have letters."""

    def embed_query(self, text: str) -> np.ndarray:
        return np.array([1.0, 0.0], np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text)

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("model", "language", "weight"),
    [("multilingual-e5-small:cd1caf181241/float32", 1.0, 1.5), ("all-MiniLM-L6-v2:53aa51172d14/float32", 0.0, 1.0)],
)
def test_a_multilingual_model_weighs_more_in_every_language(
    tmp_path: Path, model: str, language: float, weight: float
) -> None:
    """The tokens of its vocabulary are no sign that it has not learnt a language."""
    generation = ScopedGeneration("handbook", 1, model, EmbeddingSettings(), 2, ("simple",))
    found = QueryVectors(tmp_path, _Embedder()).embed(generation, "прилив")
    assert (found.language_weight, found.model_weight) == pytest.approx((language, weight))


def test_the_weight_decides_between_the_legs() -> None:
    """The first of the vectors comes before the first of the words, unless weights by model are switched off."""
    legs = {
        "vector": LegResult([(1, 0.9), (2, 0.8)], model_weight=1.5),
        "keyword": LegResult([(3, 9.0), (2, 1.0)]),
    }
    assert [chunk for chunk, _ in fuse(legs, Fusion(), 2)] == [1, 3, 2]
    assert dict(fuse(legs, Fusion(), 2))[1] == 1.5
    assert dict(fuse(legs, Fusion(by_language=False), 2))[1] == 1.0
