"""The page that signs in: with a key, or at the provider; and signing out."""

from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from sourcebook.admin.sessions import LONGEST
from sourcebook.operations import access_keys
from sourcebook.server.access import WholeKnowledge
from sourcebook.server.identity.provider import Provider
from sourcebook.server.page.forms import own_address
from sourcebook.server.page.rendering import render
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import SESSION_COOKIE, Fields, keep, repeats_token

router = APIRouter(include_in_schema=False)
LONGEST_ADDRESS: Final = 8_000
_COOKIE_WITH_A_KEY: Final = "sourcebook_key"
"""Cookie of version 0.1.0, which browsers keep for 30 days."""


@router.get("/sign-in")
def ask_for_key(
    request: Request, target: Annotated[str, Query(alias="next", max_length=LONGEST_ADDRESS)] = "/"
) -> Response:
    """Show the form that takes a key."""
    return asks_to_sign_in(request, own_address(target))


@router.post("/sign-in")
def sign_in(request: Request, fields: Fields, knowledge: WholeKnowledge) -> Response:
    """Begin a session with a valid key, and return to the page that was asked for."""
    target = own_address(fields.get("next", "/"))
    if not repeats_token(request, fields):
        return asks_to_sign_in(request, target, 403, gettext("The form had expired. Send it again."))
    token = access_keys.sign_in(knowledge, fields.get("key", "").strip(), request.headers.get("user-agent", ""))
    if token is None:
        said = gettext("This key is not valid. It may have expired, been revoked, or be that of a front end.")
        return asks_to_sign_in(request, target, 401, said)
    response = RedirectResponse(target, 303, {"Cache-Control": "no-store"})
    if _COOKIE_WITH_A_KEY in request.cookies:
        response.delete_cookie(_COOKIE_WITH_A_KEY, httponly=True, samesite="strict")
    keep(response, request, SESSION_COOKIE, token, int(LONGEST.total_seconds()))
    return response


@router.post("/sign-out")
def sign_out(request: Request, fields: Fields, knowledge: WholeKnowledge) -> Response:
    """End the session, and that of the provider where it has begun this one."""
    if not repeats_token(request, fields):
        said = gettext("The form did not come from this page. Nothing was changed.")
        return render(request, "error.html", 403, heading=gettext("Not signed out"), detail=said)
    was_provider = access_keys.sign_out(knowledge, request.cookies.get(SESSION_COOKIE, ""))
    provider: Provider | None = request.app.state.provider
    further = provider.end_address() if was_provider and provider is not None else None
    response = (
        RedirectResponse("/sign-in", 303, {"Cache-Control": "no-store"})
        if further is None
        else led_to(request, further)
    )
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return response


def asks_to_sign_in(request: Request, target: str, status: int = 200, problem: str | None = None) -> Response:
    """Return the page that signs in.

    Args:
        request: the request that it answers.
        target: address of the page that was asked for.
        status: the HTTP status.
        problem: what was wrong, and what to do about it.
    """
    provider: Provider | None = request.app.state.provider
    named = None if provider is None else provider.name
    return render(request, "sign_in.html", status, next=target, problem=problem, provider=named)


def led_to(request: Request, target: str) -> Response:
    """Return a page that leads on by itself.

    A redirect would not do: after one that began elsewhere the browser sends no strict cookie, and after a form the
    policy lets it go nowhere else.
    """
    escaped = quote(target, safe=":/%#?=@[]!$&'()*+,;~")
    response = render(request, "led_to.html", target=escaped)
    response.headers["Refresh"] = f"0; url={escaped}"
    return response
