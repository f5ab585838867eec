"""The actor of a request, whom the audit names, and the account of the process."""

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


def account() -> str:
    """Return the account of the operating system that asks, for the audit."""
    import getpass  # and the module of terminals with it, which every other command would import

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the user id has no name, as in some containers
        return "unknown account"
