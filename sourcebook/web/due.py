"""What a crawl of a collection would ask for now, told by the ledger alone."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.model.selection import EVERYTHING, Selection


@dataclass(frozen=True, slots=True)
class DuePages:
    """How many URLs are due."""

    urls: int
    fingerprint: str
    """Equal until a crawl has begun to work on them."""


def due_pages(connection: Connection, collection: str, selection: Selection = EVERYTHING) -> DuePages:
    """Return what is due: sites whose refresh interval has come or whose crawl was broken off, and failed URLs."""
    rows = connection.execute(
        queries["due_pages"],
        {
            "collection": collection,
            "locations": list(selection.sources),
            "force": selection.force,
            "retry_now": selection.only_failed,
            "urls": list(selection.documents),
        },
    ).fetchall()
    due = [(location, urls, str(since)) for location, urls, since in rows if urls]
    return DuePages(
        urls=sum(urls for _, urls, _ in due),
        fingerprint=hashlib.sha256(repr(due).encode()).hexdigest()[:32],
    )


def next_due(connection: Connection, collection: str) -> datetime | None:
    """Return when the next page of a collection is due, in UTC; None where it has no site."""
    row = connection.execute(queries["next_due"], {"collection": collection}).fetchone()
    return row[0].astimezone(UTC) if row and row[0] else None
