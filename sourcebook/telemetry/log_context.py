"""Fields that every log line of a block carries: run and collection."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_FIELDS: ContextVar[Mapping[str, str]] = ContextVar("sourcebook_log_fields", default={})  # noqa: B039 - never changed


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
    """Return the fields of the current block."""
    return _FIELDS.get()
