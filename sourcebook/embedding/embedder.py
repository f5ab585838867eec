"""The interfaces of embedders, and the embedder that runs sentence-transformers in this process."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from sourcebook.embedding.attention import has_slow_attention, use_products
from sourcebook.embedding.batch_sizes import free_gpu_memory, is_out_of_memory, measured_tokens_per_batch
from sourcebook.embedding.engine import Engine, Precision, PrecisionSetting, choose_precision
from sourcebook.embedding.loading import first_line, load_folder
from sourcebook.embedding.model import EmbeddingModel, verify
from sourcebook.embedding.preparation import (
    batches_by_length,
    passage_prompt,
    query_prompt,
    query_threads,
    unit_rows,
    well_formed,
)
from sourcebook.embedding.streams import compute_with, open_streams
from sourcebook.errors import ModelError
from sourcebook.model.usage import LOCAL

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


_log = logging.getLogger("sourcebook.embedding")


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
            texts: any number of texts of any length; they are truncated to the model's `max_tokens`.

        Returns:
            `(n, dimensions)` float32 in the order of `texts`, each row of length 1; `(0, dimensions)` for no texts.

        Raises:
            ModelError: the model cannot be loaded, has been closed, or failed on these texts.
        """


class SentenceTransformerEmbedder:
    """Embeds in this process with sentence-transformers, passages on a GPU or all cores; threads take turns.

    On the processor, the batches of a call are computed in several streams (`streams.py`).
    A batch for which the memory is too little is halved, and so are all later ones. Where a GPU fails, or cannot be
    loaded to, the processor goes on in its place, unless the settings name the GPU.
    """

    provider: Final = LOCAL

    def __init__(
        self,
        model: EmbeddingModel,
        precision: PrecisionSetting = "auto",
        *,
        engine: Engine | None = None,
        may_fall_back: bool = True,
        gpu: int = 0,
    ) -> None:
        """Verify the weights and load them: seconds, most of them spent importing torch.

        Args:
            model: model to load.
            precision: number format where no engine is given.
            engine: device and number format; by default the processor.
            may_fall_back: whether the processor takes the place of a GPU that fails.
            gpu: number of the GPU, where there are several.

        Raises:
            ModelError: the weights are not the ones of the model's identity, or cannot be loaded.
        """
        self._folder = verify(model)
        self.engine = engine or Engine("torch", choose_precision(precision), "cpu", "no device is chosen for questions")
        self._may_fall_back, self._gpu = may_fall_back, gpu
        self._model = model
        self._lock = Lock()
        transformer = self._load()
        self._transformer: SentenceTransformer | None = transformer
        self._query_prompt = query_prompt(transformer.prompts)
        self._passage_prompt = passage_prompt(transformer.prompts)
        self._query_threads = query_threads(sum(weights.numel() for weights in transformer.parameters()))

    @property
    def model(self) -> EmbeddingModel:
        """The model that the vectors come from."""
        return self._model

    @property
    def precision(self) -> Precision:
        """Number format of the computation."""
        return self.engine.precision

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; see `Embedder.embed`."""
        texts = [well_formed(text) for text in texts]
        vectors = np.empty((len(texts), self._model.dimensions), np.float32)

        def compute(batch: list[int]) -> None:
            vectors[batch] = self._encode([texts[position] for position in batch], tokens)

        with self._lock:
            try:
                with self._tokens_of_call.of(texts, self._passage_prompt) as known:
                    counts = known or self._token_counts(texts)
                    tokens = self.streams.batch_tokens(counts, self._tokens)
                    self.streams.compute(compute, batches_by_length(counts, tokens), max(counts, default=0))
            except (RuntimeError, TypeError, ValueError) as error:
                raise ModelError(f"{self._model.name!r} could not embed {len(texts)} texts: {error}") from error
        return unit_rows(vectors)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question; see `Embedder.embed_query`."""
        with self._lock:
            compute_with(self._query_threads)
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
            self._tokens_of_call.close()
            self.streams.close()

    def _load(self) -> SentenceTransformer:
        """Load the model on its device, or on the processor where a GPU fails; measure the size of its batches."""
        try:
            transformer = load_folder(
                self._model.name, self._folder, self.engine.precision, self.engine.device, self._gpu
            )
            if self.engine.device == "cpu" and self.engine.precision == "bfloat16" and has_slow_attention():
                from sourcebook.embedding.packed_encoder import pack_encoder  # imports torch

                if not pack_encoder(transformer):
                    use_products(transformer)
            self._tokens = measured_tokens_per_batch(transformer)
            self.streams = open_streams(transformer, self.engine.device)
            self._tokens_of_call = TokensOfCall(transformer, self._model.max_tokens)
        except (ModelError, RuntimeError) as error:
            if self.engine.device == "cpu" or not self._may_fall_back:
                raise
            self._use_processor(error)
            return self._load()
        return transformer

    def _use_processor(self, error: Exception) -> None:
        """Choose the processor in place of a GPU that fails."""
        reason = f"the GPU ({self.engine.device}) failed: {first_line(error)}"
        _log.warning("%s: %s; the processor goes on", self._model.name, reason)
        self.engine = Engine("torch", choose_precision("auto"), "cpu", reason)

    def _encode(self, texts: Sequence[str], tokens: int) -> NDArray[np.float32]:
        """Embed one batch of that many tokens: in halves after a lack of memory, on the processor where a GPU fails."""
        try:
            vectors: NDArray[np.float32] = self._loaded.encode_document(
                list(texts), prompt=self._passage_prompt, batch_size=len(texts), show_progress_bar=False
            )
        except (RuntimeError, MemoryError) as error:
            failure = error.with_traceback(None)  # whose frames hold the memory of the batch
        else:
            return vectors
        if is_out_of_memory(failure) and len(texts) > 1:
            free_gpu_memory()
            self._tokens, half = min(self._tokens, tokens // 2), len(texts) // 2
            _log.warning("%s: too little memory for %d texts at once: halved", self._model.name, len(texts))
            return np.concatenate([self._encode(part, tokens // 2) for part in (texts[:half], texts[half:])])
        if self.engine.device == "cpu" or not self._may_fall_back:
            raise failure
        self._use_processor(failure)
        self._transformer = None
        self._tokens_of_call.close()
        self._transformer = self._load()
        return self._encode(texts, self._tokens)

    @property
    def _loaded(self) -> SentenceTransformer:
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


_MOST_TOKENS: Final = 1_000_000
"""Tokens that are kept at once, padding included: 24 MB."""
_PADDED: Final = ("input_ids", "attention_mask", "token_type_ids")
"""Features with a row for each text and a column for each token."""


class TokensOfCall:
    """Answers a model's `preprocess` for texts that it has tokenized; any other call goes to the model.

    Args:
        transformer: a loaded model, which is changed.
        most: most tokens of a text.
    """

    def __init__(self, transformer: SentenceTransformer, most: int) -> None:
        self._most = most
        self._own: Any = getattr(transformer, "preprocess", None)  # older releases have `tokenize` alone
        self._asked: tuple[str, dict[str, Any]] = ("", {})
        self._rows: dict[str, int] = {}
        self._lengths: list[int] = []
        self._features: dict[str, Any] = {}
        if self._own is not None and getattr(transformer.tokenizer, "padding_side", None) == "right":
            transformer.preprocess = self._preprocess  # type: ignore[method-assign]
        else:
            self._own = None

    @contextmanager
    def of(self, texts: Sequence[str], prompt: str) -> Iterator[list[int] | None]:
        """Tokenize texts as `encode_document` does, and keep the result until the end of the context.

        Args:
            texts: of a call, at least one.
            prompt: text before each of them.

        Yields:
            Tokens of each text, those of the prompt included; None where the model has to be asked for each batch.
        """
        try:
            yield self._lengths if self._read(texts, prompt) else None
        finally:
            self._rows, self._lengths, self._features = {}, [], {}

    def close(self) -> None:
        """Let go of the model; may be called more than once."""
        self._own = None

    def _read(self, texts: Sequence[str], prompt: str) -> bool:
        if self._own is None or not texts or len(texts) * self._most > _MOST_TOKENS:
            return False
        self._asked = prompt, {"task": "document"}
        features = self._own(list(texts), prompt=prompt, task="document")
        mask = features.get("attention_mask")
        others = {name for name in features if name not in _PADDED}
        if mask is None or len(mask) != len(texts) or others - {"modality", "prompt_length"}:
            return False
        self._features, self._lengths = features, mask.sum(1).tolist()
        self._rows = {text: row for row, text in enumerate(texts)}
        return True

    def _preprocess(self, inputs: Sequence[Any], prompt: str | None = None, **more: Any) -> dict[str, Any]:
        """Return what the model's `preprocess` returns for a batch, from the tokens that are kept where they are."""
        if not self._rows or (prompt or "", more) != self._asked or not all(text in self._rows for text in inputs):
            features: dict[str, Any] = self._own(inputs, prompt=prompt, **more)
            return features
        rows = [self._rows[text] for text in inputs]
        longest = max(self._lengths[row] for row in rows)
        return {name: value[rows, :longest] if name in _PADDED else value for name, value in self._features.items()}
