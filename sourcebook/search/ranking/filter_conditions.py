"""Conditions on documents that the filters of a search set."""

import os.path
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from psycopg import sql
from psycopg.types.json import Jsonb

from sourcebook.contract.filtering.metadata import MetadataTest
from sourcebook.contract.filtering.periods import END_OF_TIME, START_OF_TIME
from sourcebook.contract.filters import Filters
from sourcebook.database.queries import queries
from sourcebook.search.scope import EntryCondition, SearchScope, array_of

_MANY = 20
"""Values above which testing every document takes less time than an index look-up per value."""


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


_PERIODS: Final = {
    "date": ("filter_date_from", "filter_date_until"),
    "added": ("filter_added_from", "filter_added_until"),
    "changed": ("filter_changed_from", "filter_changed_until"),
}
_PLAIN: Final = {
    "kinds": "filter_kinds",
    "types": "filter_types",
    "tags_any": "filter_tags_any",
    "tags_all": "filter_tags_all",
    "languages": "filter_languages",
    "uri_prefix": "filter_uri_prefix",
    "domains": "filter_domains",
    "extensions": "filter_extensions",
}
"""Fragment of each filter whose checked values are those of the fragment."""


def condition_of(filters: Filters | None, scope: SearchScope | None) -> EntryCondition | None:
    """Return the condition on entries of the index: filters, the audiences of the reader, what is hidden; None without.

    Args:
        filters: conditions on documents.
        scope: of the search, with the reader's audiences and the hidden documents; None for neither.
    """
    given = {} if filters is None else dict(filters.values())
    conditions = [condition for name, value in given.items() for condition in _conditions(name, value)]
    if scope is not None and scope.audiences is not None:
        conditions.append(DocumentCondition("filter_audiences", {"value": array_of(scope.audiences)}))
        names = sorted({each.collection for each in scope.generations})
        if len(names) <= _MANY:
            conditions.append(DocumentCondition("filter_collections", {"value": names}))
    counts = None if given or scope is None else scope.counts
    found = [_on_entries(conditions, is_sight=not given, counts=counts)] if conditions else []
    if scope is not None and scope.hidden:
        text = queries["filter_hidden"].format(hidden=sql.Placeholder("hidden"))
        found.append(EntryCondition(text, {"hidden": list(scope.hidden)}, is_sight=True))
    return EntryCondition.all_of(found)


def _conditions(name: str, value: Any) -> Iterator[DocumentCondition | AnyOf]:
    match name:
        case "sources":
            yield DocumentCondition("filter_sources", {"value": _possible_locations(value)})
        case "media_types":
            exact = [each for each in value if not each.endswith("/*")]
            families = [each.removesuffix("/*") for each in value if each.endswith("/*")]
            yield _either(("filter_media_types", exact), ("filter_media_families", families))
        case "documents":
            ids, uris = value
            yield _either(("filter_document_ids", ids), ("filter_document_uris", uris))
        case "paths":
            yield DocumentCondition("filter_paths", {"value": [_path_pattern(pattern) for pattern in value]})
        case "date" | "added" | "changed":
            for fragment, moment in zip(_PERIODS[name], (value.start, value.end), strict=True):
                if moment is not None:
                    yield DocumentCondition(fragment, {"value": moment})
        case "metadata":
            yield from (AnyOf(tuple(each for test in tests for each in _on_metadata(test))) for tests in value)
        case _:
            yield DocumentCondition(_PLAIN[name], {"value": value if isinstance(value, str) else list(value)})


def _either(*fragments: tuple[str, list[Any]]) -> AnyOf:
    return AnyOf(tuple(DocumentCondition(fragment, {"value": value}) for fragment, value in fragments if value))


def _on_metadata(test: MetadataTest) -> Iterator[DocumentCondition]:
    path = list(test.path)
    match test.kind:
        case "equal" if len(test.value) > _MANY:
            yield DocumentCondition("filter_metadata_among", {"path": path, "value": list(map(Jsonb, test.value))})
        case "equal":
            for value in (held for each in test.value for held in (each, [each])):
                yield DocumentCondition("filter_metadata_equal", {"value": Jsonb(_nested(test.path, value))})
        case "range":
            yield DocumentCondition("filter_metadata_range", {"path": path, "value": Jsonb(test.value)})
        case "period":
            start, end = test.value.start or START_OF_TIME, test.value.end or END_OF_TIME
            yield DocumentCondition("filter_metadata_period", {"path": path, "start": start, "end": end})
        case "present":
            yield DocumentCondition("filter_metadata_present", {"path": path})
        case "missing":
            yield DocumentCondition("filter_metadata_missing", {"path": path})


def _nested(path: Iterable[str], value: Any) -> Any:
    """Return `value` under the keys of `path`."""
    for key in reversed(tuple(path)):
        value = {key: value}
    return value


def _possible_locations(names: Iterable[str]) -> list[str]:
    """Return the locations that the database may hold for sources of these names.

    A path stands for itself and for its absolute path, links resolved; a URL for itself and for its normal form.
    """
    return list(dict.fromkeys(location for name in names for location in _spellings(name)))


def _spellings(name: str) -> Iterable[str]:
    from sourcebook.config.git_types import repository_uri  # imports pydantic

    bare = name.rstrip("/")
    yield from (name, bare, f"{bare}/", repository_uri(name))
    if "://" not in name or name.startswith("file://"):
        yield os.path.realpath(os.path.expanduser(name.removeprefix("file://")))  # noqa: PTH111 - never raises
    elif name.lower().startswith(("http://", "https://")):
        from pydantic import ValidationError

        from sourcebook.config.sites import SiteSource

        try:
            yield SiteSource(url=name).location
        except ValidationError:
            return


def _path_pattern(pattern: str) -> str:
    """Return a regular expression of PostgreSQL for the end of a path.

    `*` is any part of a name, `?` any letter of it, and `**` any number of folders; a pattern that ends with a slash is
    everything below the folder.
    """
    pattern = pattern.removeprefix("./").lstrip("/")
    if pattern.endswith("/"):
        pattern += "**"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "(?:^|/)" + "".join(meanings.get(part, re.sub(r"(\W)", r"\\\1", part)) for part in parts) + "$"


def _on_entries(
    conditions: Iterable[DocumentCondition | AnyOf], *, is_sight: bool, counts: str | None
) -> EntryCondition:
    """Return the condition on entries whose documents fulfil all of the conditions, at least one."""
    parameters: dict[str, Any] = {}
    texts = [_any_of(condition, parameters) for condition in conditions]
    text = queries["filter_entries"].format(conditions=sql.SQL(" AND ").join(texts))
    return EntryCondition(text, parameters, is_sight, counts)


def _any_of(condition: DocumentCondition | AnyOf, parameters: dict[str, Any]) -> sql.Composable:
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
