"""The interfaces of embedders, and the embedder that runs sentence-transformers in this process."""

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from sourcebook.embedding.model import EmbeddingModel, verify
from sourcebook.embedding.precision import Precision, PrecisionSetting, choose_precision
from sourcebook.embedding.preparation import (
    batches_by_length,
    passage_prompt,
    query_prompt,
    query_threads,
    unit_rows,
    well_formed,
)
from sourcebook.errors import ModelError
from sourcebook.model.usage import LOCAL
from sourcebook.processes.cores import usable_threads

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class QueryEmbedder(Protocol):
    """Turns a question into a unit vector."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question: `(dimensions,)` float32 of length 1; raises `ModelError` as `Embedder.embed` does."""

    def close(self) -> None:
        """Give the memory back; may be called more than once."""


class Embedder(QueryEmbedder, Protocol):
    """Turns texts into unit vectors."""

    @property
    def model(self) -> EmbeddingModel:
        """The model that the vectors come from."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages.

        Args:
            texts: Any number of texts of any length; they are truncated to the model's `max_tokens`.

        Returns:
            `(n, dimensions)` float32 in the order of `texts`, each row of length 1; `(0, dimensions)` for no texts.

        Raises:
            ModelError: The model cannot be loaded, has been closed, or failed on these texts.
        """


class SentenceTransformerEmbedder:
    """Embeds in this process with sentence-transformers, passages on all cores; threads take turns."""

    provider: Final = LOCAL

    def __init__(self, model: EmbeddingModel, precision: PrecisionSetting = "auto") -> None:
        """Verify the weights and load them: seconds, most of them spent importing torch.

        Raises:
            ModelError: The weights are not the ones of the model's identity, or cannot be loaded.
        """
        folder = verify(model)
        from sourcebook.embedding.loading import load_folder

        self._precision = choose_precision(precision)
        self._transformer: SentenceTransformer | None = load_folder(model.name, folder, self._precision)
        self._model = model
        self._lock = Lock()
        self._query_prompt = query_prompt(self._transformer.prompts)
        self._passage_prompt = passage_prompt(self._transformer.prompts)
        self._query_threads = query_threads(sum(weights.numel() for weights in self._transformer.parameters()))

    @property
    def model(self) -> EmbeddingModel:
        """The model that the vectors come from."""
        return self._model

    @property
    def precision(self) -> Precision:
        """Number format of the computation."""
        return self._precision

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; see `Embedder.embed`."""
        texts = [well_formed(text) for text in texts]
        vectors = np.empty((len(texts), self._model.dimensions), np.float32)
        with self._lock:
            _compute_with(usable_threads())
            try:
                for batch in batches_by_length(self._token_counts(texts)):
                    vectors[batch] = self._loaded.encode_document(
                        [texts[position] for position in batch],
                        prompt=self._passage_prompt,
                        batch_size=len(batch),
                        show_progress_bar=False,
                    )
            except (RuntimeError, TypeError, ValueError) as error:
                raise ModelError(f"{self._model.name!r} could not embed {len(texts)} texts: {error}") from error
        return unit_rows(vectors)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question; see `Embedder.embed_query`."""
        with self._lock:
            _compute_with(self._query_threads)
            try:
                vector = self._loaded.encode_query(
                    [well_formed(text)], prompt=self._query_prompt, show_progress_bar=False
                )
            except (RuntimeError, TypeError, ValueError) as error:
                raise ModelError(f"{self._model.name!r} could not embed the question: {error}") from error
        row: NDArray[np.float32] = unit_rows(np.asarray(vector, np.float32))[0]
        return row

    def count_tokens(self, text: str) -> int:
        """Count a text's tokens after truncation, special ones included."""
        with self._lock:
            return self._token_counts([well_formed(text)])[0]

    def close(self) -> None:
        """Drop the weights; may be called more than once."""
        with self._lock:
            self._transformer = None

    @property
    def _loaded(self) -> "SentenceTransformer":
        if self._transformer is None:
            raise ModelError(f"The embedding model {self._model.name!r} has been closed.")
        return self._transformer

    def _token_counts(self, texts: Sequence[str]) -> list[int]:
        """Count each text's tokens after truncation; by its characters where the model has a tokenizer of its own."""
        from transformers import PreTrainedTokenizerBase

        tokenizer = self._loaded.tokenizer
        if not texts or not isinstance(tokenizer, PreTrainedTokenizerBase):
            return [min(len(text) // 4 + 1, self._model.max_tokens) for text in texts]
        encoded = tokenizer(
            list(texts),
            truncation=True,
            max_length=self._model.max_tokens,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        return [len(tokens) for tokens in encoded["input_ids"]]


def _compute_with(threads: int) -> None:
    """Set how many threads torch computes with, in the calling thread too."""
    import torch

    torch.set_num_threads(threads)
