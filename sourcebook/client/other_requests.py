"""Requests of single operations that the table of operations does not say."""

from typing import Any, Final

from sourcebook.client.answers import read
from sourcebook.client.derived import Arguments, exchange
from sourcebook.client.server_connection import ServerConnection, segment
from sourcebook.contract.collections import CollectionDeclaration
from sourcebook.contract.plans import CollectionPlan
from sourcebook.contract.query_log import LoggedQuery
from sourcebook.contract.usage import Usage
from sourcebook.errors import ChangedSettingsError, QueryError

_MOST_QUERIES: Final = 10_000
"""Logged queries of an answer, at most."""


def plan(server: ServerConnection, given: Arguments) -> list[CollectionPlan]:
    """Ask for the plans by the settings as applied last."""
    if not given.keys().isdisjoint({"configuration", "home"}):
        raise QueryError("a server plans by the settings as applied last: leave configuration and home out")
    plans: list[CollectionPlan] = exchange(server, "plan", given)
    return plans


def queries(server: ServerConnection, given: Arguments) -> list[LoggedQuery]:
    """Ask for logged queries, as many as an answer holds where no limit is given."""
    found: list[LoggedQuery] = exchange(server, "queries", {"limit": _MOST_QUERIES, **given})
    return found


def usage(server: ServerConnection, given: Arguments) -> list[Usage]:
    """Ask for sums of usage; one sum of everything has a parameter of its own."""
    total = {"total": True} if "by" in given and not given["by"] else {}
    found: list[Usage] = exchange(server, "usage", {**given, **total})
    return found


def change_collection(server: ServerConnection, given: Arguments) -> CollectionDeclaration:
    """Send a merge patch of settings; expected settings are compared, and sent as their entity tag."""
    path, headers = f"/v1/collections/{segment(given['name'])}", {}
    if "expected" in given:
        present = server.exchange("GET", f"{path}/settings", repeatable=True)
        if read(CollectionDeclaration, present.content).settings != dict(given["expected"]):
            raise ChangedSettingsError("the settings have changed since they were read: read them again")
        headers["If-Match"] = present.headers["ETag"]
    options = {"rebuild": given["rebuild"] or None}
    return read(
        CollectionDeclaration,
        server.change("PATCH", path, dict(given["settings"]), parameters=options, headers=headers).content,
    )


def tool_schemas(server: ServerConnection, given: Arguments) -> list[dict[str, Any]]:
    """Return the tools, which no server needs to be asked for."""
    from sourcebook.answering.tools import tool_schemas

    return tool_schemas(**given)


def prewarm(server: ServerConnection, given: Arguments) -> None:
    """Let the server load the models, by a search that nobody logs."""
    exchange(server, "search", {"query": "What is there to know?", "limit": 1, "literal": True, "log": False, **given})
