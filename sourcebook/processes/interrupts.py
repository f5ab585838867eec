"""Ctrl-C that neither breaks what threads share nor is lost.

Python raises `KeyboardInterrupt` between any two steps of the main thread. Between two steps of a queue that other
threads share, it leaves a waiter that nobody wakes again, and the program never ends. And the main thread, as it waits
for a lock, does not notice a signal that arrives just before it waits, or that another thread receives.
"""

import signal
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Lock, current_thread, main_thread
from types import FrameType
from typing import Final, TypeVar

Result = TypeVar("Result")

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_NOTICED_SECONDS: Final = 0.5
"""Seconds after which the main thread looks for signals as it waits."""


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Have signals that arrive in this block handled at its end. For blocks that are over in a moment.

    Changes nothing outside the main thread, which is the only one that handles signals.
    """
    if current_thread() is not main_thread():
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    deferred = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in deferred:
        signal.signal(number, lambda received, frame: arrived.append((received, frame)))
    try:
        yield
    finally:
        for number, handler in deferred.items():
            signal.signal(number, handler)
        for received, frame in arrived:
            deferred[signal.Signals(received)](received, frame)


def result_of(future: "Future[Result]") -> Result:
    """Wait for a future and return its result, as `Future.result` does; a signal ends the wait within half a second."""
    ended = Lock()
    ended.acquire()
    with deferred_interrupts():
        future.add_done_callback(lambda _: ended.release())
    while not ended.acquire(timeout=_NOTICED_SECONDS):
        pass
    return future.result()
