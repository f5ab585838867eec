"""Time limits for coroutines that may ignore their cancellation."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_ABANDONED: set["asyncio.Task[Any]"] = set()
"""Abandoned tasks, referenced here because asyncio does not keep a running task from garbage collection."""


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, or raise in time even where it ignores its cancellation.

    `asyncio.timeout` waits for the cancelled coroutine; this function does not.

    Raises:
        TimeoutError: the coroutine did not end in time; it is cancelled and abandoned.
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
    """Let a task end unobserved, without asyncio's warning about an error that is never retrieved."""
    if not task.done():
        _ABANDONED.add(task)
    task.add_done_callback(_forget)


def _forget(task: "asyncio.Task[Any]") -> None:
    _ABANDONED.discard(task)
    if not task.cancelled():
        task.exception()
