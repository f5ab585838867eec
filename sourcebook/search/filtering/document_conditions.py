"""Conditions on documents: named fragments of SQL with their values as parameters."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from psycopg import sql

from sourcebook.database.queries import queries
from sourcebook.search.search_scope import EntryCondition


@dataclass(frozen=True, slots=True)
class DocumentCondition:
    """A condition on `document`: a fragment of queries/filters.sql and the values of its parameters."""

    fragment: str
    """Name of the fragment."""
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A disjunction of conditions."""

    conditions: tuple[DocumentCondition, ...]


def condition_on_entries(conditions: Iterable[DocumentCondition | AnyOf]) -> EntryCondition:
    """Return the condition on entries whose documents fulfil all of the conditions, at least one."""
    parameters: dict[str, Any] = {}
    texts = [_either(condition, parameters) for condition in conditions]
    return EntryCondition(queries["filter_entries"].format(conditions=sql.SQL(" AND ").join(texts)), parameters)


def _either(condition: DocumentCondition | AnyOf, parameters: dict[str, Any]) -> sql.Composable:
    if isinstance(condition, DocumentCondition):
        return _text(condition, parameters)
    return sql.SQL("({})").format(sql.SQL(" OR ").join(_text(each, parameters) for each in condition.conditions))


def _text(condition: DocumentCondition, parameters: dict[str, Any]) -> sql.Composed:
    names = dict(_named(condition, len(parameters)))
    parameters.update({name: condition.values[key] for key, name in names.items()})
    placeholders = {key: sql.Placeholder(name) for key, name in names.items()}
    return sql.Composed([sql.SQL("("), queries[condition.fragment].format(**placeholders), sql.SQL(")")])


def _named(condition: DocumentCondition, first: int) -> Iterator[tuple[str, str]]:
    """Yield (key, parameter name) of each value; parameters are numbered over all conditions of a search."""
    for number, key in enumerate(condition.values, start=first):
        yield key, f"filter_{number}"
