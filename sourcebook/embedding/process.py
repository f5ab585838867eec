"""An embedder in a child process: importing torch overlaps with the parent's other work."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Final, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pebble import ProcessExpired

from sourcebook.embedding import worker
from sourcebook.embedding.engine import Engine, PrecisionSetting
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.errors import ModelError
from sourcebook.model.closing import Closing
from sourcebook.model.device import DeviceSetting
from sourcebook.model.usage import LOCAL
from sourcebook.processes.interrupts import deferred_interrupts, result_of
from sourcebook.processes.worker_pool import WorkerPool

Vectors = NDArray[np.float32]
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class EmbeddingProcess(Closing):
    """Embeds in a child process that ends with this one, however this one ends. Threads may share it.

    Args:
        model: the model to embed with.
        precision: number format; see `choose_precision`. The child chooses.
        device: device; see `choose_device`. The child chooses.
        home: state folder, with the exports in `models/`; None for torch.
    """

    provider: Final = LOCAL

    def __init__(
        self,
        model: EmbeddingModel,
        precision: PrecisionSetting = "auto",
        *,
        device: DeviceSetting = "auto",
        home: Path | None = None,
    ) -> None:
        self._model = model
        self._precision: PrecisionSetting = precision
        self._device: DeviceSetting = device
        self._home = home
        self._lock = RLock()
        self._end: str | None = None
        self._pool: WorkerPool | None = None

    @property
    def model(self) -> EmbeddingModel:
        """The model that the vectors come from."""
        return self._model

    @property
    def is_active(self) -> bool:
        """Whether the child takes tasks, or can still be started."""
        with self._lock:
            return self._end is None and (self._pool is None or self._pool.is_active)

    def start(self) -> None:
        """Start the child, unless it runs already, and return at once: the model loads there.

        Raises:
            ModelError: the child has ended or been closed, or cannot be started.
        """
        with self._lock:
            if self._end is not None:
                raise ModelError(self._end)
            if self._pool is not None:
                return
            try:
                self._pool = WorkerPool()
            except OSError as error:
                message = f"The embedding process for {self._model.name!r} cannot be started: {error}."
                raise ModelError(message) from error
            self._schedule(worker.load, self._model, self._precision, self._device, self._home)

    def submit(self, texts: Sequence[str]) -> Future[Vectors]:
        """Queue passages and return at once, so that the caller can read the next ones meanwhile.

        Returns:
            A future of the result of `embed`; it raises the errors of `embed`.

        Raises:
            ModelError: the child has ended or been closed.
        """
        self.start()
        return self._schedule(worker.embed, list(texts))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed passages; see `Embedder.embed`. The first call waits until the model is loaded."""
        return result_of(self.submit(texts))

    def embed_query(self, text: str) -> Vectors:
        """Embed a question; see `QueryEmbedder.embed_query`."""
        self.start()
        return result_of(self._schedule(worker.embed_query, text))

    def submit_counted(self, texts: Sequence[str], *, as_queries: bool) -> Future[tuple[Vectors, list[int]]]:
        """Queue passages or questions, at least one, and return at once.

        Returns:
            A future of the vectors, and of the tokens that are read of each text; it raises the errors of `embed`.

        Raises:
            ModelError: the child has ended or been closed.
        """
        self.start()
        return self._schedule(worker.embed_counted, list(texts), as_queries=as_queries)

    def engine(self) -> Engine:
        """Return the engine that the child has chosen; waits until the model is loaded.

        Raises:
            ModelError: the model cannot be loaded.
        """
        self.start()
        return result_of(self._schedule(worker.engine))

    def export(self, home: Path) -> Future[str | None]:
        """Queue the export of the model to ONNX; see `export_model`.

        Returns:
            A future of None if there is an export afterwards, otherwise of the reason why not.

        Raises:
            ModelError: the child has ended or been closed.
        """
        self.start()
        return self._schedule(worker.export, home, self._model)

    def close(self) -> None:
        """End the child at once; its unanswered tasks fail. May be called more than once."""
        with self._lock:
            self._end = self._end or f"The embedding process for {self._model.name!r} has been closed."
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def __enter__(self) -> Self:
        """Start the child."""
        self.start()
        return self

    @deferred_interrupts()
    def _schedule(
        self, function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> "Future[Result]":
        answer: Future[Result] = Future()
        with self._lock:
            pool = self._pool
        if pool is None:
            raise ModelError(self._end)
        answer.set_running_or_notify_cancel()
        pool.schedule(None, function, *args, **kwargs).add_done_callback(partial(self._answer, pool, answer))
        return answer

    def _answer(self, pool: WorkerPool, answer: "Future[Result]", task: "Future[Result]") -> None:
        """Hand over a task's outcome; a child that ended without answering ends this embedder."""
        error = task.exception()
        if error is None:
            answer.set_result(task.result())
            return
        if isinstance(error, ProcessExpired | BrokenProcessPool):
            subject = f"The embedding process for {self._model.name!r}"
            advice = "free some, or embed with a smaller model"
            with self._lock:
                self._end = self._end or pool.describe_end(subject, error, advice=advice)
        answer.set_exception(ModelError(self._end) if self._end is not None else error)
