"""The kit of child processes: every task ends, and no child outlives its pool."""

import ctypes
import errno
import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from importlib import import_module
from itertools import count
from pathlib import Path
from threading import Thread

import psutil
import pytest
from loky.backend.fork_exec import fork_exec  # type: ignore[import-untyped] # has no stubs
from pebble import ProcessExpired

from sourcebook.processes.child import memory_limit
from sourcebook.processes.worker_pool import WorkerPool
from tests.waiting import seconds_until_gone, wait_until, workers


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children import the tasks from this module by its name."""
    monkeypatch.syspath_prepend(os.getcwd())  # noqa: PTH109 - a string is wanted


def sleep(seconds: float) -> str:
    time.sleep(seconds)  # the task itself
    return "slept"


def fill(size: int, limit: int) -> int:
    with memory_limit(limit):
        return len(b"x" * size)


def crash(status: int) -> None:
    print("the last words", file=sys.stderr, flush=True)
    os._exit(status)


def crash_soon(status: int) -> None:
    time.sleep(0.5)  # the parent knows by then that the task runs
    ctypes.CDLL(None).exit(status)


def print_much(size: int) -> None:
    os.write(2, b"a warning about this document\n" * (size // 30))


def priority() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def pandas_with_pyarrow() -> tuple[bool, bool]:
    pandas = import_module("pandas")
    return pandas.DataFrame({"word": ["tide"]})["word"][0] == "tide", "pyarrow.lib" in sys.modules


def test_a_child_does_not_pay_for_pyarrow() -> None:
    """pandas, which parsers import, works in a child without the package that exports need, installed or not."""
    with closing(WorkerPool()) as pool:
        assert pool.schedule(60, pandas_with_pyarrow).result() == (True, False)


def current_folder() -> str:
    return os.getcwd()  # noqa: PTH109 - as libraries ask for it


@pytest.mark.parametrize("is_started", [True, False])
def test_children_work_where_the_current_folder_was_removed(
    is_started: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first child started, or while it waits for its next task; the folder itself stays the current one."""
    folder = tmp_path / "removed"
    folder.mkdir()
    monkeypatch.chdir(folder)
    if not is_started:
        folder.rmdir()
    with closing(WorkerPool()) as pool:
        if is_started:
            assert pool.schedule(60, current_folder).result() == str(folder)
            folder.rmdir()
        assert pool.schedule(60, current_folder).result() == "/"
    with pytest.raises(FileNotFoundError):
        os.getcwd()  # noqa: PTH109 - as libraries ask for it


def test_a_task_past_its_deadline_fails_alone() -> None:
    """The next task gets another child."""
    with_deadline = WorkerPool()
    try:
        slow = with_deadline.schedule(0.5, sleep, 60.0)
        quick = with_deadline.schedule(None, sleep, 0.0)
        before = time.monotonic()
        with pytest.raises(TimeoutError):
            slow.result(60)
        assert time.monotonic() - before < 50
        assert quick.result(60) == "slept"
    finally:
        with_deadline.close()


def test_a_task_beyond_its_memory_limit_fails_alone() -> None:
    """The limit ends with the task: the next one may take more."""
    pool = WorkerPool()
    try:
        with pytest.raises(MemoryError):
            pool.schedule(None, fill, 600_000_000, 500_000_000).result(60)
        assert pool.schedule(None, fill, 600_000_000, 2_000_000_000).result(60) == 600_000_000
    finally:
        pool.close()


def test_a_crash_is_described() -> None:
    """The sentence has the exit status and the last line of stderr."""
    pool = WorkerPool()
    try:
        with pytest.raises(ProcessExpired) as caught:
            pool.schedule(None, crash, 3).result(60)
        assert pool.describe_end("the child", caught.value, advice="free some") == (
            "the child ended with exit status 3: the last words"
        )
        killed = ProcessExpired("", code=-signal.SIGKILL)  # type: ignore[no-untyped-call]
        assert pool.describe_end("the child", killed, advice="free some") == (
            "the child was ended by SIGKILL (often a lack of memory: free some): the last words"
        )
        assert pool.schedule(None, sleep, 0.0).result(60) == "slept"
    finally:
        pool.close()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_library_s_exit_with_status_0_fails_the_task(processes: int) -> None:
    """A task without a deadline whose library calls `exit(0)` has no result; the pool goes on."""
    pool = WorkerPool(processes, max_tasks=1)
    try:
        with pytest.raises(ProcessExpired) as caught:
            pool.schedule(None, crash_soon, 0).result(60)
        assert pool.describe_end("the child", caught.value, advice="").startswith("the child ended with exit status 0:")
        assert [pool.schedule(None, sleep, 0.0).result(60) for _ in range(3)] == ["slept"] * 3
    finally:
        pool.close()


