"""Crawls that paused so that the pages of other sites become searchable; the next run continues them."""

from typing import Any

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.model.selection import Selection


def paused_crawls(connection: Connection, collection: str, selection: Selection) -> int:
    """Return the number of paused crawls that another run of the same selection would continue."""
    if selection.force or selection.only_failed or selection.documents:
        return 0
    scope = {"collection": collection, "locations": list(selection.sources)}
    row = connection.execute(queries["paused_crawls"], scope).fetchone()
    return int(row[0]) if row else 0


def together(earlier: dict[str, dict[str, Any]], later: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the counts of two runs, one after the other, as those of one.

    Args:
        earlier: counts by asset; `unchanged` is the number of all other items after the run.
        later: counts of the following run.
    """
    return {asset: _sum(earlier[asset], counts) for asset, counts in later.items()}


def _sum(earlier: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    summed = {name: earlier.get(name, 0) + later.get(name, 0) for name in {**earlier, **later}}
    made = earlier.get("added", 0) + earlier.get("changed", 0)
    summed["seconds"] = round(summed["seconds"], 3)
    return {**summed, "unchanged": max(later.get("unchanged", 0) - made, 0), "failed": later.get("failed", 0)}
