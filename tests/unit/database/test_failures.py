"""Errors of drivers as the errors of users: one sentence, without secrets, and whether a retry helps."""

import time

import psycopg
import pytest
import sqlalchemy

from sourcebook.database.connecting import open_connection
from sourcebook.database.failures import database_error, database_failure_in
from sourcebook.errors import DatabaseBusyError, DatabaseError, DatabaseUnavailableError

NOWHERE = "postgresql://user:pass@127.0.0.1:9/sourcebook"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:head@tail-of-it@127.0.0.1:9/sourcebook",
        "postgresql://user:head/tail-of-it@127.0.0.1:9/sourcebook",
        "postgresql://user:head:tail-of-it@x@127.0.0.1:9/sourcebook",
        "postgresql://user:%zztail-of-it@127.0.0.1:9/sourcebook",
        "postgresql://user:pa ss=tail-of-it@127.0.0.1:9?tail-of-it",
    ],
)
def test_an_unencoded_password_is_not_shown(url: str) -> None:
    """The error names the remedy, and no part of the URL."""
    with pytest.raises(DatabaseError, match="write @ as %40") as caught:
        open_connection(psycopg.Connection, url)
    assert not any(piece in str(caught.value) for piece in ("head", "tail", "127.0.0.1"))


def test_a_refused_connection_is_temporary() -> None:
    """Nothing listens: at once, in one line."""
    started = time.monotonic()
    with pytest.raises(DatabaseUnavailableError, match=r"cannot be reached: .*refused") as caught:
        open_connection(psycopg.Connection, NOWHERE)
    assert time.monotonic() - started < 30
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "kind", "temporary"),
    [
        (psycopg.errors.LockNotAvailable("canceling statement due to lock timeout"), DatabaseBusyError, True),
        (psycopg.errors.QueryCanceled("canceling statement due to statement timeout"), DatabaseBusyError, True),
        (psycopg.errors.AdminShutdown("terminating connection"), DatabaseUnavailableError, True),
        (psycopg.errors.CannotConnectNow("the database system is starting up"), DatabaseUnavailableError, True),
        (psycopg.errors.TooManyConnections("sorry, too many clients already"), DatabaseUnavailableError, True),
        (psycopg.OperationalError("server closed the connection unexpectedly"), DatabaseUnavailableError, True),
        (psycopg.errors.DiskFull("could not extend file: No space left on device"), DatabaseError, False),
        (psycopg.errors.ReadOnlySqlTransaction("cannot execute INSERT"), DatabaseError, False),
        (psycopg.errors.UndefinedTable('relation "chunk" does not exist'), DatabaseError, False),
        (psycopg.OperationalError('FATAL:  password authentication failed for user "u"'), DatabaseError, False),
        (psycopg.OperationalError('FATAL:  database "x" does not exist'), DatabaseError, False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_the_kind_says_whether_a_retry_helps(error: psycopg.Error, kind: type[DatabaseError], temporary: bool) -> None:
    """By SQLSTATE, or by the words of a refused connection."""
    found = database_error(error)
    assert isinstance(found, kind)
    assert found.is_temporary == temporary
    assert found.remedy or "refused a statement" in found.detail


def test_the_failure_of_dagsters_storage_is_found() -> None:
    """SQLAlchemy's error around psycopg2's, behind another error."""
    engine = sqlalchemy.create_engine(NOWHERE)
    try:
        try:
            engine.connect()
        except sqlalchemy.exc.OperationalError as error:
            message = "the run could not be stored"
            raise RuntimeError(message) from error
    except RuntimeError as error:
        found = database_failure_in(error)
    assert isinstance(found, DatabaseUnavailableError)
    assert "sqlalche" not in str(found)
    assert database_failure_in(ValueError("no database")) is None
