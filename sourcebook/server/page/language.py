"""The choice of the page's language, which a cookie keeps."""

from datetime import timedelta
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.errors import QueryError
from sourcebook.server.page.forms import check_origin, own_address, redirect_to
from sourcebook.server.page.translation import COOKIE, LANGUAGES, gettext
from sourcebook.server.page.visitors import Fields, keep

router = APIRouter(include_in_schema=False)
_KEPT: Final = timedelta(days=400)
"""Time that browsers keep a cookie at most."""


@router.post("/language")
def choose_language(request: Request, fields: Fields) -> Response:
    """Keep the language that was chosen, and lead back to the page; whoever sees a page may choose."""
    check_origin(request)
    chosen = fields.get("to", "")
    if chosen not in LANGUAGES:
        raise QueryError(gettext("there is no such language of the page"))
    response = redirect_to(own_address(fields.get("next", "/")))
    keep(response, request, COOKIE, chosen, int(_KEPT.total_seconds()))
    return response
