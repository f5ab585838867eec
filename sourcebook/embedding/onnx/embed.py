"""An embedder that runs an exported model with onnxruntime: it loads in a fifth of a second, torch in several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.embedding.engine import Engine
from sourcebook.embedding.metering import TokenMeter
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.onnx.record import GRAPH, TOKENIZER, Export, TokenSettings
from sourcebook.embedding.preparation import TOKENS_PER_BATCH as TORCH_TOKENS_PER_BATCH
from sourcebook.embedding.preparation import batches_by_length, query_threads, unit_rows, well_formed
from sourcebook.errors import ModelError
from sourcebook.installation import install_command
from sourcebook.model.usage import LOCAL
from sourcebook.processes.cores import usable_cores, usable_threads

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding

_RECENT: Final = 16
"""Texts whose tokens are kept: a search embeds its query and counts its tokens."""


TOKENS_PER_BATCH: Final = 256
"""Tokens of a batch of passages, padding included: most passages are computed alone.

Measured with all-MiniLM-L6-v2 on a Zen 3 (AVX2), processor time against `SentenceTransformer.encode`: .64 for a passage
at a time and for 256 tokens, .70 for 1,024, .71 for 2,048, whose intermediate results leave the processor's caches.
"""
_LONG: Final = 2_048
"""Tokens of a passage above which one is computed at a time: memory grows with their square."""


QUESTIONS: Final = Engine("onnxruntime", "float32", "cpu", "few texts are embedded without loading torch")


class OnnxEmbedder:
    """Embeds in this process with an exported model. Threads may share it, and compute side by side."""

    provider: Final = LOCAL

    def __init__(self, export: Export, *, threads: int | None = None, engine: Engine = QUESTIONS) -> None:
        """Load the export.

        Args:
            export: export to load.
            threads: threads that compute one batch; by default the best number for one question. Passages are
                computed side by side by as many times these threads as there are.
            engine: engine with the reason for it, as it is recorded for passages.

        Raises:
            ModelError: a package is missing, or a file is damaged.
        """
        record = export.record
        self.engine = engine
        self._record = record
        self.meter = TokenMeter()
        self._model = EmbeddingModel(
            record.name, None, record.identity, record.dimensions, max_tokens=record.tokens.max_tokens
        )
        self._threads = threads or query_threads(record.weights)
        # More runs at a time than cores would slow each other down, and each takes memory.
        # Padding on the left moves the positions of a text: such a model has torch's batches, for the same vectors.
        self._tokens = TOKENS_PER_BATCH if record.tokens.padding_side == "right" else TORCH_TOKENS_PER_BATCH
        self._most_runs = max(usable_cores() // self._threads, 1)
        self._turns = BoundedSemaphore(self._most_runs)
        try:
            self._session: InferenceSession | None = _load(export, self._threads)
            self._tokenizer = _Tokenizer(export.folder / TOKENIZER, record.tokens)
        except ImportError as error:
            raise ModelError(
                f"embedding without torch needs onnxruntime and tokenizers ({error}): "
                f"install them with  {install_command('server')}"
            ) from error
        except Exception as error:  # errors of onnxruntime and tokenizers have no common base
            raise ModelError(f"the exported model in {export.folder} cannot be loaded: {error}") from error

    @property
    def model(self) -> EmbeddingModel:
        """The model that the vectors come from."""
        return self._model

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; see `Embedder.embed`."""
        return self._embed([self._record.passage_prompt + text for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question; see `QueryEmbedder.embed_query`."""
        row: NDArray[np.float32] = self._embed([self._record.query_prompt + text])[0]
        return row

    def submit(self, texts: Sequence[str]) -> Future[NDArray[np.float32]]:
        """Embed passages before returning; the future is complete."""
        future: Future[NDArray[np.float32]] = Future()
        try:
            future.set_result(self.embed(texts))
        except ModelError as error:
            future.set_exception(error)
        return future

    def count_tokens(self, text: str) -> int:
        """Count a text's tokens after truncation, special ones included."""
        return len(self._tokenizer.encode(text))

    def close(self) -> None:
        """Drop the weights; may be called more than once."""
        self._session = None

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        session = self._session
        if session is None:
            raise ModelError(f"The embedding model {self._model.name!r} has been closed.")
        vectors = np.empty((len(texts), self._model.dimensions), np.float32)
        try:
            encodings = [self._tokenizer.encode(text) for text in texts]
            counts = [len(encoding) for encoding in encodings]
            self.meter.add(sum(counts))

            def embed(batch: list[int]) -> None:
                inputs = self._tokenizer.pad([encodings[position] for position in batch])
                with self._turns:
                    outputs = session.run(None, {name: inputs[name] for name in self._record.inputs})
                vectors[batch] = outputs[0]

            runs = min(self._most_runs, usable_threads()) if max(counts, default=0) <= _LONG else 1
            _side_by_side(embed, batches_by_length(counts, self._tokens), runs)
        except Exception as error:  # errors of onnxruntime and tokenizers have no common base
            raise ModelError(f"{self._model.name!r} could not embed {len(texts)} texts: {error}") from error
        return unit_rows(vectors)


def _side_by_side(embed: Callable[[list[int]], None], batches: Sequence[list[int]], threads: int) -> None:
    """Compute batches in several threads, or in this one where one thread or one batch is all there is."""
    if threads == 1 or len(batches) <= 1:
        for batch in batches:
            embed(batch)
        return
    with ThreadPoolExecutor(min(threads, len(batches)), thread_name_prefix="embed") as executor:
        for _ in executor.map(embed, batches):
            pass


class _Tokenizer:
    """Splits texts into tokens, without transformers. Threads may share it."""

    def __init__(self, file: Path, settings: TokenSettings) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(file))
        self._tokenizer.no_padding()  # a file may ask for one, which sentence-transformers overrides too
        self._tokenizer.enable_truncation(settings.max_tokens, direction=settings.truncation_side)
        self._settings = settings
        self._recent = lru_cache(_RECENT)(self._encode)

    def encode(self, text: str) -> Encoding:
        """Return a text's tokens, truncated."""
        return self._recent(text)

    def _encode(self, text: str) -> Encoding:
        # `encode_batch` would start threads: tokenizers warns about them when the process forks later.
        return self._tokenizer.encode(well_formed(text))

    def pad(self, encodings: Sequence[Encoding]) -> dict[str, NDArray[np.int64]]:
        """Pad at least one text's tokens to the longest one.

        Returns:
            `input_ids`, `attention_mask` and `token_type_ids`, each `(n, longest)` int64.
        """
        settings = self._settings
        shape = (len(encodings), max(len(encoding) for encoding in encodings))
        ids = np.full(shape, settings.padding_id, np.int64)
        mask = np.zeros(shape, np.int64)
        types = np.full(shape, settings.padding_type_id, np.int64)
        for row, encoding in enumerate(encodings):
            length = len(encoding)
            columns = slice(0, length) if settings.padding_side == "right" else slice(shape[1] - length, None)
            ids[row, columns] = encoding.ids
            mask[row, columns] = 1
            types[row, columns] = encoding.type_ids
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def _load(export: Export, threads: int) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors alone
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # The graph was simplified when it was exported.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Threads that wait by spinning take the cores from other programs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(export.folder / GRAPH), options, providers=["CPUExecutionProvider"])
