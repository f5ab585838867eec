"""The page of collections: what each holds, where it comes from, and what waits."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.admin.collections import collection_names
from sourcebook.admin.overview import collection_overviews
from sourcebook.server.access import Knowledge
from sourcebook.server.page.rendering import render
from sourcebook.server.page.visitors import Visitor

router = APIRouter(include_in_schema=False)


@router.get("/collections")
def show_collections(request: Request, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Show every collection of the visitor by its kept counts."""
    with knowledge.database.connection() as connection:
        overviews = collection_overviews(connection, visitor.seen(collection_names(connection)))
    return render(request, "collections.html", collections=overviews)
