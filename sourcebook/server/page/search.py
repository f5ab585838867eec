"""The page that searches."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sourcebook.contract.search_results import SearchResult, SearchResults
from sourcebook.errors import QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.overviews import document_choices, judgments_of_query, titles_with
from sourcebook.server.page.completions import completions
from sourcebook.server.page.found_on_page import shown_hit
from sourcebook.server.page.narrowing import FILTERS, active, changed_between, facets_of
from sourcebook.server.page.rendering import address, is_partial, render
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.visibility import known_collections, seen_collections

router = APIRouter(include_in_schema=False)
A_PAGE: Final = 10
"""Results of a page."""
_SORTED: Final = 100
"""Results that are put into another order: those that answer best."""
ORDERS: Final = {"newest": "the last changed first", "oldest": "the first changed first", "title": "by title"}
"""Orders beside that of relevance, in words."""
_SHORTEST: Final = 2
"""Letters from which on titles are suggested."""

_Values = Annotated[list[str] | None, Query(max_length=50)]
_Day = Annotated[str, Query(max_length=40)]
_Word = Annotated[str, Query(max_length=10)]


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
    year: _Word = "",
    since: _Day = "",
    until: _Day = "",
    sort: _Word = "",
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
    explain: bool = False,
    everything: Annotated[bool, Query(alias="all")] = False,
    duplicates: _Word = "",
) -> Response:
    """Show the results of a query; to a script that asks while somebody types, the results alone."""
    chosen = {
        "collection": collection, "kind": kind, "doctype": doctype, "type": type, "language": language, "tag": tag,
        "year": [year],
    }  # fmt: skip
    filters = {name: [value.strip() for value in values or [] if value.strip()] for name, values in chosen.items()}
    asked: dict[str, Any] = {"q": q, **filters, "all": "1" if everything else "", "explain": "1" if explain else ""}
    asked |= {"since": since.strip(), "until": until.strip(), "sort": sort if sort in ORDERS else ""}
    asked["duplicates"] = "show" if duplicates == "show" else ""
    known, is_typed = known_collections(knowledge, visitor), is_partial(request)
    found, problem = None, None
    if q.strip():
        try:
            found = _found(knowledge, visitor, asked, offset, log=not is_typed and offset == 0)
        except QueryError as error:
            problem = str(error)
    values: dict[str, Any] = {
        "asked": asked,
        "offset": offset,
        "before": max(offset - A_PAGE, 0),
        "found": found,
        "results": [] if found is None else [shown_hit(hit, str(request.base_url)) for hit in found],
        "facets": [] if not found else list(facets_of(found, asked)),
        "problem": problem,
        "known": known,
        "active": list(active(asked)),
        "order": ORDERS.get(asked["sort"]),
        "judged": judgments_of_query(knowledge, known, q) if found and visitor.allows("write") else None,
        "titles": titles_with(knowledge, known, q.strip()) if is_typed and len(q.strip()) >= _SHORTEST else [],
        "longer": completions(q, found or ()) if is_typed else [],
    }
    if is_typed:
        response = render(request, "results.html", **values)
        response.headers["HX-Replace-Url"] = address("/", asked)
        return response
    choices = document_choices(knowledge, known)
    return render(request, "search.html", 200 if problem is None else 400, choices=choices, orders=ORDERS, **values)


def _found(
    knowledge: KnowledgeBase, visitor: Grant, asked: Mapping[str, Any], offset: int, *, log: bool
) -> SearchResults:
    """Return a page of what was found, in the order that was asked for."""
    filters = {name: asked[parameter] for parameter, name in FILTERS.items() if asked[parameter]}
    if asked["year"]:
        filters["date"] = asked["year"][0]
    found = knowledge.search(
        asked["q"],
        seen_collections(knowledge, visitor, asked["collection"]),
        _SORTED if asked["sort"] else A_PAGE,
        offset=0 if asked["sort"] else offset,
        filters=filters | changed_between(asked["since"], asked["until"]),
        facets=True,
        explain=bool(asked["explain"]),
        min_relevance=0 if asked["all"] else None,
        duplicates="show" if asked["duplicates"] else "fold",
        log=log,
    )
    return _sorted(found, asked["sort"], offset) if asked["sort"] else found


def _sorted(found: SearchResults, order: str, offset: int) -> SearchResults:
    """Return a page of the results that answer best, in another order; their number is that of all."""

    def place(hit: SearchResult) -> tuple[Any, ...]:
        if order == "title":
            return ((hit.title or hit.uri).casefold(), hit.uri, hit.ordinal)
        time = hit.updated_at.timestamp() if hit.updated_at is not None else 0.0
        return (-time if order == "newest" else time, hit.uri, hit.ordinal)

    ordered = sorted(found, key=place)
    rest = offset + A_PAGE
    return replace(
        found,
        results=tuple(ordered[offset:rest]),
        offset=offset,
        next_offset=rest if rest < len(ordered) else None,
        total_candidates=len(ordered),
    )
