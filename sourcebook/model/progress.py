"""How long work tells its progress: one call a batch, never one a document."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """Hears how far the stage at hand is."""

    def __call__(self, done: int, total: int, failed: int = 0) -> None:
        """Take note of how many items are done, of how many known so far, and how many of those done failed."""


StageProgress = Callable[[str, str, int, int, int], None]
"""Called with (stage, collection, done, total, failed)."""

_listeners: list[StageProgress] = []


def silent(done: int, total: int, failed: int = 0) -> None:
    """Report to nobody."""


def announce(stage: str, collection: str, done: int, total: int, failed: int = 0) -> None:
    """Tell every listener of this process how far a stage is."""
    for listener in _listeners:
        listener(stage, collection, done, total, failed)


@contextmanager
def listening(listener: StageProgress) -> Iterator[None]:
    """Hear of the progress of every stage that works in this process."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
