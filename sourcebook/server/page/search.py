"""The page that searches."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sourcebook.contract.search_results import SearchResult, SearchResults, printable
from sourcebook.errors import QueryError
from sourcebook.model.place import address_of, place_words
from sourcebook.server.page.document_files import has_pages
from sourcebook.server.page.rendering import address, is_partial, render, shown_uri, web_address
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.visibility import known_collections, seen_collections

router = APIRouter(include_in_schema=False)
A_PAGE: Final = 10
"""Results of a page."""
_FILTERS: Final = {
    "kind": "kinds",
    "doctype": "types",
    "type": "media_types",
    "language": "languages",
    "tag": "tags_any",
}
"""Name of the filter of a search by parameter of the page."""
_FACETS: Final = {
    "collection": ("collection", "Collection"),
    "kind": ("kind", "Kind"),
    "doctype": ("type", "Type"),
    "type": ("media_type", "Format"),
    "language": ("language", "Language"),
    "tag": ("tag", "Tag"),
}
"""Facet of a search and its heading, by parameter of the page."""
_MOST_VALUES: Final = 8
"""Values of a facet that are shown."""
_EMPTY_LINES: Final = re.compile(r"\n(?:[ \t]*\n)+")
_WRAPPED: Final = re.compile(r"[ \t]*\n(?![-*+|>#\d])")
"""End of a line that goes on in the next one."""
_MARKS: Final = re.compile(r"^#{1,6} |\*\*", re.MULTILINE)

_Values = Annotated[list[str] | None, Query(max_length=50)]
_Day = Annotated[str, Query(max_length=40)]


@dataclass(frozen=True, slots=True)
class FoundOnPage:
    """A result as the page shows it."""

    hit: SearchResult
    snippet: list[tuple[str, bool]]
    """Pieces of the snippet, and whether each is a word of the query."""
    place: str
    source: str | None
    """Address of the source at its page, second or anchor; None where it is no page of the web."""
    citation: str
    page: int | None
    """Page of a PDF that can be shown as it looks."""


@router.get("/")
def show_search(
    request: Request,
    knowledge: Knowledge,
    visitor: Visitor,
    q: str = "",
    collection: _Values = None,
    kind: _Values = None,
    language: _Values = None,
    tag: _Values = None,
    type: _Values = None,  # noqa: A002 - the name of the parameter in the address
    doctype: _Values = None,
    since: _Day = "",
    until: _Day = "",
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
    explain: bool = False,
    everything: Annotated[bool, Query(alias="all")] = False,
    duplicates: Annotated[str, Query(max_length=10)] = "",
) -> Response:
    """Show the results of a query; to a script that asks while somebody types, the results alone."""
    known = known_collections(knowledge, visitor)
    chosen = {
        "collection": collection, "kind": kind, "doctype": doctype, "type": type, "language": language, "tag": tag
    }  # fmt: skip
    filters = {name: [value.strip() for value in values or [] if value.strip()] for name, values in chosen.items()}
    asked: dict[str, Any] = {"q": q, **filters, "all": "1" if everything else "", "explain": "1" if explain else ""}
    asked |= {"since": since.strip(), "until": until.strip()}
    asked["duplicates"] = "show" if duplicates == "show" else ""
    is_typed = is_partial(request)
    found, problem = None, None
    if q.strip():
        try:
            found = knowledge.search(
                q,
                seen_collections(knowledge, visitor, filters["collection"]),
                A_PAGE,
                offset=offset,
                filters={_FILTERS[name]: values for name, values in filters.items() if values and name in _FILTERS}
                | changed_between(asked["since"], asked["until"]),
                facets=True,
                explain=explain,
                min_relevance=0 if everything else None,
                duplicates="show" if duplicates == "show" else "fold",
                log=not is_typed and offset == 0,
            )
        except QueryError as error:
            problem = str(error)
    values = {
        "asked": asked,
        "offset": offset,
        "before": max(offset - A_PAGE, 0),
        "found": found,
        "results": [] if found is None else [shown_hit(hit) for hit in found],
        "facets": [] if not found else list(_facets(found, asked)),
        "problem": problem,
        "known": known,
        "active": list(_active(asked)),
    }
    status = 200 if problem is None or is_typed else 400
    response = render(request, "results.html" if is_typed else "search.html", status, **values)
    if is_typed:
        response.headers["HX-Replace-Url"] = address("/", asked)
    return response


def _facets(
    found: SearchResults, asked: Mapping[str, Any]
) -> Iterator[tuple[str, str, list[tuple[str, int, str, bool]]]]:
    """Yield parameter, heading and values of each facet: text, documents, address that toggles it, whether it holds."""
    for parameter, (facet, heading) in _FACETS.items():
        counted = (found.facets or {}).get(facet, {})
        rows = [
            (value, number, _toggled(asked, parameter, value), value in asked[parameter])
            for value, number in list(counted.items())[:_MOST_VALUES]
        ]
        if len(rows) > 1 or any(is_chosen for *_, is_chosen in rows):
            yield parameter, heading, rows


def _active(asked: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the filters that hold: name, value, address without it."""
    for parameter in _FACETS:
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
    return address("/", asked, **{parameter: changed})


def shown_hit(hit: SearchResult) -> FoundOnPage:
    """Return a result as the page shows it."""
    snippet, done = [], 0
    for start, end in hit.snippet_highlights:
        snippet += [(readable(hit.snippet[done:start]), False), (readable(hit.snippet[start:end]), True)]
        done = end
    snippet.append((readable(hit.snippet[done:]), False))
    words = place_words(hit, hit.title, hit.metadata)
    source = source_address(hit)
    said = (f"“{hit.title or shown_uri(hit.uri)}”", *words, source or shown_uri(hit.link or hit.uri))
    return FoundOnPage(
        hit=hit,
        snippet=[piece for piece in snippet if piece[0]],
        place=printable(" · ".join(words)),
        source=source,
        citation=printable(", ".join(said)),
        page=hit.page if has_pages(hit.media_type) else None,
    )


def readable(piece: str) -> str:
    """Return a piece of a passage with a line for each paragraph or item, without marks of headings and bold text."""
    paragraphs = (_WRAPPED.sub(" ", part) for part in _EMPTY_LINES.split(piece))
    return printable(_MARKS.sub("", "\n".join(paragraphs)))


def source_address(hit: SearchResult) -> str | None:
    """Return the address of the source of a result at its page, second or anchor; None where it is not of the web."""
    return web_address(address_of(hit.link or hit.uri, hit))
