"""Notes of a request: what is known of it when it has been answered, for the log and the metrics.

Functions below note what they learn, in whichever thread they run; where no request is noted, they do nothing.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class RequestNotes:
    """What is known of a request, none of it as somebody sent it."""

    operation: str | None = None
    """The tool of an agent; None where the route says what was asked for."""
    collections: set[str] = field(default_factory=set)
    """Names of the collections that it is about, which exist for its caller."""
    has_failed: bool = False
    """Whether a tool has answered with an error, which is no error of HTTP."""


_NOTES: ContextVar[RequestNotes | None] = ContextVar("sourcebook_request_notes", default=None)


@contextmanager
def noting() -> Iterator[RequestNotes]:
    """Let functions note what they learn of the request of the block."""
    notes = RequestNotes()
    before = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(before)


def note_collections(names: Collection[str]) -> None:
    """Note that the request is about collections."""
    notes = _NOTES.get()
    if notes is not None:
        notes.collections.update(names)


def note_tool(name: str) -> None:
    """Note that the request calls a tool."""
    notes = _NOTES.get()
    if notes is not None:
        notes.operation = f"tool {name}"


def note_failure() -> None:
    """Note that a tool answers with an error."""
    notes = _NOTES.get()
    if notes is not None:
        notes.has_failed = True
