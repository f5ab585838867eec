"""One model on several GPUs: each takes its share of the passages."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.engine import Engine, Precision
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.model.usage import LOCAL


class SideBySideEmbedder:
    """Embedders of one model with a thread each; torch computes without Python's lock. Questions go to the first one.

    Args:
        embedders: at least one, each with its own GPU.
    """

    provider: Final = LOCAL

    def __init__(self, embedders: Sequence[SentenceTransformerEmbedder]) -> None:
        self._embedders = tuple(embedders)
        self._threads = ThreadPoolExecutor(len(self._embedders), thread_name_prefix="sourcebook-gpu")

    @property
    def model(self) -> EmbeddingModel:
        """The model that the vectors come from."""
        return self._embedders[0].model

    @property
    def precision(self) -> Precision:
        """Number format of the computation."""
        return self.engine.precision

    @property
    def engine(self) -> Engine:
        """The engine of the first embedder, with the number of those that share its device."""
        first = self._embedders[0].engine
        alike = sum(embedder.engine.device == first.device for embedder in self._embedders)
        return replace(first, reason=f"{first.reason}; {alike} of {len(self._embedders)} GPUs share the work")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; see `Embedder.embed`."""
        vectors = np.empty((len(texts), self.model.dimensions), np.float32)
        by_length = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        shares = [by_length[first :: len(self._embedders)] for first in range(len(self._embedders))]
        working = [
            (share, self._threads.submit(embedder.embed, [texts[number] for number in share]))
            for share, embedder in zip(shares, self._embedders, strict=True)
            if share
        ]
        for share, done in working:
            vectors[share] = done.result()
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question; see `Embedder.embed_query`."""
        return self._embedders[0].embed_query(text)

    def count_tokens(self, text: str) -> int:
        """Count a text's tokens after truncation, special ones included."""
        return self._embedders[0].count_tokens(text)

    def close(self) -> None:
        """Drop the weights; may be called more than once."""
        self._threads.shutdown()
        for embedder in self._embedders:
            embedder.close()
