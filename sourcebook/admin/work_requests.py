"""Work requests: what a person, a program or an agent asked for, and how far it is.

A request is a row. The caller inserts it; a worker (`sourcebook ingest --requests`, or a run that the sensor
`requested_work` asks Dagster for) claims it, records its progress there and ends it. The channel `sourcebook_work`
carries the id of each request that changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, get_args

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from sourcebook.admin.audit import record_event
from sourcebook.admin.collections import check_collections
from sourcebook.contract.work import UnreadDocument, WorkRequest, WorkState
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError, TooMuchWorkError

STATES: Final[tuple[WorkState, ...]] = get_args(WorkState)
SYNC: Final = "sync"
"""Kind of the requests that bring a collection, or a part of it, up to date."""
MOST_WAITING: Final = 1_000
"""Requests of one key that wait at once, at most."""
_LONGEST_KEY: Final = 200
_MOST: Final = 1_000
"""Requests of one list, at most."""
_MOST_TOGETHER: Final = 1_000
"""Requests that one run does, at most."""


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """Waiting requests of a collection that one run can do."""

    id: int
    """Id of the oldest one, which leads the others."""
    collection: str
    arguments: dict[str, Any]
    """Those of the oldest one, with the documents of all."""


def ask_for_work(
    connection: Connection,
    collection: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    asked_by: str,
    idempotency_key: str | None = None,
    kind: str = SYNC,
) -> WorkRequest:
    """Ask for work, and return the request; the same caller's same idempotency key returns the request of before."""
    check_collections(connection, [collection])
    if idempotency_key is not None and not (0 < len(idempotency_key) <= _LONGEST_KEY and "\0" not in idempotency_key):
        raise QueryError(f"an idempotency key has 1 to {_LONGEST_KEY} characters")
    given = {name: value for name, value in (arguments or {}).items() if value}
    if not _is_storable([given, idempotency_key]):
        raise QueryError("a text has a character that cannot be stored: a NUL, or half of a surrogate pair")
    values = {
        "collection": collection,
        "kind": kind,
        "arguments": Jsonb(given),
        "idempotency_key": idempotency_key,
        "asked_by": asked_by,
    }
    with connection.transaction(), connection.cursor(row_factory=class_row(WorkRequest)) as cursor:
        request = cursor.execute(queries["ask_for_work"], values).fetchone()
        if request is not None:
            check_waiting(connection, asked_by)  # which undoes the request
            record_event(connection, asked_by, f"work.{kind}", f"collection {collection}", given)
            return request
        request = cursor.execute(queries["repeated_work_request"], values).fetchone()
        if request is None or (request.kind, request.arguments) != (kind, given):
            raise QueryError("this idempotency key was used for another request")
        return request


def check_waiting(connection: Connection, asked_by: str, more: int = 0) -> None:
    """Check that not too many requests of a key wait, with some more that it is about to make; accounts may make any.

    Raises:
        TooMuchWorkError: too many wait.
    """
    if not asked_by.startswith("key "):
        return
    row = connection.execute(queries["waiting_of_asker"], {"asked_by": asked_by}).fetchone()
    if row is not None and row[0] + more > MOST_WAITING:
        raise TooMuchWorkError(
            f"{MOST_WAITING:,} requests for work of this key wait already: ask again when some are done, or cancel some"
        )


def find_work(connection: Connection, number: int) -> WorkRequest | None:
    """Return a request by its id, with what it could not read; None where there is none."""
    found = _one(connection, "work_request", {"id": number})
    documents = found.arguments.get("documents") if found is not None and found.has_ended else None
    if found is None or not documents:
        return found
    asked = {"collection": found.collection, "uris": documents}
    with connection.cursor(row_factory=class_row(UnreadDocument)) as cursor:
        return replace(found, unread=tuple(cursor.execute(queries["unread_documents"], asked)))


def list_work(
    connection: Connection,
    collections: Sequence[str] | None = None,
    *,
    states: Sequence[str] = (),
    before: int | None = None,
    limit: int = 50,
) -> list[WorkRequest]:
    """Return requests, the newest first."""
    check_collections(connection, collections or [])
    unknown = [state for state in states if state not in STATES]
    if unknown:
        raise QueryError(f"there is no state {unknown[0]!r}; there are {', '.join(STATES)}")
    if not 1 <= limit <= _MOST:
        raise QueryError(f"the limit is {limit}; it must be 1 to {_MOST:,}")
    values = {
        "collections": None if collections is None else list(collections),
        "states": list(states),
        "before": before,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(WorkRequest)) as cursor:
        return cursor.execute(queries["work_requests"], values).fetchall()


