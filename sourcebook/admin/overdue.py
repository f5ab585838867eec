"""Sources that were not listed or crawled completely for longer than they should be, or whose changes wait for long."""

from psycopg import Connection

from sourcebook.admin.freshness import LONGEST_WAIT, waiting_sources
from sourcebook.database.queries import queries

_KINDS = {"source_folders": "files", "source_sites": "site"}
"""Kinds of sources by the asset that shows them."""
_FOLDER_SECONDS = 2 * 86_400.0
"""Seconds that the listing of a folder stays fresh: two nightly runs."""
_SITE_INTERVALS = 2.0
"""Refresh intervals that the crawl of a site stays fresh."""


def describe_overdue(connection: Connection, asset: str) -> dict[str, str]:
    """Return the sources that are not fresh as one text for each collection that has any.

    The age of a site is compared with twice its `refresh`, the age of a folder with two days. A folder is not fresh,
    either, where a change in it has been waiting for more than ten minutes.

    Args:
        connection: to the knowledge base.
        asset: `source_folders` or `source_sites`.
    """
    rows = connection.execute(
        queries["overdue_sources"],
        {
            "kind": _KINDS[asset],
            "folder_seconds": _FOLDER_SECONDS,
            "intervals": _SITE_INTERVALS,
        },
    ).fetchall()
    found: dict[str, list[str]] = {}
    for name, location, since, error in rows:
        reason = f" ({error})" if error else ""
        found.setdefault(name, []).append(f"{location} was last read completely on {since:%Y-%m-%d}{reason}")
    if _KINDS[asset] == "files":
        for waiting in waiting_sources(connection, LONGEST_WAIT):
            told = f"changes in {waiting.location} have been waiting since {waiting.behind_since:%Y-%m-%d %H:%M} UTC"
            found.setdefault(waiting.collection, []).append(told)
    return {name: "; ".join(texts) for name, texts in found.items()}
