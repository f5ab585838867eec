"""How long work tells its progress: one call a batch, never one a document."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Called with (done, total) items of the stage at hand."""

StageProgress = Callable[[str, str, int, int], None]
"""Called with (stage, collection, done, total)."""

_listeners: list[StageProgress] = []


def silent(done: int, total: int) -> None:
    """Report to nobody."""


def announce(stage: str, collection: str, done: int, total: int) -> None:
    """Tell every listener of this process how far a stage is."""
    for listener in _listeners:
        listener(stage, collection, done, total)


@contextmanager
def listening(listener: StageProgress) -> Iterator[None]:
    """Hear of the progress of every stage that works in this process."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
