"""Parsers in child processes: a document that crashes its parser fails alone."""

import shutil
import sys
import tempfile
from collections import Counter
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from signal import Signals
from types import TracebackType
from typing import Final, Self

from loky.backend import resource_tracker  # type: ignore[import-untyped] # has no stubs
from pebble import ProcessExpired

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, ParseError, TemporaryParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.page_seconds import has_pages
from sourcebook.parsing.pdf.ocr.threads import share_cores
from sourcebook.parsing.worker import (
    OUT_OF_MEMORY,
    OUT_OF_MEMORY_LEFT,
    AttachmentPlace,
    ParserTask,
    load,
    parse_task,
    seconds_of_pages,
)
from sourcebook.processes.cores import usable_cores
from sourcebook.processes.interrupts import deferred_interrupts, result_of
from sourcebook.processes.machine_memory import usable_memory
from sourcebook.processes.worker_pool import WorkerPool

DOCUMENTS_A_PROCESS: Final = 200
"""Documents per process before another takes its place: parsing libraries keep some memory of each document."""
MOST_PROCESSES: Final = 4
"""Processes of a pool at most."""
_MEMORY_A_PROCESS: Final = 2_000_000_000
"""Bytes that a parser may take by default."""
_FEWEST_PROCESSES: Final = 2
"""Processes on a machine of little memory."""
_PIPE_BYTES: Final = 32_000
"""Bytes up to which content goes through a pipe; larger content goes through a file.

A process that dies while it receives a document breaks the pipe. The pipe holds twice as much, so a document of this
size is in it whole.
"""
_FROM_OUTSIDE: Final = frozenset({-Signals.SIGKILL, -Signals.SIGTERM})
"""Exit codes of a process that another one ended, such as the kernel for lack of memory."""
_ATTEMPTS: Final = MOST_PROCESSES + 1
"""Attempts per document when its process breaks before it begins, or has too little memory left."""


