"""Child processes that read originals for people: files out of archives and messages, pictures of pages.

The originals are foreign: one that crashes its reader, takes all memory or never ends fails alone.
"""

from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from threading import Lock
from typing import Final, ParamSpec, TypeVar

from pebble import ProcessExpired

from sourcebook.errors import FailureClass, ParseError, TemporaryParseError
from sourcebook.model.page_picture import PagePicture
from sourcebook.parsing.pdf.page_picture import page_picture
from sourcebook.parsing.worker import AttachmentPlace, member_content
from sourcebook.processes.interrupts import result_of
from sourcebook.processes.worker_pool import WorkerPool

_SECONDS: Final = 20.0
"""Time limit of one picture, or of one file."""
_MEMORY: Final = 1_500_000_000
"""Bytes of memory that one of them may take."""
_PROCESSES: Final = 2
_TASKS_A_PROCESS: Final = 100
"""Tasks per process before another takes its place: libraries keep some memory of each file."""
_ATTEMPTS: Final = 2
"""Attempts where a process ends before it begins: another one's file may have broken the pool."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class ReadingChild:
    """Child processes, which the first call starts. Threads may share it.

    Args:
        seconds: time limit of one call.
        memory: bytes of memory that one call may take.
    """

    def __init__(self, *, seconds: float = _SECONDS, memory: int = _MEMORY) -> None:
        self._seconds = seconds
        self._memory = memory
        self._lock = Lock()
        self._pool: WorkerPool | None = None

    def member(self, content: bytes, place: AttachmentPlace) -> bytes:
        """Return the bytes of an attachment, or of a file in an archive.

        Args:
            content: the whole message or archive.
            place: its place there.

        Raises:
            ParseError: the container cannot be read, or has other bytes there.
            TemporaryParseError: it takes too long, or crashes its reader.
        """
        return self._run(member_content, content, place, self._memory)

    def picture(self, content: bytes, page: int, scale: float | None, passage: str = "") -> PagePicture:
        """Return a page of a PDF; see `page_picture`.

        Raises:
            QueryError: there is no such page.
            ParseError: the PDF cannot be read.
            TemporaryParseError: it takes too long, or crashes its reader.
        """
        return self._run(page_picture, content, page, scale, passage, self._memory)

    def close(self) -> None:
        """End the processes, even during a call; the next call starts new ones."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _run(
        self, function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Result:
        for _ in range(_ATTEMPTS):
            pool = self._running()
            try:
                return result_of(pool.schedule(self._seconds, function, *args, **kwargs))
            except BrokenProcessPool:
                self._drop(pool)
            except TimeoutError as error:
                raise TemporaryParseError(
                    f"it was not read within {self._seconds:,.0f} seconds", FailureClass.TIMEOUT
                ) from error
            except MemoryError as error:
                raise ParseError("it needs more memory than one file may take", FailureClass.MEMORY) from error
            except ProcessExpired as error:
                raise TemporaryParseError("its reader crashed", FailureClass.CRASH) from error
            except OSError as error:
                raise TemporaryParseError(
                    f"no process can be started to read it ({error.strerror or error})", FailureClass.CRASH
                ) from error
        raise TemporaryParseError("its reader crashed", FailureClass.CRASH)

    def _running(self) -> WorkerPool:
        with self._lock:
            if self._pool is None or not self._pool.is_active:
                self._pool = WorkerPool(_PROCESSES, max_tasks=_TASKS_A_PROCESS)
            return self._pool

    def _drop(self, pool: WorkerPool) -> None:
        with self._lock:
            if self._pool is pool:
                self._pool = None
        pool.close()
