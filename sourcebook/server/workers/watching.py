"""The process that watches a server's processes: it starts them, replaces those that end, and adds up their counters.

It has no threads and answers no requests, so little can go wrong in it.
"""

import logging
import os
import signal
import socket
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, Final

from sourcebook.database.database import Database
from sourcebook.server.bucket_table import TABLES, shared_file
from sourcebook.server.listening import SECONDS_TO_END, ServingError
from sourcebook.server.serve_settings import ServeSettings
from sourcebook.server.workers.messages import Asked, Count, Counted, Failed, Ready, Setup, Sums
from sourcebook.telemetry.measurements import Part

MOST_CONNECTIONS: Final = 32
"""Connections of the pool of a server, which its processes divide."""
_FEWEST_CONNECTIONS: Final = 8
_SECONDS_BETWEEN_LOOKS: Final = 1.0
_SECONDS_TO_COUNT: Final = 1.0
"""Seconds after which a process that does not tell its counters is taken at its last word."""
_LONGEST_PAUSE: Final = 30.0
"""Seconds before a process is started again that has failed to start several times."""
_SECONDS_TO_KILL: Final = SECONDS_TO_END + 5.0
"""Seconds in which processes may end when they are told to."""
_log = logging.getLogger(__name__)


@dataclass
class _Worker:
    number: int
    process: "subprocess.Popen[bytes] | None" = None
    connection: "Connection[Any, Any] | None" = None
    is_ready: bool = False
    failures: int = 0
    """Starts in a row that have failed."""
    reason: str = ""
    """Last words of a process that could not begin."""
    due: float = 0.0
    """Time of the next start, where no process runs."""
    totals: Mapping[Part, float] = field(default_factory=dict)


