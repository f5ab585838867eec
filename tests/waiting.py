"""Wait for what a test needs to have happened, and fail with its name where it does not happen."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import psutil

T = TypeVar("T")

_SHORTEST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
"""Seconds between two looks at a condition."""


def wait_until(
    condition: Callable[[], T],
    *,
    what: str = "the condition holds",
    seconds: float = 60.0,
    every: float | None = None,
) -> T:
    """Wait until a condition is true, and return its value.

    Args:
        condition: asked again and again; a true value ends the wait.
        what: the event, for the failure's message.
        seconds: the longest wait; generous, as only a failing test spends it.
        every: seconds between two looks; where None, a costly look is followed by a longer pause.

    Raises:
        AssertionError: the condition did not hold in time.
    """
    deadline = time.monotonic() + seconds
    begun = time.monotonic()
    while not (found := condition()):
        looked = time.monotonic()
        assert looked < deadline, f"after {seconds:g} s: not yet {what}"
        time.sleep(_pause(looked - begun) if every is None else every)  # between two looks
        begun = time.monotonic()
    return found


async def until(
    condition: Callable[[], T],
    *,
    what: str = "the condition holds",
    seconds: float = 60.0,
    every: float | None = None,
) -> T:
    """Wait as `wait_until` does, while the event loop goes on."""
    deadline = time.monotonic() + seconds
    begun = time.monotonic()
    while not (found := condition()):
        looked = time.monotonic()
        assert looked < deadline, f"after {seconds:g} s: not yet {what}"
        await asyncio.sleep(_pause(looked - begun) if every is None else every)  # between two looks
        begun = time.monotonic()
    return found


def _pause(seconds: float) -> float:
    """Return the seconds until the next look: nine times those of the last one, so that looks take a tenth of a core.

    A search, a list of processes or a question to Dagster fifty times a second keeps the tests beside it waiting.
    """
    return min(max(_SHORTEST_PAUSE, 9 * seconds), _LONGEST_PAUSE)


def is_running(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def seconds_until_gone(pid: int, most: float = 60.0) -> float:
    """Wait until a process has ended, and return the seconds that took."""
    start = time.monotonic()
    wait_until(lambda: not is_running(pid), what=f"process {pid} is gone", seconds=most)
    return time.monotonic() - start


def workers(parent: psutil.Process | None = None) -> set[int]:
    """Return the process ids of the workers of a process; its other children are loky's and Python's trackers."""
    found = set()
    for child in (parent or psutil.Process()).children():
        with suppress(psutil.NoSuchProcess):  # it has ended, as a zombie has
            if "pebble_pool_worker" in child.cmdline():
                found.add(child.pid)
    return found


def wait_until_busy(pid: int) -> None:
    """Wait until a process has computed for half a second more."""
    process = psutil.Process(pid)
    until = process.cpu_times().user + 0.5
    wait_until(lambda: process.cpu_times().user >= until, seconds=60)
