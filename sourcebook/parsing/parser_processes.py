"""Processes of parsers that share one memory: as many documents side by side as each of them allows."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from threading import Condition, Thread, current_thread
from typing import Final

from pebble import ProcessExpired

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.pdf.ocr.threads import share_cores
from sourcebook.parsing.worker import load
from sourcebook.processes.interrupts import deferred_interrupts
from sourcebook.processes.machine_memory import usable_memory
from sourcebook.processes.worker_pool import WorkerPool

_END_SECONDS: Final = 60.0
"""Seconds that the end of the processes may take."""
_DATA: Final = 0.9
"""Share of a parser's memory that its data may take; the rest is for its code, which its limit does not count.

Two parsers and their trackers took 90 to 120 MB beside their data, which is less than a tenth of 2 GB.
"""


class Turn:
    """A document that waits for a process, or is in one.

    Args:
        width: number of documents that may be parsed at once beside and including this one.
        begin: function that gives the document to a pool, and ends `document` afterwards.
        instead_of: broken pool that must not be used.
    """

    def __init__(
        self, width: int, begin: "Callable[[WorkerPool, Turn], None]", *, instead_of: WorkerPool | None = None
    ) -> None:
        self.width = width
        self.begin = begin
        self.instead_of = instead_of
        self.pool: WorkerPool | None = None
        """Pool that has the document; None while it waits."""
        self.is_in_new = False
        """Whether its process is new, where it is the only one of the pool."""
        self.seconds = 0.0
        """Time limit of the document in seconds."""
        self.error_bytes = 0
        """Bytes on stderr of the pool before the document began."""
        self.last_words = ""
        """Text on stderr of the pool where the document's process crashed."""
        self.document: Future[ParsedDocument] = Future()


class ParserProcesses:
    """Child processes that parse documents of one width at a time.

    Documents of another width wait until those of the present width are done. Then all processes end, with the memory
    that they keep, and as many as the new width start. The first document starts the first ones.

    Args:
        documents_a_process: documents per process before another takes its place.
    """

    def __init__(self, *, documents_a_process: int) -> None:
        self._documents_a_process = documents_a_process
        self._changed = Condition()
        self._waiting: deque[Turn] = deque()
        self._running = 0
        self._width = 0
        self._pool: WorkerPool | None = None
        self._is_new = False
        self._thread: Thread | None = None

    @deferred_interrupts()
    def submit(self, turn: Turn) -> None:
        """Have a document parsed; its future ends in any case, with `OSError` where no process can be created."""
        with self._changed:
            self._waiting.append(turn)
            if self._thread is None:
                # Pools are opened and closed in one thread: not in a thread of a pool, which would wait for itself.
                self._thread = Thread(target=self._work, name="parsers", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def start_early(self, width: int) -> None:
        """Start processes before the first document, and have them load what every document needs."""
        self.submit(Turn(width, _load))

    def close(self) -> None:
        """End the processes, even during a document. May be called more than once."""
        thread = self._stop()
        if thread is not None:
            thread.join(_END_SECONDS)

    @deferred_interrupts()
    def _stop(self) -> Thread | None:
        with self._changed:
            thread, self._thread = self._thread, None
            self._changed.notify_all()
        return thread

    def _work(self) -> None:
        while (turn := self._next()) is not None:
            try:
                turn.pool = self._pool_for(turn)
            except OSError as error:
                turn.document.set_exception(error)
            else:
                turn.is_in_new, self._is_new = self._is_new and turn.width == 1, False
                turn.begin(turn.pool, turn)
        self._end_pool()
        with self._changed:
            waiting, self._waiting = list(self._waiting), deque()
        for turn in waiting:
            turn.document.set_exception(BrokenProcessPool())

    def _next(self) -> Turn | None:
        """Wait for the next document that may begin; None after `close`."""
        with self._changed:
            while self._thread is current_thread():
                turn = next((each for each in self._waiting if each.width == self._width), None)
                if turn is None and self._waiting and not self._running:
                    turn = self._waiting[0]
                if turn is not None and self._running < turn.width:
                    self._waiting.remove(turn)
                    self._running += 1
                    turn.document.add_done_callback(self._ended)
                    return turn
                self._changed.wait()
        return None

    def _ended(self, document: Future[ParsedDocument]) -> None:
        with self._changed:
            # A crash leaves a new process.
            self._is_new = not document.cancelled() and isinstance(document.exception(), ProcessExpired)
            self._running -= 1
            self._changed.notify_all()

    def _pool_for(self, turn: Turn) -> WorkerPool:
        """Return the pool of the document's width; a new one where it is broken or of another width."""
        pool = self._pool
        if pool is not None and pool is not turn.instead_of and pool.is_active and self._width == turn.width:
            return pool
        self._end_pool()
        self._pool = WorkerPool(
            turn.width, max_tasks=self._documents_a_process, initializer=share_cores, arguments=(turn.width,)
        )
        self._width, self._is_new = turn.width, True
        return self._pool

    def _end_pool(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


def _load(pool: WorkerPool, turn: Turn) -> None:
    for _ in range(turn.width):
        pool.schedule(None, load)
    turn.document.cancel()


def parser_memory(settings: ParsingSettings) -> int:
    """Return the most memory of all parsers together in bytes.

    Where no setting says how much, it is at most half of the machine's memory, but enough for one parser that reads
    pictures of pages.
    """
    machine = usable_memory()
    if "memory" in settings.model_fields_set or not machine:
        return settings.memory_limit
    return min(settings.memory_limit, max(machine // 2, settings.memory_of_models))


def data_limit(memory: int) -> int:
    """Return the bytes that the data of a parser may take where it has `memory` bytes in all."""
    return int(memory * _DATA)
