"""Filters of a search as JSON holds them."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, date, datetime
from typing import Any

from sourcebook.contract.filters import Filters
from sourcebook.errors import QueryError


def plain_filters(filters: Filters | Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return checked filters as plain values; None where there are none.

    Raises:
        QueryError: a value is not allowed, or is a list of dates, which JSON does not tell from texts.
    """
    checked = Filters.checked(filters)
    if checked is None:
        return None
    given = {each.name: getattr(checked, each.name) for each in fields(checked) if each.init}
    values = {name: _plain(value) for name, value in given.items() if value is not None and name != "metadata"}
    if checked.metadata is not None:
        pairs = checked.metadata.items() if isinstance(checked.metadata, Mapping) else checked.metadata
        values["metadata"] = [[list(key) if isinstance(key, tuple) else key, _wanted(value)] for key, value in pairs]
    return values or None


def _wanted(value: Any) -> Any:
    """Return a condition on metadata; the period of a date as a range, as a text would be compared letter by letter."""
    if isinstance(value, date):
        return {"gte": _plain(value), "lte": _plain(value)}
    values = list(value.values()) if isinstance(value, Mapping) else [value]
    if isinstance(value, Mapping) and isinstance(value.get("eq"), date):
        if len(value) > 1:
            raise QueryError(
                "a date that metadata must equal, and further conditions on it, cannot be sent to a server"
            )
        return _wanted(value["eq"])
    if any(isinstance(part, date) for each in values if isinstance(each, list | tuple | set) for part in each):
        raise QueryError("a list of dates cannot be sent to a server: give a range, such as {'gte': …, 'lte': …}")
    return _plain(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it."""
    match value:
        case datetime():
            return (value if value.tzinfo is None else value.astimezone(UTC)).isoformat()
        case date():
            return value.isoformat()
        case Mapping():
            return {key: _plain(held) for key, held in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(held) for held in value]
    return value
