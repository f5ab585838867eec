"""Child processes that run functions: pebble's pool with deadline and restart, on loky's way to start processes."""

import atexit
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from fcntl import F_GETFL, F_SETFL, fcntl
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from signal import SIG_BLOCK, SIGINT, Signals, pthread_sigmask
from threading import Lock, Thread
from typing import Any, BinaryIO, Final, ParamSpec, TypeVar, cast

from loky.backend.context import LokyContext  # type: ignore[import-untyped] # has no stubs
from loky.backend.process import LokyProcess  # type: ignore[import-untyped] # has no stubs
from pebble import ProcessExpired, ProcessPool

from sourcebook.processes.child import call_in_folder, enter_child, existing_folder, hidden_variables
from sourcebook.processes.core_waits import seconds_waiting
from sourcebook.processes.interrupts import deferred_interrupts, result_of

_CHECK_SECONDS: Final = 0.5
"""Seconds between two checks whether the pool still works."""
_ABORT_SECONDS: Final = 0.1
"""Seconds that a broken pool gets to fail the tasks that it knows."""
_ERROR_BYTES: Final = 4_000
"""Bytes from the end of stderr that are searched for the last line."""
_MOST_ERROR_BYTES: Final = 1_000_000
"""Bytes of stderr that are kept after a task that succeeded: libraries may print about every document."""

_EXIT_IN_ORDER: Final = 79
"""Exit status by which a child says that it ends in order."""
_EXIT_ZERO: Final = 256
"""Reported exit status of a child that ended with status 0 although nothing asked it to; no process has this one."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class WorkerPool:
    """Child processes that take tasks one by one. Threads may share a pool.

    Children end with this process, however it ends, and work on where its current folder was removed. They import only
    what their tasks need, never the main module, and Ctrl-C does not reach them. A child that crashes fails its own
    task, and another child takes the next one. Every future ends: `BrokenProcessPool` fails the waiting tasks where a
    child died without a task or the pool was closed.

    Args:
        processes: number of child processes.
        max_tasks: tasks per child before another takes its place; 0 for no limit.
        initializer: function that a child calls before its first task.
        arguments: arguments of `initializer`.

    Raises:
        OSError: no child process can be created.
    """

    def __init__(
        self,
        processes: int = 1,
        *,
        max_tasks: int = 0,
        initializer: Callable[..., None] | None = None,
        arguments: tuple[object, ...] = (),
    ) -> None:
        self._owner = os.getpid()
        self._lock = Lock()
        self._waiting: set[Future[object]] = set()
        self._errors = _error_file()
        self._errors_for_child = Connection(os.dup(self._errors.fileno()), readable=False)
        self._pool = ProcessPool(
            max_workers=processes,
            max_tasks=max_tasks,
            initializer=_begin,
            initargs=(os.getpid(), self._errors_for_child, initializer, arguments),
            context=_context(),
        )
        # pebble's own rule counts the time that a child waits for a core, and that the machine sleeps.
        vars(self._pool._pool_manager.task_manager)["timeout"] = _is_over  # noqa: SLF001
        try:
            self._start()
        except BrokenProcessPool as error:  # pebble's, where no process can be created
            self.close()
            raise error.__cause__ if isinstance(error.__cause__, OSError) else OSError(str(error)) from None
        atexit.register(self.close)

    @property
    def is_active(self) -> bool:
        """Whether the pool takes tasks."""
        return bool(self._pool.active)

    @deferred_interrupts()
    def schedule(
        self,
        seconds: float | None,
        function: Callable[Parameters, Result],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> "Future[Result]":
        """Have a child call a function of a module with arguments that can be pickled.

        Args:
            seconds: time limit, from the start of the call, without the time that it waits for a core; None for none.
            function: function to call.
            args: positional arguments of the function.
            kwargs: keyword arguments of the function.

        Returns:
            A future of the function's result. It raises the function's own errors, `TimeoutError` at the time limit,
            `ProcessExpired` where the child ended during the call, and `BrokenProcessPool` where the pool broke.
        """
        outcome: Future[Result] = Future()
        outcome.set_running_or_notify_cancel()
        with self._lock:
            self._waiting.add(outcome)  # type: ignore[arg-type] # holds futures of any type
        try:
            task = self._pool.schedule(call_in_folder, args=(function, *args), kwargs=kwargs, timeout=seconds)
        except RuntimeError:
            self._settle(outcome, None, BrokenProcessPool())
        else:
            task.add_done_callback(partial(self._finish, outcome))
        return outcome

    def last_error_line(self) -> str:
        """Return the last line that any child wrote to stderr; empty where there is none."""
        return self.errors_since(0).rpartition("\n")[2]

    def errors_since(self, start: int) -> str:
        """Return the end of what children wrote to stderr after its first `start` bytes."""
        with self._lock:
            if self._errors.closed:
                return ""
            size = os.fstat(self._errors.fileno()).st_size  # 0 for the null device
            written = os.pread(self._errors.fileno(), _ERROR_BYTES, max(size - _ERROR_BYTES, start))
        return written.decode(errors="replace").strip()

    def error_bytes(self) -> int:
        """Return the number of bytes that children have written to stderr since it was last emptied."""
        with self._lock:
            return 0 if self._errors.closed else os.fstat(self._errors.fileno()).st_size

    def describe_end(self, subject: str, error: ProcessExpired | BrokenProcessPool, *, advice: str) -> str:
        """Describe in one sentence how a child ended.

        Args:
            subject: subject of the sentence: the child.
            error: the failed future's error.
            advice: remedy for too little memory, in the imperative.
        """
        said = self.last_error_line()
        status = error.exitcode if isinstance(error, ProcessExpired) else None
        if status is not None and status >= 0:
            return f"{subject} ended with exit status {status}: {said or 'it said nothing.'}"
        signal = None if status is None else Signals(-status).name
        hint = f" (often a lack of memory: {advice})" if signal in {None, "SIGKILL"} else ""
        return f"{subject} was ended{f' by {signal}' if signal else ''}{hint}{': ' + said if said else '.'}"

    def close(self) -> None:
        """End the children at once, even during a task. May be called more than once."""
        if os.getpid() != self._owner:
            return  # a fork's copy: the children belong to the original
        atexit.unregister(self.close)
        self._pool.stop()  # type: ignore[no-untyped-call] # pebble declares arguments only
        self._pool.join()
        self._fail_waiting()
        with self._lock:
            self._errors_for_child.close()
            self._errors.close()

    def _start(self) -> None:
        """Start the pool in a thread that lives as long as the pool: a child ends with the thread that started it."""
        resource_tracker.ensure_running()  # its start would unblock SIGINT
        started: Future[None] = Future()
        Thread(target=self._start_and_watch, args=(started,), daemon=True).start()
        result_of(started)

    def _start_and_watch(self, started: "Future[None]") -> None:
        """Start the pool; fail the waiting tasks when it breaks: pebble forgets the ones that no child has received."""
        pthread_sigmask(SIG_BLOCK, {SIGINT})  # children, and threads that start more of them, inherit it
        try:
            self._pool.active  # noqa: B018 - starts it
        except BaseException as error:  # noqa: BLE001 - the caller of `_start` raises it
            started.set_exception(error)
            return
        started.set_result(None)
        while self._pool.active:
            time.sleep(_CHECK_SECONDS)
        time.sleep(_ABORT_SECONDS)
        self._fail_waiting()

    def _fail_waiting(self) -> None:
        with self._lock:
            waiting = list(self._waiting)
        for outcome in waiting:
            self._settle(outcome, None, BrokenProcessPool())

    def _finish(self, outcome: "Future[Result]", task: "Future[Result]") -> None:
        if task.cancelled():
            self._settle(outcome, None, BrokenProcessPool())
        elif (error := task.exception()) is not None:
            if isinstance(error, ProcessExpired) and error.exitcode == _EXIT_ZERO:
                error.exitcode = 0
            self._settle(outcome, None, error)
        else:
            self._settle(outcome, task.result(), None)
            self._shorten_errors()

    def _shorten_errors(self) -> None:
        """Empty the file of stderr where it has grown long."""
        with self._lock:
            if not self._errors.closed and os.fstat(self._errors.fileno()).st_size > _MOST_ERROR_BYTES:
                self._errors.truncate(0)

    def _settle(self, outcome: "Future[Result]", result: Result | None, error: BaseException | None) -> None:
        """Set a future's outcome, unless it has one."""
        with self._lock:
            if outcome not in self._waiting:
                return
            self._waiting.remove(outcome)  # type: ignore[arg-type] # holds futures of any type
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(result)  # type: ignore[arg-type] # None stands for a result only where there is none


