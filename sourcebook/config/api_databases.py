"""Databases whose tables a collection of the API may read: variables of the environment that the server names."""

from collections.abc import Collection, Mapping
from typing import Any

from sourcebook.config.site_types import REFERENCE


def is_database(url: Any, databases: Collection[str]) -> bool:
    """Return whether the URL of a table is `${NAME}` with one of these variables, and nothing beside it."""
    found = REFERENCE.fullmatch(url) if isinstance(url, str) else None
    return found is not None and found[1] in databases


def without_databases(written: Mapping[str, Any], databases: Collection[str]) -> Mapping[str, Any]:
    """Return settings without the URLs of such tables: any other reference to the environment is refused."""
    records = written.get("records")
    if not isinstance(records, list):
        return written
    return {**written, "records": [_without_database(each, databases) for each in records]}


def _without_database(source: Any, databases: Collection[str]) -> Any:
    table = source.get("table") if isinstance(source, Mapping) else None
    if not isinstance(table, Mapping) or not is_database(table.get("url"), databases):
        return source
    return {**source, "table": {**table, "url": ""}}