class ParserPool:
    """Parses documents in parallel, each within its time and memory, in processes that end with this one.

    The first document starts the processes.

    Args:
        documents: Estimated number of documents; there are no more processes than documents.
        documents_a_process: Documents per process before another takes its place.
    """

    def __init__(
        self,
        *,
        documents: int = sys.maxsize,
        documents_a_process: int = DOCUMENTS_A_PROCESS,
    ) -> None:
        self._processes = max(1, min(processes_in_memory(usable_memory()), usable_cores(), documents))
        self._documents_a_process = documents_a_process
        self._pool: WorkerPool | None = None
        self._folder: Path | None = None
        self._places: dict[bytes, Path] = {}
        self._users: Counter[Path] = Counter()
        self._numbers = count()

    def start_early(self) -> None:
        """Start the processes before the first document is read, and have them load what every document needs."""
        pool = self.open_pool()
        for _ in range(self._processes):
            pool.schedule(None, load)

    def start(
        self,
        content: bytes,
        *,
        name: str,
        media_type: str,
        settings: ParsingSettings,
        attachment: AttachmentPlace | None = None,
    ) -> "Parsing":
        """Begin to parse a file.

        Args:
            content: The whole file, or the whole message that it is attached to.
            name: File name, path or URI.
            media_type: Media type of the file.
            settings: Parsers and limits.
            attachment: Place of the file in its message, if it is an attachment.

        Raises:
            ParseError: There is no room for the file in the temporary folder.
        """
        place = self._lay_down(content) if len(content) > _PIPE_BYTES else None
        return Parsing(self, ParserTask(place or content, name, media_type, settings, attachment))

    def release(self, place: Path) -> None:
        """Drop one document's claim to a temporary file; the last one removes it."""
        self._users[place] -= 1
        if not self._users[place]:
            del self._users[place]
            self._places = {digest: other for digest, other in self._places.items() if other != place}
            place.unlink(missing_ok=True)

    def close(self) -> None:
        """End the processes, even during a document. May be called more than once."""
        try:
            self._end_pool()
        finally:
            folder, self._folder = self._folder, None
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
                resource_tracker.unregister(str(folder), "folder")

    def __enter__(self) -> Self:
        """Start nothing yet."""
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """End the processes."""
        self.close()

    def open_pool(self, *, instead_of: WorkerPool | None = None) -> WorkerPool:
        """Return the pool; a new one if there is none, or if the present one is broken or is `instead_of`."""
        if self._pool is not None and (self._pool is instead_of or not self._pool.is_active):
            self._end_pool()
        if self._pool is None:
            self._pool = WorkerPool(
                self._processes,
                max_tasks=self._documents_a_process,
                initializer=share_cores,
                arguments=(self._processes,),
            )
        return self._pool

    def _end_pool(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _temporary_folder(self) -> Path | None:
        """Return the folder for large content; None if no folder can be created.

        loky's resource tracker, a process that outlives this one, removes it if this process is killed.
        """
        if self._folder is None:
            try:
                resource_tracker.ensure_running()
                self._folder = Path(tempfile.mkdtemp(prefix="sourcebook-"))
            except OSError:
                return None
            resource_tracker.register(str(self._folder), "folder")
        return self._folder

    def _lay_down(self, content: bytes) -> Path:
        """Write content to a temporary file, once for all attachments of a message, and return its path."""
        digest = sha256(content).digest()
        place = self._places.get(digest)
        if place is None:
            place = self._places[digest] = self._written(content)
        self._users[place] += 1
        return place

    def _written(self, content: bytes) -> Path:
        folder = self._temporary_folder()
        if folder is None:
            raise TemporaryParseError(
                "no temporary folder can be written to; set TMPDIR to one, then ingest again", FailureClass.UNREADABLE
            )
        place = folder / f"{next(self._numbers)}"
        try:
            place.write_bytes(content)
        except OSError as error:
            place.unlink(missing_ok=True)
            raise TemporaryParseError(
                f"it cannot be copied into the temporary folder {folder.parent} ({error.strerror or error}); "
                "make room there, or set TMPDIR to another folder",
                FailureClass.UNREADABLE,
            ) from error
        return place


class Parsing:
    """A document that is being parsed."""

    def __init__(self, parsers: ParserPool, task: ParserTask) -> None:
        self._parsers = parsers
        self._task = task
        self._place = task.content if isinstance(task.content, Path) else None
        self._seconds = task.settings.timeout.total_seconds()
        self._was_killed = False
        self._begin(parsers.open_pool())

    def result(self) -> ParsedDocument:
        """Wait for the document. May be called again.

        Raises:
            ParseError: It cannot be parsed, takes too much memory, or crashes its parser.
            TemporaryParseError: It takes too long, or its parser's process was killed twice.
            MissingDependencyError: The parser's package is not installed.
            ParserError: The parser cannot be loaded.
        """
        try:
            for _ in range(1, _ATTEMPTS):
                try:
                    return self._wait()
                except (_TooLittleLeftError, _KilledError):
                    self._begin(self._parsers.open_pool())
                except BrokenProcessPool:
                    # A process died between two documents, or as it was handed one: perhaps another one than this.
                    self._begin(self._parsers.open_pool(instead_of=self._pool))
            try:
                return self._wait()
            except (_TooLittleLeftError, BrokenProcessPool) as error:
                raise TemporaryParseError(
                    "its parser's process ended again and again; there may be too little memory", FailureClass.CRASH
                ) from error
        finally:
            if self._place is not None:
                self._parsers.release(self._place)
                self._place = None

    @deferred_interrupts()
    def _begin(self, pool: WorkerPool) -> None:
        self._pool = pool
        self._document: Future[_Limited] = Future()
        if self._task.attachment is None and has_pages(self._task.media_type):
            pages = pool.schedule(self._seconds, seconds_of_pages, self._task)
            # The callback runs in a thread of the pool: the next document does not wait for a call of `result`.
            pages.add_done_callback(partial(_parse_after, pool, self._task, self._document))
        else:
            _parse(pool, self._task, self._document, self._seconds)

    def _wait(self) -> ParsedDocument:
        seconds = self._seconds
        try:
            seconds, document = result_of(self._document)
            return result_of(document)
        except TimeoutError as error:
            at_most = seconds >= self._task.settings.longest.total_seconds() > self._seconds
            setting = "parsing.longest" if at_most else "parsing.timeout"
            raise TemporaryParseError(
                f"its parser was not done after {seconds:,.0f} seconds; raise {setting}, or split the file",
                FailureClass.TIMEOUT,
            ) from error
        except ProcessExpired as error:
            if error.exitcode == OUT_OF_MEMORY_LEFT:
                raise _TooLittleLeftError from error
            if error.exitcode == OUT_OF_MEMORY:
                memory = self._task.settings.memory_limit / 1_000_000
                raise ParseError(
                    f"its parser needs more than {memory:,.0f} MB of memory; raise parsing.memory, or split the file",
                    FailureClass.MEMORY,
                ) from error
            if error.exitcode in _FROM_OUTSIDE:
                if not self._was_killed:
                    self._was_killed = True
                    raise _KilledError from error
                raise TemporaryParseError(
                    f"its parser crashed ({_ending(error.exitcode)}) twice: something ended it, often a lack of memory",
                    FailureClass.CRASH,
                ) from error
            raise ParseError(
                f"its parser crashed ({_ending(error.exitcode)}): it is damaged, or takes more than parsing.memory; "
                "open and save it again, or convert it",
                FailureClass.CRASH,
            ) from error


def processes_in_memory(memory: int) -> int:
    """Return the number of parsers whose limits together are half of the memory in bytes, from 2 to 4."""
    return max(_FEWEST_PROCESSES, min(MOST_PROCESSES, memory // 2 // _MEMORY_A_PROCESS))


class _KilledError(Exception):
    """The process was ended by a signal from outside for the first time."""


class _TooLittleLeftError(Exception):
    """The documents before left too little memory in their process: in another it may be enough."""


_Limited = tuple[float, "Future[ParsedDocument]"]
"""The time limit of a document in seconds, and the document."""


def _parse_after(pool: WorkerPool, task: ParserTask, document: "Future[_Limited]", pages: "Future[float]") -> None:
    error = pages.exception()
    if error is None:
        _parse(pool, task, document, task.settings.timeout.total_seconds() + pages.result())
    else:
        document.set_exception(error)


def _parse(pool: WorkerPool, task: ParserTask, document: "Future[_Limited]", seconds: float) -> None:
    document.set_result((seconds, pool.schedule(seconds, parse_task, task)))


def _ending(status: int) -> str:
    return Signals(-status).name if status < 0 else f"exit status {status}"
