"""Failures of the database as the errors that users meet, one sentence each, and retries where these help."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

import psycopg
from psycopg import errors

from sourcebook.errors import (
    DatabaseBusyError,
    DatabaseConnectionLostError,
    DatabaseDeadlockError,
    DatabaseError,
    DatabaseUnavailableError,
    SourcebookError,
)
from sourcebook.telemetry.measurements import DATABASE_ERRORS, measurements

_START_IT: Final = "start its server, or correct SOURCEBOOK_DATABASE_URL"
_DRIVERS: Final = {"psycopg", "psycopg2", "sqlalchemy"}
"""Packages whose errors come from the database, Dagster's own among them."""
_BUSY: Final = {
    "55P03": "another process holds a lock on its tables for longer than the limit",
    "57014": "a statement took longer than the limit",
    "40001": "another process changed the same rows",
    "53200": "its server lacks memory",
}
_UNAVAILABLE: Final = {"57P01", "57P02", "57P03", "57P05", "53300"}
"""SQLSTATEs of a server that starts, stops, recovers, or has no free connection; all of class 08 are added to them."""
_CHANGE_NEEDED: Final = (
    (r"password authentication failed|no password supplied|no pg_hba.conf entry|role .* does not exist", "28000"),
    (r"database .* does not exist", "3D000"),
)
"""Refusals at the connection, which have no SQLSTATE in psycopg."""
_TOO_MANY: Final = re.compile(r"too many clients|too many connections|remaining connection slots")
_LOST: Final = re.compile(
    r"server closed the connection|connection (?:is|was|has been)?\s*(?:lost|closed)|terminating connection|"
    r"consuming input failed|sending (?:query|data) .*failed|SSL SYSCALL|Connection reset|no connection to the server|"
    r"connection already closed|could not receive data from server",
    re.IGNORECASE,
)


class NoAnswerError(psycopg.OperationalError):
    """The server did not answer a statement within the client's limit."""


@contextmanager
def typed_errors() -> Iterator[None]:
    """Raise psycopg's errors as `DatabaseError`.

    Raises:
        DatabaseError: a statement or a connection failed; the subclass says whether a retry helps.
    """
    try:
        yield
    except psycopg.Error as error:
        raise counted(database_error(error)) from error


@contextmanager
def failures_of_dagster() -> Iterator[None]:
    """Name Dagster's database in failures, and its own setting in their remedies: they may differ.

    Raises:
        DatabaseError: a failure of the block.
    """
    try:
        yield
    except DatabaseError as error:
        detail = error.detail.replace("the database", "Dagster's database", 1)
        remedy = error.remedy.replace("SOURCEBOOK_DATABASE_URL", "SOURCEBOOK_DAGSTER_DATABASE_URL")
        raise type(error)(detail, remedy=remedy) from error


def counted(failure: DatabaseError) -> DatabaseError:
    """Count a failure in the metrics of this process, and return it."""
    measurements.record(DATABASE_ERRORS, 1, type(failure).__name__)
    return failure


def database_error(error: Exception, *, connecting: bool = False) -> DatabaseError:
    """Return a driver's error as a `DatabaseError`.

    Args:
        error: error of psycopg, psycopg2 or SQLAlchemy.
        connecting: whether it happened while a connection was opened.
    """
    original = getattr(error, "orig", None)
    if isinstance(original, Exception):  # SQLAlchemy's wraps the driver's
        error = original
    state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or ""
    reason = reason_of(error)
    if isinstance(error, NoAnswerError):
        return DatabaseUnavailableError(f"the database does not answer: {reason}", remedy="see whether its server runs")
    if state == "40P01":
        return DatabaseDeadlockError(
            "the database is busy: two processes waited for each other's locks", remedy="retry later"
        )
    if state in _BUSY:
        return DatabaseBusyError(f"the database is busy: {_BUSY[state]}", remedy="retry later")
    if state == "53100" or "No space left on device" in reason:
        return DatabaseError(f"the disk of the database is full: {reason}", remedy="free some space on it, and retry")
    if state == "53300" or _TOO_MANY.search(reason):
        return DatabaseUnavailableError(
            f"the database has no free connection: {reason}", remedy="close other programs, or raise max_connections"
        )
    if state == "25006" or "read-only transaction" in reason:
        return DatabaseError(f"the database is read-only: {reason}", remedy="connect to the primary server")
    refused = next((state for pattern, state in _CHANGE_NEEDED if re.search(pattern, reason)), None)
    if refused or state in {"28000", "28P01", "3D000"}:
        return DatabaseError(f"the database cannot be reached: {reason}", remedy="correct SOURCEBOOK_DATABASE_URL")
    is_connection = isinstance(error, psycopg.OperationalError) or type(error).__name__ in {
        "OperationalError",
        "InterfaceError",
    }
    if not connecting and ((is_connection and _LOST.search(reason)) or state in {"57P01", "57P02"}):
        return DatabaseConnectionLostError(f"the connection to the database was lost: {reason}", remedy="retry later")
    if connecting or state in _UNAVAILABLE or state.startswith("08") or (is_connection and not state):
        return DatabaseUnavailableError(f"the database cannot be reached: {reason}", remedy=_START_IT)
    return DatabaseError(f"the database refused a statement: {reason}")


def database_failure_in(error: BaseException) -> DatabaseError | None:
    """Return the failure of the database behind an error of any library; None where there is none.

    Args:
        error: error whose causes are looked through, the error itself first.
    """
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        if isinstance(found, DatabaseError):
            return found
        if isinstance(found, SourcebookError):
            return None
        if isinstance(found, Exception) and type(found).__module__.partition(".")[0] in _DRIVERS:
            return database_error(found)
        found = found.__cause__ or found.__context__
    return None


def reason_of(error: Exception) -> str:
    """Return the driver's message as one line, without its advice and without the attempts at other addresses."""
    text = str(error).partition("Multiple connection attempts failed")[0].partition("(Background on this error")[0]
    text = re.split(r"\s*\n\s*(?:Is the server running|This probably means|HINT|DETAIL|LINE|CONTEXT|\[SQL)", text)[0]
    text = " ".join(text.split()).removeprefix("connection failed: ")
    return text.rstrip(".") or type(error).__name__


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