def watch_workers(
    database: Database,
    listening: socket.socket,
    settings: ServeSettings,
    workers: int,
    program: Sequence[str],
    started: Callable[[], None],
) -> None:
    """Serve by several processes until SIGINT or SIGTERM.

    Args:
        database: the database, open.
        listening: the socket that all of them listen on.
        settings: the choices of whoever starts the server.
        workers: number of processes.
        program: program and arguments of a process, to which the descriptor of its pipe is added.
        started: called once all of them answer requests.

    Raises:
        ServingError: one of them could not begin.
    """
    limits = shared_file(TABLES)
    try:
        connections = max(_FEWEST_CONNECTIONS, -(-MOST_CONNECTIONS // workers))

        def setup(number: int) -> Setup:
            return Setup(number, listening.fileno(), limits, database.location, connections, settings)

        watch = _Watch(workers, program, setup, started)
        with watch.handling_signals():
            watch.run()
    finally:
        os.close(limits)


class _Watch:
    def __init__(
        self, workers: int, program: Sequence[str], setup: Callable[[int], Setup], started: Callable[[], None]
    ) -> None:
        self._workers = [_Worker(number) for number in range(1, workers + 1)]
        self._program, self._setup, self._started = program, setup, started
        self._ended: defaultdict[Part, float] = defaultdict(float)
        """Counters of processes that have ended."""
        self._asked: list[tuple[_Worker, Asked]] = []
        self._uncounted: set[int] = set()
        """Numbers of the workers that were asked for their counters and have not told them."""
        self._has_begun = False
        self._signals = 0
        self._woken = -1

    @contextmanager
    def handling_signals(self) -> Iterator[None]:
        """Handle SIGINT and SIGTERM in the block: the first one ends the processes, a second one at once."""
        self._woken, wake = os.pipe()
        for end in (self._woken, wake):
            os.set_blocking(end, False)
        before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        handlers = {number: signal.signal(number, self._count_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(before)
            for end in (self._woken, wake):
                os.close(end)

    def run(self) -> None:
        """Watch until a signal comes."""
        try:
            while not self._signals:
                self._start_due()
                self._receive(self._next_look())
                self._answer()
        finally:
            self._end_all()

    def _count_signal(self, *_: object) -> None:
        self._signals += 1

    def _start_due(self) -> None:
        now = time.monotonic()
        for worker in self._workers:
            if worker.process is None and worker.due <= now:
                self._start(worker)

    def _start(self, worker: _Worker) -> None:
        setup = self._setup(worker.number)
        connection, theirs = Pipe()
        # Ctrl-C reaches every process of the terminal; the mask is inherited, and SIGTERM tells a worker to end.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with closing(theirs):
                passed = (theirs.fileno(), setup.listening, setup.limits)
                worker.process = subprocess.Popen(
                    [*self._program, str(theirs.fileno())], stdin=subprocess.DEVNULL, pass_fds=passed
                )
        except OSError as error:  # such as no room for another process
            connection.close()
            self._put_off(worker, f"it cannot be started: {error.strerror or error}")
            return
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        worker.connection, worker.is_ready, worker.reason = connection, False, ""
        with suppress(OSError):  # it has ended already, which the next look notices
            connection.send(setup)

    def _next_look(self) -> float:
        due = [worker.due - time.monotonic() for worker in self._workers if worker.process is None]
        return max(0.0, min([_SECONDS_BETWEEN_LOOKS, *due]))

    def _receive(self, seconds: float) -> None:
        """Take the messages that have come, after waiting for one."""
        by_connection = {each.connection: each for each in self._workers if each.connection is not None}
        for source in wait([*by_connection, self._woken], seconds):
            if not isinstance(source, Connection):  # a signal has come
                with suppress(BlockingIOError):
                    os.read(self._woken, 4_096)
                continue
            worker = by_connection[source]
            try:
                self._take(worker, source.recv())
            except (EOFError, OSError):
                self._replace(worker)
        for worker in self._workers:
            if worker.process is not None and worker.process.poll() is not None:
                self._drain(worker)
                self._replace(worker)

    def _take(self, worker: _Worker, message: object) -> None:
        match message:
            case Ready():
                worker.is_ready, worker.failures = True, 0
                if not self._has_begun and all(each.is_ready for each in self._workers):
                    self._has_begun = True
                    self._started()
            case Failed(reason):
                worker.reason = reason
            case Counted(totals):
                worker.totals = totals
                self._uncounted.discard(worker.number)
            case Asked(_, totals):
                worker.totals = totals
                self._asked.append((worker, message))

    def _drain(self, worker: _Worker) -> None:
        """Take the last messages of a process that has ended."""
        with suppress(EOFError, OSError):
            while worker.connection is not None and worker.connection.poll():
                self._take(worker, worker.connection.recv())

    def _answer(self) -> None:
        """Answer those who have asked for the counters of all, which the others are asked for first."""
        if not self._asked:
            return
        asked = {worker.number for worker, _ in self._asked}
        for worker in self._workers:
            if worker.is_ready and worker.number not in asked | self._uncounted:
                with suppress(OSError):
                    _connected(worker).send(Count())
                    self._uncounted.add(worker.number)
        deadline = time.monotonic() + _SECONDS_TO_COUNT
        while self._uncounted and not self._signals and (left := deadline - time.monotonic()) > 0:
            self._receive(left)
        sums = defaultdict(float, self._ended)
        for worker in self._workers:
            for part, value in worker.totals.items():
                sums[part] += value
        answered, self._asked = self._asked, []
        for worker, question in answered:
            with suppress(OSError):
                _connected(worker).send(Sums(question.number, dict(sums)))

    def _replace(self, worker: _Worker) -> None:
        """Take note of a process that has ended, or closed its pipe, and have another one started."""
        process = worker.process
        if process is None:
            return
        try:
            status = process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        if worker.connection is not None:
            worker.connection.close()
        for part, value in worker.totals.items():
            self._ended[part] += value
        self._uncounted.discard(worker.number)
        self._asked = [(each, question) for each, question in self._asked if each is not worker]
        was_ready, pid = worker.is_ready, process.pid
        worker.process, worker.connection, worker.is_ready, worker.totals = None, None, False, {}
        if self._signals:
            return
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with exit status {status}"
        if was_ready:
            worker.due = 0.0
            _log.warning("worker %d (process %d) %s: another process takes its place", worker.number, pid, how)
        else:
            self._put_off(worker, worker.reason or f"process {pid} {how}")

    def _put_off(self, worker: _Worker, reason: str) -> None:
        """Let a worker that could not begin try again later; where none has served yet, the server ends.

        Raises:
            ServingError: none has served yet.
        """
        if not self._has_begun:
            raise ServingError(f"worker {worker.number} of {len(self._workers)} could not begin: {reason}")
        pause = min(_LONGEST_PAUSE, 2.0**worker.failures)
        worker.failures += 1
        worker.due = time.monotonic() + pause
        _log.warning("worker %d could not begin; next attempt in %.0f s: %s", worker.number, pause, reason)

    def _end_all(self) -> None:
        """End the processes: at once where they do not end by themselves, or where a second signal comes."""
        running = [worker.process for worker in self._workers if worker.process is not None]
        for process in running:
            process.terminate()
        deadline, told = time.monotonic() + _SECONDS_TO_KILL, self._signals
        while any(process.poll() is None for process in running):
            if time.monotonic() > deadline or self._signals > max(told, 1):
                for process in running:
                    process.kill()
            time.sleep(0.02)
        for worker in self._workers:
            if worker.connection is not None:
                worker.connection.close()


def _connected(worker: _Worker) -> "Connection[Any, Any]":
    if worker.connection is None:
        raise BrokenPipeError
    return worker.connection
