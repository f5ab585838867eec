"""Failures and notices that an ingest leaves in a collection."""

from psycopg import Connection

from sourcebook.admin.status import failures
from sourcebook.database.queries import queries
from sourcebook.web.left_out import LeftOut


def failures_since(
    connection: Connection, name: str, before: dict[str, str]
) -> tuple[int, dict[str, str], dict[str, str]]:
    """Return the number of failures, the new ones, and those that there were before."""
    after = failures(connection, name)
    new = {uri: reason for uri, reason in after.items() if uri not in before}
    return len(after), new, {uri: reason for uri, reason in after.items() if uri in before}


def reasons(connection: Connection, query: str, name: str) -> tuple[str, ...]:
    """Return the reasons that a named query gives for a collection."""
    return tuple(reason for (reason,) in connection.execute(queries[query], {"collection": name}))


def left_out(connection: Connection, name: str) -> tuple[str, ...]:
    """Return a sentence for each rule that left URLs of the collection's sites out."""
    rows = connection.execute(queries["left_out"], {"collection": name}).fetchall()
    return tuple(f"{location}: {LeftOut.of(entry)}" for location, entries in rows for entry in entries)
