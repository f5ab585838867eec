"""Checks of filters on the keys of documents' metadata: equal to a value, one of several, in a range, or absent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from sourcebook.contract.filtering.periods import BOUNDS, is_date_text, period_of
from sourcebook.contract.filtering.values import choices_of, list_of, number_of, scalar_of, shown, text_of
from sourcebook.errors import QueryError

MOST_KEYS = 50
"""Keys of a filter, at most."""
_DEEPEST = 16
"""Parts of a key within mappings, at most."""
_MOST_DATES = 20
"""Dates of a list of alternatives, at most."""
_OPERATORS = ("eq", "in", "exists", *BOUNDS)
_ALLOWED = (
    "a text, number, date, true, false or null, a list of them, {'exists': false}, or a range such as {'gte': 2020}"
)

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetadataTest:
    """One test of a key of metadata; of the tests of an alternative one must hold."""

    kind: Literal["present", "missing", "equal", "range", "period"]
    path: Path
    value: Any = None
    """`equal`: values of which the key holds one, alone or in a list; `range`: bounds; `period`: a `Period`."""


def metadata_tests(key: str, value: object) -> list[tuple[MetadataTest, ...]]:
    """Return the tests of a filter on metadata: every tuple has one that holds.

    Args:
        key: name of the filter.
        value: wanted values by key; a key is a text, or a tuple of texts for a key within another key's mapping. A list
            of pairs of a key and its wanted value says the same in JSON, whose keys are texts.

    Raises:
        QueryError: a key or a value is not allowed, or a range is empty.
    """
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if not isinstance(pairs, list) or not pairs or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        raise QueryError(f"the filter {key} is {shown(value)}; it must be a mapping such as {{'year': 2020}}")
    if len(pairs) > MOST_KEYS:
        raise QueryError(f"the filter {key} has {len(pairs):,} keys; at most {MOST_KEYS} are allowed")
    return [tests for given, wanted in pairs for tests in _tests(_path(given), wanted)]


def _tests(path: Path, wanted: object) -> Iterator[tuple[MetadataTest, ...]]:
    key = f"metadata.{'.'.join(path)}"
    if isinstance(wanted, Mapping):
        yield from _comparisons(key, path, choices_of(key, wanted, _OPERATORS))
    elif isinstance(wanted, (list, tuple, set, frozenset)):
        yield _one_of(key, path, list_of(key, wanted, _ALLOWED))
    else:
        yield _one_of(key, path, [wanted])


def _path(key: object) -> Path:
    parts = tuple(key) if isinstance(key, tuple | list) else (key,)
    if not 1 <= len(parts) <= _DEEPEST:
        raise QueryError(f"a metadata key of a filter has {len(parts)} parts; it must have 1 to {_DEEPEST}")
    return tuple(
        text_of("metadata", part, allowed="a key, or a tuple of keys for one within another") for part in parts
    )


def _comparisons(key: str, path: Path, wanted: dict[str, Any]) -> Iterator[tuple[MetadataTest, ...]]:
    if "eq" in wanted:
        yield _one_of(f"{key}.eq", path, [wanted["eq"]])
    if "in" in wanted:
        yield _one_of(f"{key}.in", path, list_of(f"{key}.in", wanted["in"], "a list of values"))
    if "exists" in wanted:
        if not isinstance(wanted["exists"], bool):
            raise QueryError(f"the filter {key}.exists is {shown(wanted['exists'])}; it must be true or false")
        yield (MetadataTest("present" if wanted["exists"] else "missing", path),)
    bounds = {name: bound for name, bound in wanted.items() if name in BOUNDS}
    if bounds:
        yield (_range(key, path, bounds),)


def _one_of(key: str, path: Path, values: Sequence[object]) -> tuple[MetadataTest, ...]:
    """Return the tests of which one holds where the key has one of the values, or a list with one of them in it."""
    for value in values:
        if not isinstance(value, str | int | float | date | None):
            raise QueryError(f"the filter {key} is {shown(value)}; it must be {_ALLOWED}")
    dates = [value for value in values if isinstance(value, date)]
    if len(dates) > _MOST_DATES:
        raise QueryError(
            f"the filter {key} lists {len(dates):,} dates; at most {_MOST_DATES} are allowed: give it a range"
        )
    scalars = [scalar_of(key, value) for value in values if value is not None and not isinstance(value, date)]
    tests = [MetadataTest("period", path, period_of(key, day)) for day in dates]
    tests += [MetadataTest("missing", path)] if None in values else []
    return tuple([*tests, MetadataTest("equal", path, scalars)] if scalars else tests)


def _range(key: str, path: Path, bounds: dict[str, Any]) -> MetadataTest:
    """Return the test of a range: numbers compare as numbers, dates as dates, other texts by code points."""
    values = list(bounds.values())
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return _ordered(key, path, "number", {name: number_of(f"{key}.{name}", bounds[name]) for name in bounds})
    if any(isinstance(value, date) or is_date_text(value) for value in values):
        return MetadataTest("period", path, period_of(key, bounds))
    if all(isinstance(value, str) for value in values):
        return _ordered(key, path, "string", {name: text_of(f"{key}.{name}", bounds[name]) for name in bounds})
    raise QueryError(f"the filter {key} is {shown(bounds)}; the ends of a range must be numbers, dates or texts alike")


def _ordered(key: str, path: Path, kind: str, bounds: dict[str, Any]) -> MetadataTest:
    for low in bounds.keys() & {"gte", "gt"}:
        for high in bounds.keys() & {"lte", "lt"}:
            touching = (low, high) == ("gte", "lte")
            if bounds[low] > bounds[high] or (bounds[low] == bounds[high] and not touching):
                raise QueryError(
                    f"the filter {key} is {shown(bounds)}, a range that holds nothing: are its ends reversed?"
                )
    return MetadataTest("range", path, {**dict.fromkeys(BOUNDS), **bounds, "type": kind})
