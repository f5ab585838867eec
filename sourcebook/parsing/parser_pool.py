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
from typing import Final

from loky.backend import resource_tracker  # type: ignore[import-untyped] # has no stubs
from pebble import ProcessExpired

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, ParseError, TemporaryParseError
from sourcebook.model.closing import Closing
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.hidden_errors import log_cause
from sourcebook.parsing.page_seconds import Pages, has_pages
from sourcebook.parsing.parser_ends import FROM_OUTSIDE, reason_of_end
from sourcebook.parsing.parser_processes import ParserProcesses, Turn, data_limit, parser_memory
from sourcebook.parsing.worker import (
    OUT_OF_MEMORY,
    OUT_OF_MEMORY_LEFT,
    AttachmentPlace,
    ParserTask,
    pages_of,
    parse_task,
)
from sourcebook.processes.cores import usable_cores
from sourcebook.processes.interrupts import result_of
from sourcebook.processes.worker_pool import WorkerPool

DOCUMENTS_A_PROCESS: Final = 1_000
"""Documents per process before another takes its place: parsing libraries keep some memory of each document.

DOCX keeps the most, about 90 kB each after the first 200. A new process takes half a second of processor time to import
its parsers.
"""
MOST_PROCESSES: Final = 4
"""Processes of a pool at most."""
_PIPE_BYTES: Final = 32_000
"""Bytes up to which content goes through a pipe; larger content goes through a file.

A process that dies while it receives a document breaks the pipe. The pipe holds twice as much, so a document of this
size is in it whole.
"""
_ATTEMPTS: Final = MOST_PROCESSES + 1
"""Attempts per document when its process breaks before it begins, or has too little memory left."""


