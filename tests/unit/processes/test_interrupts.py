"""Ctrl-C during work that threads share."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Timer

import pytest

from sourcebook.processes.interrupts import deferred_interrupts, result_of


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_in_a_block_comes_at_its_end() -> None:
    """The block is whole, and what follows it is not reached."""
    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - what is reached is the matter
        with deferred_interrupts():
            interrupt()
            steps.append("end of the block")
        steps.append("after the block")
    assert steps == ["end of the block"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_block_inside_a_block_defers_to_the_outer_one_s_end() -> None:
    steps: list[str] = []
    with pytest.raises(KeyboardInterrupt), deferred_interrupts():  # noqa: PT012 - what is reached is the matter
        with deferred_interrupts():
            interrupt()
        steps.append("after the inner block")
    assert steps == ["after the inner block"]


def test_a_block_in_another_thread_changes_no_handler() -> None:
    """Only the main thread may set handlers."""
    handlers: list[object] = []

    def work() -> None:
        with deferred_interrupts():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]


def test_an_ignored_interrupt_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with deferred_interrupts():
            interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_signal_that_another_thread_receives_ends_the_wait() -> None:
    """The kernel hands a program's signal to any of its threads; a lock of the main thread does not notice it then."""
    never: Future[None] = Future()
    timer = Timer(0.2, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT))
    timer.start()
    before = time.monotonic()
    give_up = Timer(60, never.set_result, (None,))
    give_up.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            result_of(never)
    finally:
        give_up.cancel()
    assert time.monotonic() - before < 30
    timer.join()


def fail() -> None:
    raise ValueError("no such page")


@pytest.mark.parametrize(("call", "error"), [(fail, ValueError), (lambda: None, None)], ids=["fails", "succeeds"])
def test_the_result_is_the_future_s(call: Callable[[], None], error: type[Exception] | None) -> None:
    future: Future[None] = Future()
    try:
        call()
    except ValueError as raised:
        future.set_exception(raised)
    else:
        future.set_result(None)
    if error is None:
        assert result_of(future) is None
    else:
        with pytest.raises(error, match="no such page"):
            result_of(future)


INTERRUPTED_AS_A_TASK_IS_HANDED_OVER = """
import operator, signal, time
from collections import deque
from sourcebook.processes.interrupts import result_of
from sourcebook.processes.worker_pool import WorkerPool

class Waiters(deque):
    interrupts = 0

    def remove(self, waiter):
        if self.interrupts:
            self.interrupts = 0
            signal.raise_signal(signal.SIGINT)
        super().remove(waiter)

pool = WorkerPool()
waiting = pool._pool._context.task_queue.not_empty
waiting._waiters = Waiters(waiting._waiters)
assert result_of(pool.schedule(None, operator.add, 1, 1)) == 2
while not waiting._waiters:
    pass
waiting._waiters.interrupts = 1
try:
    pool.schedule(None, operator.add, 1, 1)
except KeyboardInterrupt:
    print("interrupted")
time.sleep(0.5)  # in which the pool's thread takes the task and waits again
pool.close()
print("closed")
"""


def test_an_interrupt_as_a_task_is_handed_over_leaves_a_pool_that_can_be_closed() -> None:
    """In the middle of the queue's notification, it left the pool's thread asleep for ever, and the program with it."""
    program = [sys.executable, "-c", INTERRUPTED_AS_A_TASK_IS_HANDED_OVER]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("interrupted\nclosed\n", "", 0)
