"""Values that the database refuses: a batch is written in halves, so that one item's value fails that item alone."""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import psycopg
from psycopg import Connection

from sourcebook.database.failures import despite_deadlocks, reason_of
from sourcebook.errors import FailureClass

_OF_THE_DRIVER: Final = (UnicodeError, OverflowError, RecursionError, struct.error)
"""Errors by which the driver refuses a value before the server sees it."""
_OF_A_ROW: Final = {"21000", "23502", "23505", "23514", "23P01"}
"""SQLSTATEs of rows that cannot stand beside others, or as they are; a foreign key depends on what others delete."""
_TOO_LARGE: Final = re.compile("invalid memory alloc request size|Cannot enlarge string buffer|string is too long")
_LONG_NAME: Final = re.compile("index row|lexeme|word is too long")
_VALUE: Final = re.compile(r'(?:: ".*|"[^"]*\d{20,}[^"]*")', re.DOTALL)
"""Values of the document that the server repeats."""
_MOST_SAID: Final = 160

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason why the database does not take an item, for a person."""

    reason: str
    failure_class: FailureClass


def refusal_of(error: Exception) -> Refusal | None:
    """Return the refusal that an error is; None where it blames no value: an outage, a lock, a full disk, our code."""
    state = getattr(error, "sqlstate", None) or ""
    said = _VALUE.sub("", reason_of(error))[:_MOST_SAID]
    if isinstance(error, RecursionError) or state == "54001":
        return Refusal("its values are nested too deeply for the database; simplify it", FailureClass.TOO_LARGE)
    if isinstance(error, _OF_THE_DRIVER) or (isinstance(error, psycopg.DataError) and not state):
        return Refusal(f"it has a value that the database cannot hold ({said}); correct it", FailureClass.CORRUPT)
    if state.startswith("54") and _LONG_NAME.search(said):
        return Refusal(
            f"a name in it, such as a tag or its address, is too long for an index ({said}); shorten it",
            FailureClass.TOO_LARGE,
        )
    if state.startswith("54") or (state == "XX000" and _TOO_LARGE.search(said)):
        return Refusal(f"a part of it is too large for the database ({said}); split it", FailureClass.TOO_LARGE)
    if state.startswith("22") or state in _OF_A_ROW:
        return Refusal(f"it has a value that the database refuses ({said}); correct it", FailureClass.CORRUPT)
    return None


@contextmanager
def refusals_as(failure: Callable[[str, FailureClass], Exception]) -> Iterator[None]:
    """Raise the refusal of a value as an error of the one item that the block writes.

    Args:
        failure: makes the error from the reason and its class.
    """
    try:
        yield
    except (psycopg.Error, *_OF_THE_DRIVER) as error:
        refusal = refusal_of(error)
        if refusal is None:
            raise
        raise failure(refusal.reason, refusal.failure_class) from error


def write_in_halves(
    connection: Connection,
    items: Sequence[Item],
    write: Callable[[Sequence[Item]], Result],
    failed: Callable[[Item, Refusal], Item] | None = None,
) -> tuple[list[Result], list[tuple[Item, Refusal]]]:
    """Write items in one transaction; where the database refuses a value, write each half in its own, and so on.

    Where nothing is refused, it costs what the transaction costs.

    Args:
        connection: outside a transaction; within one, a savepoint is set.
        items: what is written together; none is written twice.
        write: writes some of them, and changes nothing outside the database.
        failed: makes what is written in place of a refused item; where that is refused, too, nothing is.

    Returns:
        The results of what was written, and the items that were refused.
    """
    if not items:
        return [], []
    try:
        return [despite_deadlocks(partial(_write, connection, items, write))], []
    except (psycopg.Error, *_OF_THE_DRIVER) as error:
        refusal = refusal_of(error)
        if refusal is None or connection.closed:
            raise
    if len(items) == 1:
        if failed is not None:
            write_in_halves(connection, [failed(items[0], refusal)], write)
        return [], [(items[0], refusal)]
    middle = len(items) // 2
    results, refused = write_in_halves(connection, items[:middle], write, failed)
    others, also = write_in_halves(connection, items[middle:], write, failed)
    return results + others, refused + also


def _write(connection: Connection, items: Sequence[Item], write: Callable[[Sequence[Item]], Result]) -> Result:
    with connection.transaction():
        return write(items)
