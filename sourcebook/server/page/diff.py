"""The page that compares two documents."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sourcebook.server.comparing import differences_for
from sourcebook.server.page.rendering import render
from sourcebook.server.page.visitors import Knowledge, Visitor

router = APIRouter(include_in_schema=False)


@router.get("/diff")
def show_diff(
    request: Request,
    knowledge: Knowledge,
    visitor: Visitor,
    first: Annotated[int, Query(ge=1, le=1 << 62)],
    second: Annotated[int, Query(ge=1, le=1 << 62)],
) -> Response:
    """Show what changed from one document to another, section by section."""
    return render(request, "diff.html", found=differences_for(knowledge, visitor, first, second))
