"""The page of collections: what each holds, where it comes from, and what waits."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.admin.overview import CollectionOverview
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.overviews import growth, overviews
from sourcebook.server.page.plots import daily, running
from sourcebook.server.page.rendering import render
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.visibility import known_collections, seen_collections, shown_sources

router = APIRouter(include_in_schema=False)
_DAYS: Final = 90
"""Days that the plots of a collection show."""


@router.get("/collections")
def show_collections(request: Request, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Show every collection of the visitor by its kept counts."""
    return shown_collections(request, knowledge, visitor)


def shown_collections(
    request: Request,
    knowledge: KnowledgeBase,
    visitor: Grant,
    status: int = 200,
    *,
    problem: str | None = None,
    name: str = "",
    url: str = "",
    description: str = "",
) -> Response:
    """Return the page of all collections, with the form that makes one.

    Args:
        request: the request that it answers.
        knowledge: the knowledge base.
        visitor: whose collections are shown.
        status: the HTTP status.
        problem: reason why the collection in the form was not made.
        name: what the form has as name.
        url: what the form has as address of a site.
        description: what the form says of the collection.
    """
    values = {"problem": problem, "name": name, "url": url, "description": description}
    shown = [_as_seen(visitor, each) for each in overviews(knowledge, known_collections(knowledge, visitor))]
    return render(request, "collections.html", status, collections=shown, is_linked=True, **values)


@router.get("/collections/{name}")
def show_collection(name: str, request: Request, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Show one collection, with its documents and passages over the last days."""
    seen_collections(knowledge, visitor, [name])
    last = datetime.now(UTC).date()
    first = last - timedelta(days=_DAYS - 1)
    (overview,) = overviews(knowledge, [name])
    grown = growth(knowledge, [name])
    changes = {
        gettext("Documents"): {each.day: float(each.documents) for each in grown},
        gettext("Passages"): {each.day: float(each.passages) for each in grown},
    }
    plots = [daily(noun, "", running(found, first, last), first, last) for noun, found in changes.items()]
    return render(
        request,
        "collection.html",
        each=_as_seen(visitor, overview),
        is_linked=False,
        plots=[plot for plot in plots if plot.highest],
    )


def _as_seen(visitor: Grant, overview: CollectionOverview) -> CollectionOverview:
    return replace(overview, sources=shown_sources(visitor, overview.sources))
