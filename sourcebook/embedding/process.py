"""An embedder in a child process: importing torch overlaps with the parent's other work, its memory leaves with it."""

import atexit
import os
import subprocess
import tempfile
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from types import TracebackType
from typing import IO, BinaryIO, Final, Self, cast

import numpy as np
from numpy.typing import NDArray

from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.precision import PrecisionSetting
from sourcebook.errors import ModelError
from sourcebook.processes.frames import read_frame, write_frame
from sourcebook.processes.start import describe_exit, start_child

Vectors = NDArray[np.float32]

QUEUE_LENGTH: Final = 4
_EXIT_SECONDS: Final = 10.0


class EmbeddingProcess:
    """Embeds in a child process that ends with this one, however this one ends. Threads may share it.

    The child is a program of its own (`python -m sourcebook.embedding.worker`), not a `multiprocessing` one: it never
    runs the parent's `__main__`, and imports only what embedding needs.
    """

    def __init__(
        self, model: EmbeddingModel, precision: PrecisionSetting = "auto", *, queue_length: int = QUEUE_LENGTH
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            model: The model to embed with.
            precision: See `choose_precision`; the child chooses.
            queue_length: How many batches may wait in the child before `submit` waits.
        """
        self._model = model
        self._precision = precision
        self._queue_length = queue_length
        self._owner = os.getpid()
        self._state = Condition()
        self._waiting: deque[Future[Vectors] | Future[str | None]] = deque()
        self._ready: Future[None] = Future()
        self._end: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._replies: BinaryIO | None = None
        self._receiver: Thread | None = None

    @property
    def model(self) -> EmbeddingModel:
        """The model that the vectors come from."""
        return self._model

    @property
    def pid(self) -> int | None:
        """The child's process id; None before `start`."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the child, unless it runs already, and return at once: the model loads there.

        Raises:
            ModelError: It has ended or been closed, or the child cannot be started.
        """
        with self._state:
            self._raise_if_ended()
            if self._process is not None:
                return
            errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
            try:
                self._process, self._replies = start_child("sourcebook.embedding.worker", errors)
                write_frame(cast("BinaryIO", self._process.stdin), self._settings())
            except OSError as error:
                errors.close()
                message = f"The embedding process for {self._model.name!r} cannot be started: {error}."
                raise ModelError(message) from error
            self._receiver = Thread(target=self._receive, args=(self._process, self._replies, errors), daemon=True)
            self._receiver.start()
            atexit.register(self.close)

    def wait_until_ready(self, timeout: float | None = None) -> None:
        """Start the child if need be, and wait until it has loaded the model.

        Args:
            timeout: Seconds to wait at most.

        Raises:
            ModelError: The model cannot be loaded, or the child has ended.
            TimeoutError: It is still loading.
        """
        self.start()
        self._ready.result(timeout)

    def submit(self, texts: Sequence[str]) -> Future[Vectors]:
        """Hand over passages and return, so that the next ones can be read while the child computes.

        Waits while `queue_length` batches are ahead; so do not call it from a future's callback.

        Returns:
            A future of what `embed` returns; it raises `ModelError` where that would.

        Raises:
            ModelError: The child has ended or been closed.
        """
        future: Future[Vectors] = Future()
        self._submit(future, {"texts": list(texts), "query": False})
        return future

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed passages; see `Embedder.embed`. The first call waits until the model is loaded."""
        return self.submit(texts).result()

    def embed_query(self, text: str) -> Vectors:
        """Embed a question; see `Embedder.embed_query`."""
        future: Future[Vectors] = Future()
        self._submit(future, {"texts": [text], "query": True})
        vector: Vectors = future.result()[0]
        return vector

    def export(self, home: Path) -> Future[str | None]:
        """Have the child export the model to ONNX after what it was handed before; see `export_model`.

        Returns:
            A future of None where there is an export then, or of the reason why there is none.

        Raises:
            ModelError: The child has ended or been closed.
        """
        future: Future[str | None] = Future()
        self._submit(future, {"export": str(home)})
        return future

    def close(self) -> None:
        """End the child at once; what it has not answered yet fails. May be called more than once."""
        if os.getpid() != self._owner:
            return  # a fork's copy: the child is not its own
        with self._state:
            self._end = self._end or f"The embedding process for {self._model.name!r} has been closed."
            process, receiver = self._process, self._receiver
        if process is not None and receiver is not None:
            process.kill()  # it holds nothing that would have to be saved
            receiver.join()
        atexit.unregister(self.close)

    def __enter__(self) -> Self:
        """Start the child."""
        self.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """End the child."""
        self.close()

    def _submit(self, future: "Future[Vectors] | Future[str | None]", request: dict[str, object]) -> None:
        self.start()
        future.set_running_or_notify_cancel()
        with self._state:
            self._state.wait_for(lambda: self._end is not None or len(self._waiting) < self._queue_length)
            self._raise_if_ended()
            self._waiting.append(future)
            # A broken pipe is the receiver's to report: it knows why the child ended.
            with suppress(OSError):
                write_frame(self._requests, request)

    def _receive(self, process: subprocess.Popen[bytes], replies: BinaryIO, errors: IO[bytes]) -> None:
        """Hand the child's answers to their futures in order, until the child ends; then fail what still waits."""
        reason: str | None = None
        try:
            while reason is None and (frame := read_frame(replies)) is not None:
                reason = self._hand_over(*frame)
            process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        finally:
            self._finish(reason or self._how_it_ended(process.poll(), errors))
            replies.close()
            errors.close()

    def _hand_over(self, header: dict[str, object], payload: bytes) -> str | None:
        """Give one answer to whoever waits for it; return why the model could not be loaded, where that is it."""
        if not self._ready.done():
            if header["state"] != "ready":
                return str(header["reason"])
            self._ready.set_result(None)
            return None
        with self._state:
            future = self._waiting.popleft()
            self._state.notify_all()
        if header["state"] == "vectors":
            vectors = np.frombuffer(payload, "<f4").astype(np.float32)
            rows = vectors.reshape(cast("int", header["rows"]), self._model.dimensions)
            cast("Future[Vectors]", future).set_result(rows)
        elif header["state"] == "exported":
            cast("Future[str | None]", future).set_result(cast("str | None", header["reason"]))
        else:
            future.set_exception(ModelError(str(header["reason"])))
        return None

    def _how_it_ended(self, status: int | None, errors: IO[bytes]) -> str:
        subject = f"The embedding process for {self._model.name!r}"
        return describe_exit(subject, status, errors, advice="free some, or embed with a smaller model")

    def _finish(self, reason: str) -> None:
        with self._state:
            self._end = self._end or reason
            unanswered = list(self._waiting)
            self._waiting.clear()
            self._state.notify_all()
            with suppress(OSError):
                self._requests.close()
        for future in unanswered:
            future.set_exception(ModelError(self._end))
        if not self._ready.done():
            self._ready.set_exception(ModelError(self._end))

    def _settings(self) -> dict[str, object]:
        folder = self._model.folder
        return {
            "name": self._model.name,
            "folder": None if folder is None else str(folder),
            "identity": self._model.identity,
            "dimensions": self._model.dimensions,
            "max_tokens": self._model.max_tokens,
            "precision": self._precision,
            "parent": os.getpid(),
        }

    @property
    def _requests(self) -> BinaryIO:
        if self._process is None or self._process.stdin is None:
            raise ModelError(f"The embedding process for {self._model.name!r} has not been started.")
        return cast("BinaryIO", self._process.stdin)

    def _raise_if_ended(self) -> None:
        if self._end is not None:
            raise ModelError(self._end)
