"""What turns texts into vectors, and the one that does it in this process."""

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from sourcebook.cores import usable_cores
from sourcebook.embedding.batching import batches_by_length
from sourcebook.embedding.model import EmbeddingModel, verify
from sourcebook.embedding.precision import Precision, PrecisionSetting, choose_precision
from sourcebook.errors import ModelError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# A small model answers a question as fast on one core as on two (7 ms), and two threads wait for each other where other
# programs compute too: there the 95th percentile was 24 ms on one core and 124 to 980 ms on two.
_SMALL_MODEL_WEIGHTS = 50_000_000


class QueryEmbedder(Protocol):
    """Turns a question into a unit vector: all that a search needs."""

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
            texts: Any number of texts of any length; what is beyond the model's `max_tokens` is cut off.

        Returns:
            `(n, dimensions)` float32 in the order of `texts`, each row of length 1; `(0, dimensions)` for no texts.

        Raises:
            ModelError: The model cannot be loaded, has been closed, or failed on these texts.
        """


class SentenceTransformerEmbedder:
    """Embeds in this process with sentence-transformers, passages on all cores; threads take turns."""

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
        prompts = self._transformer.prompts
        self._query_prompt = prompts.get("query") or ""
        # sentence-transformers itself takes an empty "document" prompt before a "passage" that says something.
        self._passage_prompt = next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), "")
        small = sum(weights.numel() for weights in self._transformer.parameters()) < _SMALL_MODEL_WEIGHTS
        self._query_threads = 1 if small else usable_cores()

    @property
    def model(self) -> EmbeddingModel:
        """The model that the vectors come from."""
        return self._model

    @property
    def precision(self) -> Precision:
        """What the model computes in."""
        return self._precision

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; see `Embedder.embed`."""
        vectors = np.empty((len(texts), self._model.dimensions), np.float32)
        with self._lock:
            _compute_with(usable_cores())
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
        return _unit_rows(vectors)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question; see `Embedder.embed_query`."""
        with self._lock:
            _compute_with(self._query_threads)
            try:
                vector = self._loaded.encode_query([text], prompt=self._query_prompt, show_progress_bar=False)
            except (RuntimeError, TypeError, ValueError) as error:
                raise ModelError(f"{self._model.name!r} could not embed the question: {error}") from error
        row: NDArray[np.float32] = _unit_rows(np.asarray(vector, np.float32))[0]
        return row

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


def _unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale each row to length 1, in float32 whatever the model computed in; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
    rows: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
    return rows
