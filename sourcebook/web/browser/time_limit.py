"""Wait for somebody else's coroutine no longer than one means to."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_ABANDONED: set["asyncio.Task[Any]"] = set()
"""What is waited for no more: asyncio itself keeps no task from being collected in the middle."""


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns, or raise in time, even where it does not let itself be cancelled.

    `asyncio.timeout` waits for what it has cancelled; this does not.

    Raises:
        TimeoutError: it has not ended; it is cancelled, and whatever it does then is nobody's business.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait((task,), timeout=seconds)
    finally:
        if not task.done():
            task.cancel()
            abandon(task)
    if not task.done():
        raise TimeoutError(f"not done after {seconds:g} s")
    return task.result()


def abandon(task: "asyncio.Task[Any]") -> None:
    """Let a task end when and as it likes, without complaint of an error that nobody has looked at."""
    if not task.done():
        _ABANDONED.add(task)
    task.add_done_callback(_forget)


def _forget(task: "asyncio.Task[Any]") -> None:
    _ABANDONED.discard(task)
    if not task.cancelled():
        task.exception()
