"""What turns texts into vectors with onnxruntime: loaded in a fifth of a second, where torch takes many."""

from collections.abc import Sequence
from concurrent.futures import Future
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.embedding.batching import batches_by_length
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.onnx.files import GRAPH, TOKENIZER
from sourcebook.embedding.onnx.store import Export
from sourcebook.embedding.onnx.tokens import TextTokenizer
from sourcebook.embedding.query_threads import query_threads
from sourcebook.embedding.unit_rows import unit_rows
from sourcebook.embedding.well_formed import well_formed
from sourcebook.errors import ModelError
from sourcebook.installation import install_command
from sourcebook.processes.cores import usable_cores

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

# The first vector must be the recorded one, up to what another processor's or release's order of adding changes.
_PROBE_TOLERANCE: Final = 1e-3


class OnnxEmbedder:
    """Embeds in this process with an exported model. Threads may share it, and compute side by side."""

    def __init__(self, export: Export, *, threads: int | None = None) -> None:
        """Load the export.

        Args:
            export: what to load.
            threads: that compute together; by default what is best for one question.

        Raises:
            ModelError: a package is missing, or a file is damaged.
        """
        record = export.record
        self._record = record
        self._model = EmbeddingModel(
            record.name, None, record.identity, record.dimensions, max_tokens=record.tokens.max_tokens
        )
        self._threads = threads or query_threads(record.weights)
        # More vectors at a time than cores would only get into each other's way, and each takes memory.
        self._turns = BoundedSemaphore(max(usable_cores() // self._threads, 1))
        try:
            self._session: InferenceSession | None = _load(export, self._threads)
            self._tokenizer = TextTokenizer(export.folder / TOKENIZER, record.tokens)
        except ImportError as error:
            raise ModelError(
                f"embedding without torch needs onnxruntime and tokenizers ({error}): "
                f"install them with  {install_command('embedding')}"
            ) from error
        except Exception as error:  # onnxruntime's and tokenizers' own have no common base
            raise ModelError(f"the exported model in {export.folder} cannot be loaded: {error}") from error

    @property
    def model(self) -> EmbeddingModel:
        """The model that the vectors come from."""
        return self._model

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed passages; see `Embedder.embed`."""
        return self._embed([self._record.passage_prompt + text for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question; see `Embedder.embed_query`."""
        row: NDArray[np.float32] = self._embed([self._record.query_prompt + text])[0]
        return row

    def submit(self, texts: Sequence[str]) -> "Future[NDArray[np.float32]]":
        """Embed passages at once; the future that is returned has happened already."""
        future: Future[NDArray[np.float32]] = Future()
        try:
            future.set_result(self.embed(texts))
        except ModelError as error:
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Drop the weights; may be called more than once."""
        self._session = None

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        session = self._session
        if session is None:
            raise ModelError(f"The embedding model {self._model.name!r} has been closed.")
        vectors = np.empty((len(texts), self._model.dimensions), np.float32)
        try:
            encodings = [self._tokenizer.encode(well_formed(text)) for text in texts]
            for batch in batches_by_length([len(encoding) for encoding in encodings]):
                inputs = self._tokenizer.arrange([encodings[position] for position in batch])
                with self._turns:
                    outputs = session.run(None, {name: inputs[name] for name in self._record.inputs})
                vectors[batch] = outputs[0]
        except Exception as error:  # onnxruntime's and tokenizers' own have no common base
            raise ModelError(f"{self._model.name!r} could not embed {len(texts)} texts: {error}") from error
        return unit_rows(vectors)

    def count_tokens(self, text: str) -> int:
        """Count a text's tokens after truncation, special ones included."""
        return len(self._tokenizer.encode(well_formed(text)))


def open_exported(export: Export, *, threads: int | None = None) -> OnnxEmbedder:
    """Load an export, and embed the question that it was recorded with: what is damaged or computes otherwise shows.

    Raises:
        ModelError: it cannot be loaded, or its vector is not the recorded one.
    """
    embedder = OnnxEmbedder(export, threads=threads)
    question, expected = export.record.probe
    difference = float(np.abs(embedder.embed_query(question) - np.asarray(expected, np.float32)).max())
    if not difference <= _PROBE_TOLERANCE:
        raise ModelError(f"the exported model in {export.folder} gives another vector than it did ({difference:.1e})")
    return embedder


def _load(export: Export, threads: int) -> "InferenceSession":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors alone
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # What could be simplified was, when the graph was exported.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Threads that wait by spinning take the cores from whoever else computes.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(export.folder / GRAPH), options, providers=["CPUExecutionProvider"])