def test_what_libraries_print_does_not_fill_the_disk() -> None:
    """The file of stderr is emptied after a task that printed much; a later crash is described all the same."""
    pool = WorkerPool()
    try:
        for _ in range(5):
            pool.schedule(None, print_much, 3_000_000).result(60)
        with pytest.raises(ProcessExpired) as caught:
            pool.schedule(None, crash, 3).result(60)
        assert os.fstat(pool._errors.fileno()).st_size < 6_100_000
        assert pool.describe_end("the child", caught.value, advice="") == (
            "the child ended with exit status 3: the last words"
        )
    finally:
        pool.close()


def test_modules_of_the_current_folder_do_not_replace_the_standard_library_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ingest may be started in a folder of programs."""
    (tmp_path / "queue.py").write_text("raise SystemExit('not the queue that was meant')")
    monkeypatch.chdir(tmp_path)
    pool = WorkerPool()
    try:
        assert pool.schedule(None, sleep, 0.0).result(60) == "slept"
    finally:
        pool.close()


def test_a_child_that_cannot_be_created_is_an_os_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes and memory may be scarce; children that were created already are ended."""
    others = workers()
    calls = count()

    def scarce(*args: object, **kwargs: object) -> int:
        if next(calls):
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        return int(fork_exec(*args, **kwargs))

    monkeypatch.setattr("loky.backend.fork_exec.fork_exec", scarce)
    with pytest.raises(OSError, match="temporarily unavailable"):
        WorkerPool(2)
    assert workers() == others


def test_children_give_way_to_searches() -> None:
    """Their priority is lower than that of this process."""
    pool = WorkerPool()
    try:
        assert pool.schedule(None, priority).result(60) >= min(priority() + 10, 19)
    finally:
        pool.close()


def test_every_future_ends_when_a_child_dies_without_a_task() -> None:
    """The pool is broken, whether it knows the tasks already or not, and says so."""
    others = workers()
    pool = WorkerPool()
    try:
        assert pool.schedule(None, sleep, 0.0).result(60) == "slept"
        (child,) = workers() - others
        os.kill(child, signal.SIGKILL)
        futures = [pool.schedule(None, sleep, 60.0) for _ in range(20)]
        for future in futures:
            with pytest.raises((BrokenProcessPool, ProcessExpired)):
                future.result(60)
            if pool.is_active:  # the kill was seen during the first task: the next child goes on
                pool.close()
        assert not pool.is_active
    finally:
        pool.close()


def test_closing_ends_the_children_and_fails_the_tasks() -> None:
    """It is prompt, and may be repeated."""
    others = workers()
    pool = WorkerPool(2)
    tasks = [pool.schedule(None, sleep, 60.0) for _ in range(4)]
    wait_until(lambda: len(workers() - others) == 2)
    before = time.monotonic()
    pool.close()
    pool.close()
    assert time.monotonic() - before < 30
    assert workers() == others
    for task in tasks:
        with pytest.raises(BrokenProcessPool):
            task.result(60)


HOLD_THE_INTERPRETER_LOCK = "import ctypes; ctypes.PyDLL(None).sleep(60)"


@pytest.mark.parametrize("task", ["time.sleep, 60.0", f"exec, {HOLD_THE_INTERPRETER_LOCK!r}"], ids=["sleep", "C code"])
def test_children_leave_when_their_parent_is_killed(task: str) -> None:
    """A parent that cannot say good-bye leaves no child, in the middle of a task either, nor of a long call in C."""
    code = (
        "import time\n"
        "from sourcebook.processes.worker_pool import WorkerPool\n"
        "pool = WorkerPool()\n"
        f"task = pool.schedule(None, {task})\n"
        "while not task.running(): time.sleep(0.05)\n"
        "time.sleep(1)\n"
        "print('busy', flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "busy\n"
    (child,) = wait_until(lambda: workers(psutil.Process(parent.pid)), what="the child runs")
    parent.kill()
    parent.wait()
    assert seconds_until_gone(child) < 3  # asked before its output is read: its end closes that
    parent.communicate()


def test_children_stay_when_the_thread_ends_that_started_their_pool() -> None:
    """Linux reports the end of a thread as a parent's death; the first child and its successor know better."""
    pools: list[WorkerPool] = []
    starter = Thread(target=lambda: pools.append(WorkerPool(max_tasks=2)))
    starter.start()
    starter.join()
    (pool,) = pools
    try:
        children = [pool.schedule(None, os.getpid).result(60) for _ in range(4)]
        assert children[0] == children[1] != children[2] == children[3]
    finally:
        pool.close()
