"""How long work tells its progress: one call a batch, never one a document."""

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with (done, total) items of the stage at hand."""


def silent(done: int, total: int) -> None:
    """Report to nobody."""
