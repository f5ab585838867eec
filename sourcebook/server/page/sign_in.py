"""Signing in with a key, and out."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from sourcebook.admin.sessions import LONGEST
from sourcebook.operations import access_keys
from sourcebook.server.access import WholeKnowledge
from sourcebook.server.page.forms import own_address
from sourcebook.server.page.rendering import render
from sourcebook.server.page.visitors import SESSION_COOKIE, Fields, keep, repeats_token

router = APIRouter(include_in_schema=False)
_LONGEST_ADDRESS: Final = 8_000
_COOKIE_WITH_A_KEY: Final = "sourcebook_key"
"""Cookie of version 0.1.0, which browsers keep for 30 days."""


@router.get("/sign-in")
def ask_for_key(
    request: Request, target: Annotated[str, Query(alias="next", max_length=_LONGEST_ADDRESS)] = "/"
) -> Response:
    """Show the form that takes a key."""
    return render(request, "sign_in.html", next=own_address(target), problem=None)


@router.post("/sign-in")
def sign_in(request: Request, fields: Fields, knowledge: WholeKnowledge) -> Response:
    """Begin a session with a valid key, and return to the page that was asked for."""
    target = own_address(fields.get("next", "/"))
    if not repeats_token(request, fields):
        return render(request, "sign_in.html", 403, next=target, problem="The form had expired. Send it again.")
    token = access_keys.sign_in(knowledge, fields.get("key", "").strip(), request.headers.get("user-agent", ""))
    if token is None:
        said = "This key is not valid. It may have expired, been revoked, or be that of a front end."
        return render(request, "sign_in.html", 401, next=target, problem=said)
    response = RedirectResponse(target, 303, {"Cache-Control": "no-store"})
    if _COOKIE_WITH_A_KEY in request.cookies:
        response.delete_cookie(_COOKIE_WITH_A_KEY, httponly=True, samesite="strict")
    keep(response, request, SESSION_COOKIE, token, int(LONGEST.total_seconds()))
    return response


@router.post("/sign-out")
def sign_out(request: Request, fields: Fields, knowledge: WholeKnowledge) -> Response:
    """End the session."""
    if not repeats_token(request, fields):
        said = "The form did not come from this page. Nothing was changed."
        return render(request, "error.html", 403, heading="Not signed out", detail=said)
    access_keys.sign_out(knowledge, request.cookies.get(SESSION_COOKIE, ""))
    response = RedirectResponse("/sign-in", 303, {"Cache-Control": "no-store"})
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return response
