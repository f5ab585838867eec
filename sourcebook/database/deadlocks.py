"""Transactions that are tried again where PostgreSQL ended them so that another one could go on."""

import logging
from collections.abc import Callable
from typing import Final, TypeVar

from psycopg import errors

_MOST_ATTEMPTS: Final = 5
_log = logging.getLogger("sourcebook.database")
Result = TypeVar("Result")


def despite_deadlocks(transaction: Callable[[], Result]) -> Result:
    """Return the result of a transaction, which is tried again after a deadlock.

    Workers take rows in one order; a person's statements, or relations of documents that are written just now, may not.

    Args:
        transaction: begins and commits one transaction, and changes nothing else before its end.
    """
    for left in reversed(range(_MOST_ATTEMPTS)):
        try:
            return transaction()
        except (errors.DeadlockDetected, errors.SerializationFailure):
            if not left:
                raise
            _log.info("a transaction is tried again after a deadlock")
    raise AssertionError
