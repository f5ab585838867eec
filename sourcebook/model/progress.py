"""Progress of stages: callbacks once per batch, and listeners of a process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """Callback of a stage that reports its progress."""

    def __call__(self, done: int, total: int, failed: int = 0) -> None:
        """Record the items done, the items known so far, and the failed ones among those done."""


StageProgress = Callable[[str, str, int, int, int], None]
"""Listener, called with (stage, collection, done, total, failed)."""

_listeners: list[StageProgress] = []


def silent(done: int, total: int, failed: int = 0) -> None:
    """Ignore the progress."""


def announce(stage: str, collection: str, done: int, total: int, failed: int = 0) -> None:
    """Call every listener of this process."""
    for listener in _listeners:
        listener(stage, collection, done, total, failed)


@contextmanager
def listening(listener: StageProgress) -> Iterator[None]:
    """Register a listener for the stages that run in this process until the end of the `with`."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
