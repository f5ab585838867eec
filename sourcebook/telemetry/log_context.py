"""Fields that every log line of a block carries, run and collection, or every line of a process."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_FIELDS: ContextVar[Mapping[str, str]] = ContextVar("sourcebook_log_fields", default={})  # noqa: B039 - never changed


_of_process: dict[str, str] = {}
"""Fields of every line of this process."""


def name_process(**fields: str) -> None:
    """Add fields to every log line of this process, whichever thread writes it."""
    _of_process.update(fields)


@contextmanager
def log_context(**fields: str) -> Iterator[None]:
    """Add fields to the log lines of the block, also of threads that copy the context."""
    before = _FIELDS.get()
    _FIELDS.set({**before, **fields})
    try:
        yield
    finally:
        _FIELDS.set(before)  # not by token: a generator may be closed in another context than it began in


def log_fields() -> Mapping[str, str]:
    """Return the fields of the current block, and those of the process."""
    return {**_of_process, **_FIELDS.get()} if _of_process else _FIELDS.get()
