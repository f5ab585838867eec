"""Links that narrow a search: a facet with its numbers, and the filters that hold."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sourcebook.contract.search_results import SearchResults
from sourcebook.server.page.rendering import address

FILTERS: Final = {
    "kind": "kinds",
    "doctype": "types",
    "type": "media_types",
    "language": "languages",
    "tag": "tags_any",
}
"""Name of the filter of a search by parameter of the page."""
FACETS: Final = {
    "collection": ("collection", "Collection"),
    "kind": ("kind", "Kind"),
    "doctype": ("type", "Type"),
    "type": ("media_type", "Format"),
    "language": ("language", "Language"),
    "tag": ("tag", "Tag"),
    "year": ("year", "Year"),
}
"""Facet of a search and its heading, by parameter of the page."""
_ONE: Final = frozenset({"year"})
"""Parameters of which one value holds."""
_MOST_VALUES: Final = 8
"""Values of a facet that are shown."""


class FacetValue(NamedTuple):
    """A value of a facet."""

    text: str
    documents: int
    target: str
    """Address of the search with it, or without it where it is chosen."""
    is_chosen: bool


def facets_of(found: SearchResults, asked: Mapping[str, Any]) -> Iterator[tuple[str, str, list[FacetValue]]]:
    """Yield parameter, heading and values of each facet that narrows what was found."""
    for parameter, (facet, heading) in FACETS.items():
        counted = (found.facets or {}).get(facet, {})
        rows = [
            FacetValue(value, number, _toggled(asked, parameter, value), value in asked[parameter])
            for value, number in list(counted.items())[:_MOST_VALUES]
        ]
        if len(rows) > 1 or any(row.is_chosen for row in rows):
            yield parameter, heading, rows


def active(asked: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the filters that hold: name, value, address without it."""
    for parameter in FACETS:
        for value in asked[parameter]:
            yield parameter, value, _toggled(asked, parameter, value)
    for parameter in ("since", "until"):
        if asked[parameter]:
            yield parameter, asked[parameter], address("/", asked, **{parameter: None})


def changed_between(since: str, until: str) -> dict[str, dict[str, str]]:
    """Return the filter of documents that changed between two days, each of which may be left empty."""
    days = {bound: day for bound, day in (("gte", since), ("lte", until)) if day}
    return {"changed": days} if days else {}


def _toggled(asked: Mapping[str, Any], parameter: str, value: str) -> str:
    """Return the address of the search with a value that was not chosen, or without one that was."""
    held: Sequence[str] = asked[parameter]
    changed = [each for each in held if each != value] if value in held else [*held, value]
    return address("/", asked, **{parameter: changed[-1:] if parameter in _ONE else changed})
