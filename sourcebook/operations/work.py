"""Requests for work."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sourcebook.contract.fields import checked_names
from sourcebook.errors import QueryError
from sourcebook.installation import needing_extra

if TYPE_CHECKING:
    from psycopg import Connection

    from sourcebook.contract.work import WorkRequest
    from sourcebook.operations.opened import Opened


def request_work(
    knowledge: Opened,
    collection: str,
    *,
    documents: Sequence[str] = (),
    sources: Sequence[str] = (),
    kinds: Sequence[str] = (),
    types: Sequence[str] = (),
    only_failed: bool = False,
    force: bool = False,
    accept: bool = False,
    idempotency_key: str | None = None,
    actor: str | None = None,
) -> WorkRequest:
    """Ask for a collection, or a part of it, to be brought up to date; return the request at once.

    `sourcebook up`, a Dagster deployment, or `sourcebook ingest --requests` does the work.

    Args:
        collection: name of the collection.
        documents: URIs; every document where empty.
        sources: locations of sources; every source where empty.
        kinds: kinds of sources, `files`, `site` or `uploads`; every kind where empty.
        types: types of documents, such as `adr`: those that are there now, and new and renamed files whose path says
            so, beside `documents`. Folders are compared with the ledger for it.
        only_failed: only failed items, without waiting for their retry time.
        force: process the items even where nothing changed.
        accept: let documents go although their source loses many of them at once.
        idempotency_key: the caller's own name of the request: asking again with it returns the same request.
        actor: who asks.

    Raises:
        QueryError: the collection does not exist, no document or file is of the types, or the idempotency key was used
            for another request.
        MissingDependencyError: types are given, and the extra `pipeline` is not installed.
        TooMuchWorkError: a thousand requests of the key that asks wait already.
    """
    from sourcebook.admin.audit import account
    from sourcebook.admin.work_requests import ask_for_work

    arguments = {
        "documents": list(documents),
        "sources": list(sources),
        "kinds": list(kinds),
        "only_failed": only_failed,
        "force": force,
        "accept": accept,
    }
    with knowledge.database.connection() as connection:
        if types:
            arguments["documents"] = [*documents, *_of_types(connection, collection, types)]
        return ask_for_work(
            connection, collection, arguments, asked_by=actor or account(), idempotency_key=idempotency_key
        )


def check_waiting_work(knowledge: Opened, actor: str) -> None:
    """Check that a caller may make one more request for work, before something is stored that needs one.

    Raises:
        TooMuchWorkError: too many requests of its key wait.
    """
    from sourcebook.admin.work_requests import check_waiting

    with knowledge.database.connection() as connection:
        check_waiting(connection, actor, 1)


def _of_types(connection: Connection, collection: str, types: Sequence[str]) -> list[str]:
    """Return the URIs of what is of some types.

    Raises:
        QueryError: nothing is.
    """
    with needing_extra("pipeline"):
        from sourcebook.admin.typed_items import items_of_types

        found = items_of_types(connection, collection, types)
    if not found:
        raise QueryError(
            f"{collection} has no document of the type {', '.join(types)}, and no new file of one; see `types` in its "
            "settings"
        )
    return found


def work(knowledge: Opened, number: int) -> WorkRequest | None:
    """Return a request by its id as it is now; None where there is none."""
    from sourcebook.admin.work_requests import find_work

    with knowledge.database.connection() as connection:
        return find_work(connection, number)


def work_requests(
    knowledge: Opened,
    collections: Sequence[str] | str | None = None,
    *,
    states: Sequence[str] = (),
    before: int | None = None,
    limit: int = 50,
) -> list[WorkRequest]:
    """Return requests for work, the newest first.

    Args:
        collections: names, or one name; every collection where None.
        states: only requests in these states, of `waiting`, `running`, `succeeded`, `failed`, `cancelled`.
        before: only requests with a lower id, such as the last of the page before.
        limit: the most requests, 1 to 1,000.

    Raises:
        QueryError: an argument is not allowed.
    """
    from sourcebook.admin.work_requests import list_work

    with knowledge.database.connection() as connection:
        return list_work(connection, checked_names(collections), states=states, before=before, limit=limit)


def cancel_work(knowledge: Opened, number: int, *, actor: str | None = None) -> WorkRequest | None:
    """Cancel a waiting request, or ask the worker of a running one to stop; None where there is no such request.

    Args:
        number: id of the request.
        actor: who cancels it.
    """
    from sourcebook.admin.audit import account
    from sourcebook.admin.work_requests import cancel_work

    with knowledge.database.connection() as connection:
        return cancel_work(connection, number, actor=actor or account())


@contextmanager
def work_notifications(knowledge: Opened) -> Iterator[Callable[[float], Iterator[int]]]:
    """Listen to the changes of requests: give what yields, for some seconds, the ids of those that change."""
    from sourcebook.database.queries import queries

    with knowledge.database.own_connection() as connection:
        connection.execute(queries["listen_to_work"])
        yield lambda seconds: (int(note.payload) for note in connection.notifies(timeout=seconds))


def waiting_work(knowledge: Opened) -> Generator[tuple[bool, Callable[[], list[int]]]]:
    """Yield once a second whether work waits that is not Dagster's, and what takes up the requests of dead workers.

    Until the iterator is closed, others see that a worker runs.
    """
    from sourcebook.admin.claimed_work import recover_work
    from sourcebook.admin.workers import listen_for_work

    with knowledge.database.own_connection() as connection:
        for waits in listen_for_work(knowledge.database, connection):
            yield waits, lambda: recover_work(connection)


def crawl_again(knowledge: Opened, collection: str, location: str) -> None:
    """Let the next ingest crawl a site of a collection, whenever it was crawled last."""
    from sourcebook.database.queries import queries

    with knowledge.database.connection() as connection:
        connection.execute(queries["request_crawl"], {"collection": collection, "location": location})
