"""Standard output kept for a command's JSON, out of reach for whatever else prints."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_OUTPUT: Final = 1
_ERRORS: Final = 2
_FIRST_FREE: Final = 3
"""Number of the first descriptor that is no standard stream."""
_kept: list[int] = []
"""Descriptor of the standard output while a command keeps it."""


@contextmanager
def kept_for_answers() -> Iterator[None]:
    """Have what libraries and child processes print go to standard error, except within `answering`.

    Nothing changes where the process has no standard output or standard error of its own, as in a test.
    """
    if _kept or not _is_real():
        yield
        return
    sys.stdout.flush()
    _kept.append(fcntl.fcntl(_OUTPUT, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE))
    os.dup2(_ERRORS, _OUTPUT)
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        finally:
            kept = _kept.pop()
            os.dup2(kept, _OUTPUT)
            os.close(kept)


@contextmanager
def answering() -> Iterator[None]:
    """Have what this process prints go to standard output again.

    Raises:
        BrokenPipeError: the reader of the standard output has gone.
    """
    if not _kept:
        yield
        return
    sys.stdout.flush()
    os.dup2(_kept[0], _OUTPUT)
    try:
        yield
        sys.stdout.flush()
    except OSError:
        _discard()
        raise
    finally:
        os.dup2(_ERRORS, _OUTPUT)


def _discard() -> None:
    """Discard what could not be printed, which would go to standard error otherwise."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, _OUTPUT)
    os.close(nothing)
    sys.stdout.flush()


def _is_real() -> bool:
    """Return whether Python's standard output is the process's, and there is a standard error."""
    try:
        os.fstat(_ERRORS)
        return sys.stdout.fileno() == _OUTPUT
    except (OSError, ValueError, AttributeError):
        return False