def _is_over(task: Any) -> bool:
    """Return whether a task of pebble has used up its time; a busy machine or one that slept takes none of it."""
    if not (task.timeout and task.started):
        return False
    if not hasattr(task, "begun"):
        task.begun, task.waited = time.monotonic(), seconds_waiting(task.worker_id)
    elapsed: float = time.monotonic() - task.begun
    limit: float = task.timeout
    return elapsed > limit and elapsed - (seconds_waiting(task.worker_id) - task.waited) > limit


def _context() -> LokyContext:
    """Return loky's context: children of the standard library's import the main module; Dagster's takes two seconds."""
    context = LokyContext()
    # A module of the current folder, such as a queue.py, must not take the place of the standard library's.
    context.Process = partial(_WorkerProcess, env={**hidden_variables(), "PYTHONSAFEPATH": "1"})
    return context


class _WorkerProcess(LokyProcess):  # type: ignore[misc] # has no types
    """A child whose exit status 0 is an error unless its work was done: pebble takes every 0 for that.

    A library's `exit(0)` during a task would leave the task's future open for ever.
    """

    def start(self) -> None:
        """Start it, also where the current folder was removed."""
        with existing_folder():
            super().start()

    def run(self) -> None:
        """Take tasks, and end in order."""
        super().run()
        sys.exit(_EXIT_IN_ORDER)

    @property
    def exitcode(self) -> int | None:
        """Exit status; 0 after an end in order, and `_EXIT_ZERO` after a 0 that came otherwise."""
        status: int | None = super().exitcode
        return {_EXIT_IN_ORDER: 0, 0: _EXIT_ZERO}.get(status, status) if status is not None else None


def _error_file() -> BinaryIO:
    """Return the file that takes stderr; without a temporary folder, stderr is discarded."""
    try:
        errors = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - open as long as the pool
    except OSError:
        return Path(os.devnull).open("w+b")
    # Children share the open file: after it was emptied, they write at its start.
    fcntl(errors, F_SETFL, fcntl(errors, F_GETFL) | os.O_APPEND)
    return errors


def _begin(
    parent: int,
    errors: Connection,
    initializer: Callable[..., None] | None,
    arguments: tuple[object, ...],
) -> None:
    enter_child(parent, errors)
    if initializer is not None:
        initializer(*arguments)
