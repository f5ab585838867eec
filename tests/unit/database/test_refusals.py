"""What counts as the refusal of a value, and what stays an outage or a fault of the code."""

import struct

import psycopg
import pytest

from sourcebook.database.refusals import Refusal, refusal_of
from sourcebook.errors import FailureClass


@pytest.mark.parametrize(
    ("error", "failure_class"),
    [
        (psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes"), FailureClass.CORRUPT),
        (psycopg.errors.NumericValueOutOfRange("integer out of range"), FailureClass.CORRUPT),
        (psycopg.errors.UntranslatableCharacter("unsupported Unicode escape sequence"), FailureClass.CORRUPT),
        (psycopg.errors.InvalidTextRepresentation("invalid input syntax for type json"), FailureClass.CORRUPT),
        (psycopg.errors.CheckViolation("new row violates check constraint"), FailureClass.CORRUPT),
        (psycopg.errors.CardinalityViolation("ON CONFLICT DO UPDATE command cannot affect row"), FailureClass.CORRUPT),
        (psycopg.errors.ProgramLimitExceeded('index row size 2800 exceeds btree version 4'), FailureClass.TOO_LARGE),
        (psycopg.errors.ProgramLimitExceeded("string is too long for tsvector"), FailureClass.TOO_LARGE),
        (psycopg.errors.StatementTooComplex("stack depth limit exceeded"), FailureClass.TOO_LARGE),
        (psycopg.errors.InternalError_("invalid memory alloc request size 1073741824"), FailureClass.TOO_LARGE),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), FailureClass.CORRUPT),
        (struct.error("'i' format requires -2147483648 <= number"), FailureClass.CORRUPT),
        (RecursionError("maximum recursion depth exceeded"), FailureClass.TOO_LARGE),
    ],
)  # fmt: skip
def test_a_value_that_is_refused_is_named_with_a_remedy(error: Exception, failure_class: FailureClass) -> None:
    refusal = refusal_of(error)
    assert refusal is not None
    assert refusal.failure_class is failure_class
    assert "; " in refusal.reason


@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("server closed the connection unexpectedly"),
        psycopg.errors.ConnectionFailure("broken"),
        psycopg.errors.AdminShutdown("terminating connection"),
        psycopg.errors.QueryCanceled("canceling statement due to statement timeout"),
        psycopg.errors.LockNotAvailable("canceling statement due to lock timeout"),
        psycopg.errors.DeadlockDetected("deadlock detected"),
        psycopg.errors.DiskFull("could not extend file: No space left on device"),
        psycopg.errors.OutOfMemory("out of memory"),
        psycopg.errors.InsufficientPrivilege("permission denied for table document"),
        psycopg.errors.UndefinedColumn('column "colour" does not exist'),
        psycopg.errors.ForeignKeyViolation("the collection was removed meanwhile"),
        psycopg.errors.ReadOnlySqlTransaction("cannot execute INSERT"),
        psycopg.errors.InternalError_("could not read block 0"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_no_value_is_to_blame_for_is_no_refusal(error: Exception) -> None:
    assert refusal_of(error) is None


def test_a_refusal_repeats_no_value() -> None:
    error = psycopg.errors.InvalidTextRepresentation('invalid input syntax for type integer: "4929-1234-secret"')
    assert refusal_of(error) == Refusal(
        "it has a value that the database refuses (invalid input syntax for type integer); correct it",
        FailureClass.CORRUPT,
    )
