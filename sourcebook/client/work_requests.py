"""Requests for work of a server."""

import time
from collections.abc import Iterator
from typing import Final

from sourcebook.client.answers import read, read_list
from sourcebook.client.derived import Arguments, checked_limit, plain
from sourcebook.client.server_connection import ServerConnection, segment
from sourcebook.contract.fields import checked_names
from sourcebook.contract.work import WorkRequest
from sourcebook.errors import DatabaseUnavailableError, QueryError

_PAGE: Final = 500
"""Requests of an answer."""
_PAUSES: Final = (0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds before each further attempt to follow a request where the server is away."""


def request_work(server: ServerConnection, given: Arguments) -> WorkRequest:
    """Ask for work; the idempotency key is a header."""
    body = dict(given)
    collection, key = body.pop("collection"), body.pop("idempotency_key", None)
    if key is not None and not (key.isascii() and key.isprintable()):
        raise QueryError("an idempotency key has letters, digits and signs of ASCII alone where a server is asked")
    headers = {} if key is None else {"Idempotency-Key": key}
    path = f"/v1/collections/{segment(collection)}/sync"
    return read(
        WorkRequest, server.change("POST", path, {n: plain(v) for n, v in body.items()}, headers=headers).content
    )


def work_requests(server: ServerConnection, given: Arguments) -> list[WorkRequest]:
    """Return requests for work, the newest first; long lists come in several requests."""
    limit, before = checked_limit(given["limit"]), given.get("before")
    options = {"collection": list(checked_names(given.get("collections")) or ()), "state": list(given["states"])}
    found: list[WorkRequest] = []
    while len(found) < limit:
        asked = min(limit - len(found), _PAGE)
        content = server.get("/v1/work-requests", {**options, "limit": asked, "cursor": before})
        page = read_list(WorkRequest, content, "requests")
        found += page
        if len(page) < asked:
            break
        before = page[-1].id
    return found


def follow_work(server: ServerConnection, number: int) -> Iterator[WorkRequest]:
    """Yield a request after each change; see `RemoteKnowledgeBase.follow_work`."""
    revision = 0
    pauses = iter(_PAUSES)
    while True:
        try:
            with server.events(f"/v1/work-requests/{number:d}/events", revision) as events:
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