def cancel_work(connection: Connection, number: int, *, actor: str) -> WorkRequest | None:
    """Cancel a waiting request, or ask the worker of a running one to stop after the batch that it works on."""
    with connection.transaction():
        cancelled = _one(connection, "cancel_work_request", {"id": number})
        if cancelled is not None:
            record_event(connection, actor, "work.cancel", f"collection {cancelled.collection}", {"id": number})
            return cancelled
        return find_work(connection, number)


def waiting_work(connection: Connection) -> list[WaitingWork]:
    """Return the waiting requests, those that one run can do as one, the oldest first."""
    with connection.cursor(row_factory=class_row(WaitingWork)) as cursor:
        return cursor.execute(queries["waiting_work"], {"most": _MOST_TOGETHER}).fetchall()


def claim_work(
    connection: Connection,
    *,
    worker: str,
    collection: str | None = None,
    run_id: str | None = None,
    number: int | None = None,
) -> WorkRequest | None:
    """Take the oldest waiting request, and those that its run can do; None where nothing waits.

    Requests go together that differ in their documents alone; the one that is returned has the documents of all. No
    other worker gets one of them.

    Args:
        connection: in autocommit mode.
        worker: host and process.
        collection: only requests of this collection.
        run_id: id of the Dagster run that is to do it.
        number: only the request with this id.
    """
    values = {"worker": worker, "collection": collection, "run_id": run_id, "id": number, "most": _MOST_TOGETHER}
    with connection.cursor(row_factory=class_row(WorkRequest)) as cursor:
        claimed = sorted(cursor.execute(queries["claim_work_request"], values), key=lambda request: request.id)
    if len(claimed) < 2 or "documents" not in claimed[0].arguments:
        return claimed[0] if claimed else None
    documents = dict.fromkeys(uri for request in claimed for uri in request.arguments["documents"])
    return replace(claimed[0], arguments={**claimed[0].arguments, "documents": list(documents)})


def record_progress(
    connection: Connection, number: int, stage: str, done: int, total: int, failed: int, *, attempt: int | None = None
) -> bool | None:
    """Record the progress of a running request, and of those that it leads.

    Args:
        connection: in autocommit mode.
        number: id of the request.
        stage: stage that works.
        done: items that are done, failed ones among them.
        total: items of the stage.
        failed: items that failed.
        attempt: number of the attempt that works; any where None.

    Returns:
        Whether all of them are to be cancelled; None where none runs as this attempt any more.
    """
    values = {"id": number, "stage": stage, "done": done, "total": total, "failed": failed, "attempt": attempt}
    connection.execute(queries["record_work_progress"], values)
    return is_to_stop(connection, number, attempt=attempt)


def is_to_stop(connection: Connection, number: int, *, attempt: int | None) -> bool | None:
    """Return whether a request and those that it leads are to be cancelled; None where none runs as this attempt."""
    row = connection.execute(queries["work_is_to_stop"], {"id": number, "attempt": attempt}).fetchone()
    return None if row is None else bool(row[0])


def end_work(
    connection: Connection,
    number: int,
    state: WorkState,
    error: str | None = None,
    *,
    failed: int | None = None,
    run_id: str | None = None,
    attempt: int | None = None,
) -> None:
    """Record the end of a running request, and of those that it leads.

    Args:
        connection: in autocommit mode.
        number: id of the request.
        state: `succeeded`, `failed` or `cancelled`.
        error: reason of a failed one.
        failed: number of items that failed; None keeps the recorded one. A request for documents counts those of its
            own that have failed, whichever run has tried them.
        run_id: id of the Dagster run that did it; None keeps the recorded one.
        attempt: number of the attempt that ends it: nothing happens where another worker has taken it since.
    """
    values = {"id": number, "state": state, "error": error, "failed": failed, "run_id": run_id, "attempt": attempt}
    connection.execute(queries["end_work_request"], values)


def forget_work(connection: Connection, age: timedelta) -> int:
    """Delete requests that ended longer ago; return the number of deleted ones."""
    return connection.execute(queries["forget_work_requests"], {"age": age}).rowcount


def _is_storable(value: Any) -> bool:
    """Return whether PostgreSQL can store each text of a value."""
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, Mapping):
        return all(_is_storable(each) for each in value.values())
    return not isinstance(value, list | tuple) or all(map(_is_storable, value))


def _one(connection: Connection, query: str, values: Mapping[str, Any]) -> WorkRequest | None:
    with connection.cursor(row_factory=class_row(WorkRequest)) as cursor:
        return cursor.execute(queries[query], values).fetchone()
