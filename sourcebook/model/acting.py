"""The actor of a request, whom the audit names."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ACTOR: ContextVar[str | None] = ContextVar("sourcebook_actor", default=None)


def present_actor() -> str | None:
    """Return who asks; None in a program of its own, where the account of the process does."""
    return _ACTOR.get()


def act_as(actor: str) -> None:
    """Let what follows in this context, such as that of a request, be done by an actor."""
    _ACTOR.set(actor)


@contextmanager
def acting_as(actor: str) -> Iterator[None]:
    """Let what is done in the block be done by an actor."""
    before = _ACTOR.set(actor)
    try:
        yield
    finally:
        _ACTOR.reset(before)
