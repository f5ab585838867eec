"""The part of the client that asks for work, follows it and cancels it."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from sourcebook.client.of_the_server import check_actor
from sourcebook.client.server_connection import segment
from sourcebook.errors import DatabaseUnavailableError, QueryError

if TYPE_CHECKING:
    from sourcebook.client.server_connection import ServerConnection
    from sourcebook.contract.work import WorkRequest

_PAGE: Final = 500
"""Requests for work of one answer."""
_MOST: Final = 1_000
"""Requests for work of a list, at most."""

_PAUSES: Final = (0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds before each further attempt to follow a request where the server is away."""


class RemoteWork(ABC):
    """Work requests of a knowledge base behind a server. The key names the actor: `actor` stays None."""

    @property
    @abstractmethod
    def server(self) -> "ServerConnection":
        """The connection to the server."""

    def request_work(
        self,
        collection: str,
        *,
        documents: Sequence[str] = (),
        sources: Sequence[str] = (),
        kinds: Sequence[str] = (),
        types: Sequence[str] = (),
        only_failed: bool = False,
        force: bool = False,
        idempotency_key: str | None = None,
        actor: str | None = None,
    ) -> "WorkRequest":
        """Ask for a collection, or a part of it, to be brought up to date; see `KnowledgeBase.request_work`.

        Raises:
            QueryError: the collection does not exist for the key, or an argument is not allowed.
            AccessError: the key does not allow changes.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read
        from sourcebook.contract.work import WorkRequest

        check_actor(actor)
        body = {
            "documents": list(documents),
            "sources": list(sources),
            "kinds": list(kinds),
            "types": list(types),
            "only_failed": only_failed,
            "force": force,
        }
        if idempotency_key is not None and not (idempotency_key.isascii() and idempotency_key.isprintable()):
            raise QueryError("an idempotency key has letters, digits and signs of ASCII alone where a server is asked")
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        path = f"/v1/collections/{segment(collection)}/sync"
        return read(WorkRequest, self.server.change("POST", path, body, headers=headers).content)

    def work(self, number: int) -> "WorkRequest | None":
        """Return a request by its id as it is now; None where there is none for the key.

        Raises:
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read
        from sourcebook.contract.work import WorkRequest

        content = self.server.find(f"/v1/work-requests/{number:d}")
        return None if content is None else read(WorkRequest, content)

    def work_requests(
        self,
        collections: Sequence[str] | str | None = None,
        *,
        states: Sequence[str] = (),
        before: int | None = None,
        limit: int = 50,
    ) -> "list[WorkRequest]":
        """Return requests for work, the newest first; see `KnowledgeBase.work_requests`.

        Raises:
            QueryError: an argument is not allowed.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.work import WorkRequest
        from sourcebook.search.request import checked_names

        if not 1 <= limit <= _MOST:
            raise QueryError(f"the limit is {limit!r}; it must be 1 to {_MOST:,}")
        options = {"collection": list(checked_names(collections) or ()), "state": list(states)}
        found: list[WorkRequest] = []
        while len(found) < limit:
            asked = min(limit - len(found), _PAGE)
            content = self.server.get("/v1/work-requests", {**options, "limit": asked, "cursor": before})
            page = read_list(WorkRequest, content, "requests")
            found += page
            if len(page) < asked:
                break
            before = page[-1].id
        return found

    def follow_work(self, number: int) -> "Iterator[WorkRequest]":
        """Yield a request as it is now and after each change, until it has ended.

        Changes that come faster than the caller takes them are reported as one. Where the server is away meanwhile, the
        next one is waited for a few seconds.

        Raises:
            QueryError: there is no such request for the key.
            AccessError: the key is not valid, or no longer is.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read
        from sourcebook.contract.work import WorkRequest

        revision = 0
        pauses = iter(_PAUSES)
        while True:
            try:
                with self.server.events(f"/v1/work-requests/{number:d}/events", revision) as events:
                    for event in events:
                        found = read(WorkRequest, event.data.encode())
                        revision, pauses = found.revision, iter(_PAUSES)
                        yield found
                        if found.has_ended:
                            return
                pause = next(pauses, _PAUSES[-1])  # the server ends
            except DatabaseUnavailableError:
                following = next(pauses, None)
                if following is None:
                    raise
                pause = following
            time.sleep(pause)

    def cancel_work(self, number: int, *, actor: str | None = None) -> "WorkRequest | None":
        """Cancel a waiting request, or ask the worker of a running one to stop; None where there is no such request.

        Raises:
            AccessError: the key does not allow changes.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read
        from sourcebook.client.server_connection import MISSING
        from sourcebook.contract.work import WorkRequest

        check_actor(actor)
        response = self.server.change("POST", f"/v1/work-requests/{number:d}/cancel", may_be_missing=True)
        return None if response.status_code == MISSING else read(WorkRequest, response.content)
