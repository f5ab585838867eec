"""The page of the log of language models: what they read, wrote and cost."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sourcebook.server.page.forms import Administering
from sourcebook.server.page.rendering import render
from sourcebook.server.page.visitors import Knowledge
from sourcebook.server.visibility import known_collections, seen_collections

router = APIRouter(include_in_schema=False)
_A_PAGE: Final = 20
"""Calls of a page."""


@router.get("/usage/calls")
def show_calls(
    request: Request,
    knowledge: Knowledge,
    visitor: Administering,
    session: Annotated[str, Query(max_length=200)] = "",
    failed: bool = False,
    before: Annotated[int | None, Query(ge=1, lt=1 << 63)] = None,
) -> Response:
    """Show a page of the calls that asked no other collections than the visitor's, the newest first."""
    names = known_collections(knowledge, visitor)
    found = []
    if names:
        chosen = seen_collections(knowledge, visitor, None)
        conversation = session.replace("\0", "") or None
        found = knowledge.llm_calls(chosen, session=conversation, failed=failed, before=before, limit=_A_PAGE + 1)
    shown = found[:_A_PAGE]
    return render(
        request,
        "llm_calls.html",
        calls=shown,
        older=shown[-1].id if len(found) > _A_PAGE else None,
        is_first=before is None,
        asked={"session": session, "failed": "1" if failed else ""},
    )
