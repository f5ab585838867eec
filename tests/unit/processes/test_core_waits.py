"""A busy machine takes nothing of the time of a task; sleep does."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from sourcebook.processes.core_waits import seconds_waiting
from sourcebook.processes.cores import usable_cores
from sourcebook.processes.worker_pool import WorkerPool
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="the system tells no waits")  # noqa: PTH110


NICENESS = 15
"""Niceness of the busy programs, beside which children of a pool, which are nice themselves, get a small share."""
LOOP = "exec('while True: pass')"


def work(seconds: float) -> float:
    """Use a core for some processor seconds; return the seconds that it took."""
    begun, used = time.monotonic(), time.process_time()
    while time.process_time() - used < seconds:
        pass
    return time.monotonic() - begun


@pytest.mark.alone
def test_the_time_limit_of_a_task_does_not_count_its_waits_for_a_core() -> None:
    """Beside programs that keep every core busy, work of .7 s within a limit of 1 s is done, however long it took."""
    pool = WorkerPool()
    pool.schedule(60, work, 0.0).result()  # it has begun
    program = [sys.executable, "-c", f"import os; os.nice({NICENESS}); {LOOP}"]
    busy = [subprocess.Popen(program) for _ in range(4 * usable_cores())]
    try:
        wait_until(lambda: all(psutil.Process(each.pid).cpu_times().user > 0.05 for each in busy), what="all are busy")
        took = pool.schedule(1.0, work, 0.7).result(timeout=60)
        waited = sum(map(seconds_waiting, (each.pid for each in busy)))
    finally:
        for each in busy:
            each.kill()
            each.wait()
        pool.close()
    assert took > 1.2, "the machine was not busy"
    assert waited > 0.5


def test_a_task_that_sleeps_ends_at_its_limit() -> None:
    pool = WorkerPool()
    try:
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            pool.schedule(0.5, time.sleep, 60).result(timeout=60)
        assert time.monotonic() - begun < 10
    finally:
        pool.close()


def test_a_process_that_is_gone_has_waited_for_nothing() -> None:
    assert seconds_waiting(2**31 - 1) == 0