class ParserPool(Closing):
    """Parses documents in parallel, each within its time, in processes that end with this one.

    Documents that are parsed at once share the memory of `parser_memory` in equal parts. A document that needs more
    than its share is parsed again with all of it, alone. The first document starts the processes.

    Args:
        documents: estimated number of documents; there are no more processes than documents.
        documents_a_process: documents per process before another takes its place.
    """

    def __init__(
        self,
        *,
        documents: int = sys.maxsize,
        documents_a_process: int = DOCUMENTS_A_PROCESS,
    ) -> None:
        self._most = max(1, min(MOST_PROCESSES, usable_cores(), documents))
        self.processes = ParserProcesses(documents_a_process=documents_a_process)
        self._folder: Path | None = None
        self._places: dict[bytes, Path] = {}
        self._users: Counter[Path] = Counter()
        self._numbers = count()

    def start_early(self) -> None:
        """Start the processes before the first document is read, and have them load what every document needs."""
        self.processes.start_early(self.width(ParsingSettings()))

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
            content: the whole file, or the whole message that it is attached to.
            name: file name, path or URI.
            media_type: media type of the file.
            settings: parsers and limits.
            attachment: place of the file in its message, if it is an attachment.

        Raises:
            ParseError: there is no room for the file in the temporary folder.
        """
        place = self._lay_down(content) if len(content) > _PIPE_BYTES else None
        return Parsing(self, ParserTask(place or content, name, media_type, settings, attachment))

    def width(self, settings: ParsingSettings) -> int:
        """Return the number of documents that are parsed at once, at least 1."""
        return max(1, min(self._most, parser_memory(settings) // settings.least_share))

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
            self.processes.close()
        finally:
            folder, self._folder = self._folder, None
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
                resource_tracker.unregister(str(folder), "folder")

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
        self._width = parsers.width(task.settings)
        self._was_killed = False
        self._begin()

    def result(self) -> ParsedDocument:
        """Wait for the document. May be called again.

        Raises:
            ParseError: it cannot be parsed, takes too much memory, or crashes its parser.
            TemporaryParseError: it takes too long, or its parser's process was killed from outside twice.
            MissingDependencyError: the parser's package is not installed.
            ParserError: the parser cannot be loaded.
        """
        try:
            attempts = 0
            while True:
                try:
                    return self._wait()
                except _ShareTooSmallError:
                    self._width = 1
                    self._begin()
                    continue
                except (_TooLittleLeftError, _KilledError, BrokenProcessPool) as error:
                    attempts += 1
                    if attempts == _ATTEMPTS:
                        raise TemporaryParseError(
                            "its parser's process ended again and again; there may be too little memory",
                            FailureClass.CRASH,
                        ) from error
                    # A pool is broken, or a process had too little memory left: others may have used the next one.
                    is_new = self._width == 1 or isinstance(error, BrokenProcessPool)
                    self._begin(instead_of=self._turn.pool if is_new else None)
        except ParseError as error:
            log_cause(self._task.name, error)
            raise
        finally:
            if self._place is not None:
                self._parsers.release(self._place)
                self._place = None

    def _begin(self, *, instead_of: WorkerPool | None = None) -> None:
        begin = partial(_begin, self._task, parser_memory(self._task.settings) // self._width)
        self._turn = Turn(self._width, begin, instead_of=instead_of)
        self._parsers.processes.submit(self._turn)

    def _wait(self) -> ParsedDocument:
        timeout = self._task.settings.timeout.total_seconds()
        try:
            return result_of(self._turn.document)
        except TimeoutError as error:
            seconds = self._turn.seconds
            at_most = seconds >= self._task.settings.longest.total_seconds() > timeout
            setting = "parsing.longest" if at_most else "parsing.timeout"
            raise TemporaryParseError(
                f"its parser was not done after {seconds:,.0f} seconds; raise {setting}, or split the file",
                FailureClass.TIMEOUT,
            ) from error
        except ProcessExpired as error:
            if error.exitcode == OUT_OF_MEMORY_LEFT:
                raise _TooLittleLeftError from error
            if self._width > 1 and error.exitcode not in FROM_OUTSIDE:  # a crash may be a lack of memory, too
                raise _ShareTooSmallError from error
            if error.exitcode in FROM_OUTSIDE and not self._was_killed:
                self._was_killed = True
                raise _KilledError from error
            if not self._turn.is_in_new and error.exitcode != OUT_OF_MEMORY and error.exitcode not in FROM_OUTSIDE:
                raise _TooLittleLeftError from error
            memory = parser_memory(self._task.settings)
            raise reason_of_end(error.exitcode, self._turn.last_words, memory=memory) from error
        except OSError as error:
            raise TemporaryParseError(
                f"no process can be started for its parser ({error.strerror or error}); end other programs, and "
                "ingest again",
                FailureClass.CRASH,
            ) from error


class _KilledError(Exception):
    """The process was ended by a signal from outside for the first time."""


class _TooLittleLeftError(Exception):
    """The documents before left too little memory in their process, or may have: in another it may be enough."""


class _ShareTooSmallError(Exception):
    """The document needs more than its share of the memory, or crashed its parser within it."""


def _begin(task: ParserTask, memory: int, pool: WorkerPool, turn: Turn) -> None:
    """Give a document to a pool, after its pages were counted where it has any.

    Args:
        task: the document.
        memory: bytes of memory that it may take.
        pool: processes for it.
        turn: its turn.
    """
    turn.seconds = task.settings.timeout.total_seconds()
    turn.error_bytes = pool.error_bytes()
    if task.attachment is None and has_pages(task.media_type):
        # The callback runs in a thread of the pool: the next document does not wait for a call of `result`.
        pool.schedule(turn.seconds, pages_of, task, data_limit(memory)).add_done_callback(
            partial(_parse_after, task, memory, pool, turn)
        )
    else:
        _parse(task, memory, pool, turn)


def _parse_after(task: ParserTask, memory: int, pool: WorkerPool, turn: Turn, counted: "Future[Pages]") -> None:
    error = counted.exception()
    if error is not None:
        _fail(turn, pool, error)
        return
    pages = counted.result()
    if turn.width > 1 and pages.need_models and memory < task.settings.memory_of_models:
        turn.document.set_exception(_ShareTooSmallError())
        return
    turn.seconds += pages.seconds
    _parse(task, memory, pool, turn)


def _parse(task: ParserTask, memory: int, pool: WorkerPool, turn: Turn) -> None:
    parsed = pool.schedule(turn.seconds, parse_task, task, data_limit(memory))
    parsed.add_done_callback(partial(_settle, turn, pool))


def _settle(turn: Turn, pool: WorkerPool, parsed: "Future[ParsedDocument]") -> None:
    error = parsed.exception()
    if error is None:
        turn.document.set_result(parsed.result())
    else:
        _fail(turn, pool, error)


def _fail(turn: Turn, pool: WorkerPool, error: BaseException) -> None:
    turn.last_words = pool.errors_since(turn.error_bytes)
    turn.document.set_exception(error)
