"""Put conditions on documents together: named fragments of SQL, and their values as parameters."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from psycopg import sql

from sourcebook.database.queries import queries
from sourcebook.search.condition import EntryCondition


@dataclass(frozen=True, slots=True)
class Term:
    """One condition on `document`: a fragment of queries/filters.sql and the values of its parameters."""

    fragment: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A condition that holds where one of its terms does."""

    terms: tuple[Term, ...]


def condition_on_documents(conditions: Iterable[Term | AnyOf]) -> EntryCondition:
    """Return the condition on entries that all of these hold for the entry's document; there is at least one."""
    parameters: dict[str, Any] = {}
    texts = [_either(condition, parameters) for condition in conditions]
    return EntryCondition(queries["filter_entries"].format(conditions=sql.SQL(" AND ").join(texts)), parameters)


def _either(condition: Term | AnyOf, parameters: dict[str, Any]) -> sql.Composable:
    if isinstance(condition, Term):
        return _text(condition, parameters)
    return sql.SQL("({})").format(sql.SQL(" OR ").join(_text(term, parameters) for term in condition.terms))


def _text(term: Term, parameters: dict[str, Any]) -> sql.Composed:
    names = dict(_named(term, len(parameters)))
    parameters.update({name: term.values[key] for key, name in names.items()})
    placeholders = {key: sql.Placeholder(name) for key, name in names.items()}
    return sql.Composed([sql.SQL("("), queries[term.fragment].format(**placeholders), sql.SQL(")")])


def _named(term: Term, first: int) -> Iterator[tuple[str, str]]:
    for number, key in enumerate(term.values, start=first):
        yield key, f"filter_{number}"
