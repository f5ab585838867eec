"""Pages that are due, by the ledger alone."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.model.selection import EVERYTHING, Selection


@dataclass(frozen=True, slots=True)
class DuePages:
    """Number of due URLs."""

    urls: int
    fingerprint: str
    """Hash that stays equal until a crawl starts on the URLs."""


def due_pages(connection: Connection, collection: str, selection: Selection = EVERYTHING) -> DuePages:
    """Count the due URLs: of sites that are due or whose crawl was interrupted, and of failures due for a retry."""
    rows = connection.execute(
        queries["due_pages"],
        {
            "collection": collection,
            "locations": list(selection.sources),
            "force": selection.force,
            "accept": selection.accept,
            "retry_now": selection.only_failed,
            "urls": list(selection.documents),
        },
    ).fetchall()
    shard = selection.shard
    due = [
        (location, urls, str(since))
        for location, urls, since in rows
        if urls and (shard is None or shard.takes(location))
    ]
    return DuePages(
        urls=sum(urls for _, urls, _ in due),
        fingerprint=hashlib.sha256(repr(due).encode()).hexdigest()[:32],
    )


def next_due(connection: Connection, collection: str) -> datetime | None:
    """Return the time in UTC at which the next page of a collection is due; None where it has no site."""
    row = connection.execute(queries["next_due"], {"collection": collection}).fetchone()
    return row[0].astimezone(UTC) if row and row[0] else None
