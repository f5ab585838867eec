"""Signing in with a key, and out."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from sourcebook.operations.access_keys import valid_key
from sourcebook.server.access import Knowledge
from sourcebook.server.page.rendering import render
from sourcebook.server.page.visitors import KEY_COOKIE, SECONDS_SIGNED_IN, Fields, keep, repeats_token

router = APIRouter(include_in_schema=False)
_LONGEST_ADDRESS: Final = 8_000


@router.get("/sign-in")
def ask_for_key(
    request: Request, target: Annotated[str, Query(alias="next", max_length=_LONGEST_ADDRESS)] = "/"
) -> Response:
    """Show the form that takes a key."""
    return render(request, "sign_in.html", next=_own_address(target), problem=None)


@router.post("/sign-in")
def sign_in(request: Request, fields: Fields, knowledge: Knowledge) -> Response:
    """Keep a valid key in the browser, and return to the page that was asked for."""
    target = _own_address(fields.get("next", "/"))
    if not repeats_token(request, fields):
        return render(request, "sign_in.html", 403, next=target, problem="The form had expired. Send it again.")
    text = fields.get("key", "").strip()
    if valid_key(knowledge, text) is None:
        said = "This key is not valid. It may have expired or been revoked."
        return render(request, "sign_in.html", 401, next=target, problem=said)
    response = RedirectResponse(target, 303, {"Cache-Control": "no-store"})
    keep(response, request, KEY_COOKIE, text, SECONDS_SIGNED_IN)
    return response


@router.post("/sign-out")
def sign_out(request: Request, fields: Fields) -> Response:
    """Have the browser forget the key."""
    if not repeats_token(request, fields):
        said = "The form did not come from this page. Nothing was changed."
        return render(request, "error.html", 403, heading="Not signed out", detail=said)
    response = RedirectResponse("/sign-in", 303, {"Cache-Control": "no-store"})
    response.delete_cookie(KEY_COOKIE, httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return response


def _own_address(target: str) -> str:
    """Return an address of this server; `/` in place of one that leads elsewhere."""
    is_own = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_own and "\\" not in target else "/"
