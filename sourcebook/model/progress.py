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


class TotalProgress:
    """The sum of several progresses that run beside each other.

    Args:
        progress: called with the sums.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._parts: list[tuple[int, int, int]] = []

    def part(self) -> Progress:
        """Return the callback of another part."""
        number = len(self._parts)
        self._parts.append((0, 0, 0))

        def report(done: int, total: int, failed: int = 0) -> None:
            self._parts[number] = (done, total, failed)
            self._progress(*(sum(column) for column in zip(*self._parts, strict=True)))

        return report
