"""A transcriber in a child process: a broken file crashes the child alone, and the model's memory ends with it."""

from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import ParamSpec, TypeVar

from pebble import ProcessExpired

from sourcebook.config.speech import SpeechSettings
from sourcebook.errors import FailureClass, SpeechError, TemporaryRecordingError
from sourcebook.model.closing import Closing
from sourcebook.model.transcript import Language, Recording, Window
from sourcebook.processes.interrupts import result_of
from sourcebook.processes.worker_pool import WorkerPool
from sourcebook.speech import worker

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class SpeechProcess(Closing):
    """Probes and transcribes recordings in a child process, which ends with this one. For one thread.

    The child starts with the first recording and loads the engine with the first that is transcribed. If it crashes,
    that recording has failed, and the next one gets another child.

    Args:
        settings: engine and model.
        home: state folder; weights that have to be made are kept in `models/` below it.
    """

    def __init__(self, settings: SpeechSettings, home: Path) -> None:
        self._settings = settings
        self._home = home
        self._pool: WorkerPool | None = None

    def probe(self, place: str) -> Recording:
        """Return what a recording is, without transcribing it.

        Args:
            place: local path, or a URL that fsspec opens.

        Raises:
            RecordingError: it holds no sound that can be read.
            SpeechError: no child can be started, or a package is missing.
        """
        return self._call(worker.probe, place)

    def transcribe(
        self, place: str, *, start: float = 0.0, language: Language | None = None, track: int | None = None
    ) -> Iterator[Window]:
        """Yield the windows of a recording from `start` to its end, each when it is asked for.

        Args:
            place: local path, or a URL that fsspec opens.
            start: seconds; the end of the last window that is known.
            language: language of that window.
            track: number of the track of sound, from 1; None for the one that a player would play.

        Raises:
            RecordingError: its sound is damaged.
            TemporaryRecordingError: its child ended.
            SpeechError: the engine or its model cannot be loaded.
        """
        self._call(worker.begin, place, start, language, track)
        while (window := self._call(worker.next_window)) is not None:
            yield window

    def close(self) -> None:
        """End the child at once. May be called more than once."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _call(
        self, function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        pool = self._open_pool()
        try:
            return result_of(pool.schedule(None, function, *args, **kwargs))
        except (ProcessExpired, BrokenProcessPool) as error:
            advice = "free some, or choose a smaller speech.model"
            raise TemporaryRecordingError(
                pool.describe_end("the process that reads it", error, advice=advice), FailureClass.CRASH
            ) from error

    def _open_pool(self) -> WorkerPool:
        if self._pool is not None and not self._pool.is_active:
            self.close()
        if self._pool is None:
            try:
                self._pool = WorkerPool(initializer=worker.configure, arguments=(self._settings, self._home))
            except OSError as error:
                raise SpeechError(f"the process for speech cannot be started: {error}") from error
        return self._pool
