"""The executor that cleans pages: a thread, and child processes where pages come faster than it cleans them."""

import asyncio
import gc
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from threading import Lock, local
from typing import Final, ParamSpec, TypeVar

from sourcebook.config.html_part import HtmlPart
from sourcebook.parsing.html.cleaner import CleanedPage, clean_page
from sourcebook.parsing.html.frames import Frame
from sourcebook.parsing.storable_content import storable_content
from sourcebook.processes.cores import usable_cores
from sourcebook.processes.machine_memory import return_freed_memory, return_large_pieces_at_once
from sourcebook.processes.worker_pool import WorkerPool

CROWDED: Final = 16
"""Pages that have to wait for two others before child processes are started; a polite crawl needs none."""
MOST_PROCESSES: Final = 3
PAGES_A_PROCESS: Final = 5_000
"""Pages per process before another takes its place."""
_WAITING: Final = 4
"""Pages that a process has to itself, so that it never waits; the thread takes more."""
_OBJECTS_BETWEEN_LOOKS: Final = 20_000
"""New objects between two looks of the garbage collector, which otherwise are a tenth of a process's time."""
LARGE: Final = 500_000
"""Bytes of a page that is cleaned alone, and of pages after which freed memory is given back to the system."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def clean_fetched_page(
    body: bytes, url: str, content_type: str, keep: HtmlPart, frames: Mapping[str, Frame]
) -> CleanedPage:
    """Clean a page, as it can be stored, and give back what pages needed, up to 25 times their size."""
    try:
        return storable_content(
            clean_page(body, url=url, content_type=content_type, keep=keep, frames=frames, counts=False)
        )
    finally:
        _since_return.size += len(body)
        if _since_return.size > LARGE:
            _since_return.size = 0
            return_freed_memory()  # the C library keeps it otherwise, in pieces between what is in use


class _SinceReturn(local):
    """Bytes of the pages that a thread has cleaned since it gave memory back."""

    size = 0


_since_return = _SinceReturn()


def _begin_process() -> None:
    """Prepare a child process, which does nothing but clean: trees are freed without a collector's look for circles."""
    return_large_pieces_at_once()
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS, 20, 20)


class PageCleaner:
    """Cleans pages beside the event loop; large ones one after the other, so that no two need their memory at once.

    Args:
        cleaners: executor of the calls.
    """

    def __init__(self, cleaners: Executor) -> None:
        self._cleaners = cleaners
        self._alone = asyncio.Lock()

    async def clean(
        self, body: bytes, url: str, content_type: str, keep: HtmlPart, frames: Mapping[str, Frame]
    ) -> CleanedPage:
        """Clean a page as `clean_page` does."""
        call = partial(clean_fetched_page, body, url, content_type, keep, frames)
        async with self._alone if len(body) > LARGE else nullcontext():
            return await asyncio.get_running_loop().run_in_executor(self._cleaners, call)


class Cleaners(Executor):
    """Calls functions of modules, with arguments that can be pickled, beside the event loop.

    One core is left to the thread and the rest of the crawl. Threads may share the executor.

    Args:
        processes: most child processes; by default one less than there are cores.
    """

    def __init__(self, processes: int | None = None) -> None:
        self._processes = min(usable_cores() - 1, MOST_PROCESSES) if processes is None else processes
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cleaner")
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="cleaners")
        return_large_pieces_at_once()
        self._lock = Lock()
        self._crowded = 0
        self._in_thread = 0
        self._in_processes = 0
        self._starting: WorkerPool | None = None
        self._pool: WorkerPool | None = None

    def submit(
        self, function: Callable[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> "Future[Result]":
        """Schedule a call.

        The future raises the function's own errors; `ProcessExpired` or `BrokenProcessPool` where its process ended.
        """
        with self._lock:
            pool = self._pool
            if pool is not None and pool.is_active and self._in_processes < _WAITING * self._processes:
                self._in_processes += 1
            else:
                pool = None
                self._count_crowded()
                self._in_thread += 1
        if pool is None:
            future = self._thread.submit(function, *args, **kwargs)
            future.add_done_callback(self._thread_is_done)
        else:
            future = pool.schedule(None, function, *args, **kwargs)
            future.add_done_callback(self._process_is_done)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, and the thread after its last call."""
        self._starter.shutdown(wait=True)
        self._thread.shutdown(wait=wait, cancel_futures=cancel_futures)
        with self._lock:
            pool, self._starting, self._pool = self._starting, None, None
        if pool is not None:
            pool.close()

    def _count_crowded(self) -> None:
        if self._in_thread < 2 or self._crowded >= CROWDED or self._processes < 1:
            return
        self._crowded += 1
        if self._crowded == CROWDED:
            self._starter.submit(self._start_processes)

    def _start_processes(self) -> None:
        try:
            pool = WorkerPool(self._processes, max_tasks=PAGES_A_PROCESS, initializer=_begin_process)
        except OSError:  # no room for another process: the thread goes on alone
            return
        with self._lock:
            self._starting = pool
        for ready in [pool.schedule(None, clean_page, b"<p>ready</p>") for _ in range(self._processes)]:
            ready.add_done_callback(partial(self._is_ready, pool))  # a crawl that ends before waits for none

    def _is_ready(self, pool: WorkerPool, _: "Future[CleanedPage]") -> None:
        with self._lock:
            if self._starting is pool:
                self._pool = pool

    def _thread_is_done(self, _: "Future[Result]") -> None:
        with self._lock:
            self._in_thread -= 1

    def _process_is_done(self, _: "Future[Result]") -> None:
        with self._lock:
            self._in_processes -= 1
